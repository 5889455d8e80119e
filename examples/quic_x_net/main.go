// A QUIC client and server built on golang.org/x/net/quic, for hosts of an emulation. They speak what `quic_go` speaks: the
// server answers every stream, on which a client asks for a number of bytes, with so many bytes and their SHA-256 behind
// them; the client compares.
//
//	quic_x_net serve [::]:4433
//	quic_x_net fetch server:4433 2000000
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
	"os"
	"strconv"
	"time"

	"golang.org/x/net/quic"
)

const (
	protocol = "leobench-fetch"
	// Time without a packet that a connection survives.
	patience = 20 * time.Second
	// Time between a waiting client's pings, as in quic_go.
	keepAlive = 300 * time.Millisecond
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "quic_x_net:", err)
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
	}
	return fmt.Errorf("usage: quic_x_net serve ADDRESS, or quic_x_net fetch ADDRESS BYTES")
}

func serve(address string) error {
	certificate, err := selfSigned()
	if err != nil {
		return err
	}
	security := &tls.Config{
		Certificates: []tls.Certificate{certificate}, NextProtos: []string{protocol}, MinVersion: tls.VersionTLS13,
	}
	endpoint, err := quic.Listen("udp", address, &quic.Config{TLSConfig: security, MaxIdleTimeout: patience})
	if err != nil {
		return err
	}
	for {
		connection, err := endpoint.Accept(context.Background())
		if err != nil {
			return err
		}
		go func() {
			stream, err := connection.AcceptStream(context.Background())
			if err == nil {
				err = answer(stream)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "quic_x_net:", err)
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
	background := context.Background()
	// The server is on this machine.
	security := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}, MinVersion: tls.VersionTLS13}
	config := &quic.Config{TLSConfig: security, MaxIdleTimeout: patience, KeepAlivePeriod: keepAlive}
	began := time.Now()
	endpoint, err := quic.Listen("udp", ":0", nil)
	if err != nil {
		return err
	}
	connection, err := endpoint.Dial(background, "udp", address, config)
	if err != nil {
		return err
	}
	stream, err := connection.NewStream(background)
	if err != nil {
		return err
	}
	if _, err := stream.Write(binary.BigEndian.AppendUint64(nil, size)); err != nil {
		return err
	}
	stream.CloseWrite()
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
	connection.Abort(nil)
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"bytes":        float64(size),
		"seconds":      took,
		"goodput_mbps": float64(size) * 8e-6 / took,
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
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}, nil
}
