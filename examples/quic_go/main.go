// A QUIC client and server built on quic-go, for hosts of an emulation. The server answers every stream, on which a client
// asks for a number of bytes, with so many bytes and their SHA-256 behind them; the client compares.
//
//	quic_go serve :4433
//	quic_go fetch server:4433 2000000
//
// Or one end sends messages at a constant rate for some seconds, over several streams, and prints how they arrived: over QUIC, or
// over the TCP of the kernel with one of its congestion controllers (`tcp/cubic`).
//
//	quic_go sink quic :4433
//	quic_go load quic server:4433 45330000 15 8
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
)

const protocol = "leobench-fetch"

// Seconds without a packet that a connection survives.
const patience = 20 * time.Second

// Time between a waiting client's pings: if its address outside changes, the server's packets reach nobody until the client
// has sent something.
const keepAlive = 300 * time.Millisecond

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "quic_go:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "serve":
		return serve(args[1])
	case len(args) == 3 && args[0] == "fetch":
		size, err := strconv.ParseUint(args[2], 10, 40)
		if err != nil {
			return err
		}
		return fetch(args[1], size)
	case len(args) == 3 && args[0] == "sink":
		return sink(args[1], args[2])
	case len(args) == 6 && args[0] == "load":
		return load(args[1], args[2], args[3:])
	}
	return fmt.Errorf("usage: quic_go serve ADDRESS, quic_go fetch ADDRESS BYTES, " +
		"quic_go sink tcp|quic ADDRESS, or quic_go load tcp[/CONTROLLER]|quic ADDRESS BITS_PER_SECOND SECONDS STREAMS")
}

// What is not quic-go's own default. It writes qlog to the folder QLOGDIR, if that is set.
func configuration(keepAlive time.Duration) *quic.Config {
	return &quic.Config{MaxIdleTimeout: patience, KeepAlivePeriod: keepAlive, Tracer: qlog.DefaultConnectionTracer}
}

func listen(address string) (*quic.Listener, error) {
	certificate, err := selfSigned()
	if err != nil {
		return nil, err
	}
	security := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{protocol}}
	return quic.ListenAddr(address, security, configuration(0))
}

func serve(address string) error {
	listener, err := listen(address)
	if err != nil {
		return err
	}
	for {
		connection, err := listener.Accept(context.Background())
		if err != nil {
			return err
		}
		go func() {
			stream, err := connection.AcceptStream(context.Background())
			if err == nil {
				err = answer(stream)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "quic_go:", err)
			}
		}()
	}
}

// Sends as many bytes as the stream asks for, and their digest.
func answer(stream *quic.Stream) error {
	var asked [8]byte
	if _, err := io.ReadFull(stream, asked[:]); err != nil {
		return err
	}
	digest := sha256.New()
	content := io.LimitReader(rand.Reader, int64(binary.BigEndian.Uint64(asked[:])))
	if _, err := io.Copy(stream, io.TeeReader(content, digest)); err != nil {
		return err
	}
	if _, err := stream.Write(digest.Sum(nil)); err != nil {
		return err
	}
	return stream.Close()
}

func fetch(address string, size uint64) error {
	context := context.Background()
	security := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}} // the server is on this machine
	began := time.Now()
	connection, err := quic.DialAddr(context, address, security, configuration(keepAlive))
	if err != nil {
		return err
	}
	stream, err := connection.OpenStreamSync(context)
	if err != nil {
		return err
	}
	if _, err := stream.Write(binary.BigEndian.AppendUint64(nil, size)); err != nil {
		return err
	}
	if err := stream.Close(); err != nil {
		return err
	}
	digest := sha256.New()
	if _, err := io.CopyN(digest, stream, int64(size)); err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	said, err := io.ReadAll(stream)
	if err != nil {
		return err
	}
	if string(said) != string(digest.Sum(nil)) {
		return fmt.Errorf("%d bytes came with another digest", size)
	}
	statistics := connection.ConnectionStats()
	if err := connection.CloseWithError(0, ""); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"bytes":        float64(size),
		"seconds":      took,
		"goodput_mbps": float64(size) * 8e-6 / took,
		"srtt_ms":      statistics.SmoothedRTT.Seconds() * 1e3,
		"min_rtt_ms":   statistics.MinRTT.Seconds() * 1e3,
	})
}

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(time.Hour),
		DNSNames:     []string{"server"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}, nil
}
