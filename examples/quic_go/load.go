package main

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
)

// A message: when its write began, in nanoseconds, and filling.
const messageSize = 1000

// What a stream of a QUIC load begins with: whether messages follow, or the number of streams with messages, after whose end
// the sink answers.
const (
	carriesMessages byte = iota
	asksForResult
)

// What has arrived. Both ends have the same clock, as their hosts are on one machine.
type arrivals struct {
	lock        sync.Mutex
	delays      []time.Duration
	first, last time.Time
}

type result struct {
	Messages int                `json:"messages"`
	Goodput  float64            `json:"goodput_mbps"`
	Delay    map[string]float64 `json:"delay_ms"`
}

// Takes messages until the stream ends.
func (a *arrivals) take(from io.Reader) error {
	var message [messageSize]byte
	for {
		if _, err := io.ReadFull(from, message[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		now, sent := time.Now(), time.Unix(0, int64(binary.BigEndian.Uint64(message[:])))
		a.lock.Lock()
		a.delays = append(a.delays, now.Sub(sent))
		if a.first.IsZero() || sent.Before(a.first) {
			a.first = sent
		}
		a.last = now
		a.lock.Unlock()
	}
}

func (a *arrivals) result() result {
	a.lock.Lock()
	defer a.lock.Unlock()
	count := len(a.delays)
	if count == 0 {
		return result{}
	}
	var sum time.Duration
	for _, delay := range a.delays {
		sum += delay
	}
	slices.Sort(a.delays)
	millis := func(delay time.Duration) float64 { return float64(delay) / 1e6 }
	return result{
		Messages: count,
		Goodput:  float64(count*messageSize*8) / a.last.Sub(a.first).Seconds() / 1e6,
		Delay:    map[string]float64{"mean": millis(sum) / float64(count), "p95": millis(a.delays[count*95/100])},
	}
}

// Takes one load, and tells its sender what came of it.
func sink(protocol, address string) error {
	switch protocol {
	case "tcp":
		return sinkTCP(address)
	case "quic":
		return sinkQUIC(address)
	}
	return fmt.Errorf("%s: no such protocol; allowed: tcp, quic", protocol)
}

func sinkTCP(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	connection, err := listener.Accept()
	if err != nil {
		return err
	}
	defer connection.Close()
	var got arrivals
	if err := got.take(connection); err != nil {
		return err
	}
	return json.NewEncoder(connection).Encode(got.result())
}

func sinkQUIC(address string) error {
	listener, err := listen(address)
	if err != nil {
		return err
	}
	connection, err := listener.Accept(context.Background())
	if err != nil {
		return err
	}
	var got arrivals
	ended := make(chan error)
	for {
		stream, err := connection.AcceptStream(context.Background())
		if err != nil {
			return nil // the client has its result and is gone
		}
		go func() {
			var kind [2]byte
			if _, err := io.ReadFull(stream, kind[:]); err != nil {
				ended <- err
				return
			}
			if kind[0] == carriesMessages {
				ended <- got.take(stream)
				return
			}
			for range kind[1] {
				if err := <-ended; err != nil {
					fmt.Fprintln(os.Stderr, "quic_go:", err)
					return
				}
			}
			if err := json.NewEncoder(stream).Encode(got.result()); err == nil {
				stream.Close()
			}
		}()
	}
}

// Sends messages at a constant rate by blocking writes, on several streams in turn, and prints what the sink says.
func load(protocol, address string, words []string) error {
	var numbers [3]float64
	for place, word := range words {
		number, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return err
		}
		numbers[place] = number
	}
	interval := time.Duration(messageSize * 8e9 / numbers[0])
	span := time.Duration(numbers[1] * 1e9)
	var said io.Reader
	var err error
	kind, controller, _ := strings.Cut(protocol, "/")
	switch kind {
	case "tcp":
		said, err = loadTCP(address, controller, interval, span)
	case "quic":
		said, err = loadQUIC(address, interval, span, int(numbers[2]))
	default:
		err = fmt.Errorf("%s: no such protocol; allowed: tcp, tcp/CONTROLLER, quic", protocol)
	}
	if err != nil {
		return err
	}
	var told result
	if err := json.NewDecoder(said).Decode(&told); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(told)
}

// With a congestion controller of the kernel, or the one that it is set to.
func loadTCP(address, controller string, interval, span time.Duration) (io.Reader, error) {
	dialer := net.Dialer{Control: func(_, _ string, socket syscall.RawConn) error {
		if controller == "" {
			return nil
		}
		var refused error
		err := socket.Control(func(descriptor uintptr) {
			refused = syscall.SetsockoptString(int(descriptor), syscall.IPPROTO_TCP, syscall.TCP_CONGESTION, controller)
		})
		return errors.Join(err, refused)
	}}
	connection, err := dialer.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	tcp := connection.(*net.TCPConn)
	// The kernel's own default, which Go changes.
	if err := tcp.SetNoDelay(false); err != nil {
		return nil, err
	}
	if err := offer([]io.Writer{tcp}, interval, span); err != nil {
		return nil, err
	}
	return tcp, tcp.CloseWrite()
}

func loadQUIC(address string, interval, span time.Duration, count int) (io.Reader, error) {
	security := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}} // the server is on this machine
	connection, err := quic.DialAddr(context.Background(), address, security, configuration(0))
	if err != nil {
		return nil, err
	}
	open := func(kind byte) (*quic.Stream, error) {
		stream, err := connection.OpenStreamSync(context.Background())
		if err == nil {
			_, err = stream.Write([]byte{kind, byte(count)})
		}
		return stream, err
	}
	streams := make([]io.Writer, count)
	for place := range streams {
		if streams[place], err = open(carriesMessages); err != nil {
			return nil, err
		}
	}
	if err := offer(streams, interval, span); err != nil {
		return nil, err
	}
	for _, stream := range streams {
		if err := stream.(io.Closer).Close(); err != nil {
			return nil, err
		}
	}
	return open(asksForResult)
}

// Writes messages for a time. While a write blocks, the clock of the source stands still.
func offer(streams []io.Writer, interval, span time.Duration) error {
	message := make([]byte, messageSize)
	begin := time.Now()
	due := begin
	for number := 0; time.Since(begin) < span; number++ {
		time.Sleep(time.Until(due))
		sent := time.Now()
		binary.BigEndian.PutUint64(message, uint64(sent.UnixNano()))
		if _, err := streams[number%len(streams)].Write(message); err != nil {
			return err
		}
		due = due.Add(interval)
		if took := time.Since(sent); took > interval {
			due = due.Add(took)
		}
	}
	return nil
}
