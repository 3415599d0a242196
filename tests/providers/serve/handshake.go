package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"groma.dev/fixtures/fault"
)

const stopSignal = syscall.SIGTERM

// takeOverStdout puts us between go-plugin and the real standard output, to change the line of the handshake.
func takeOverStdout() {
	rule, found := fault.AtStart()
	if found && rule.When == fault.Before {
		strikeStart(rule)
	}
	tcp := os.Getenv("FIXTURE_LISTEN") == "tcp"
	if !found && !tcp {
		return
	}
	real := os.Stdout
	reader, writer, err := os.Pipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Stdout = writer
	go func() {
		lines := bufio.NewReader(reader)
		line, _ := lines.ReadString('\n')
		if tcp {
			line = overTCP(line)
		}
		if found {
			line = changed(real, rule, line)
		}
		fmt.Fprint(real, line)
		if found && rule.When == fault.After {
			time.Sleep(30 * time.Millisecond)
			strikeStart(rule)
		}
		_, _ = io.Copy(real, lines)
	}()
}

// strikeStart does what stops or delays a process that has not (or has just) shaken hands.
func strikeStart(rule fault.Rule) {
	switch rule.What {
	case "exit", "error":
		fmt.Fprintln(os.Stderr, rule.String())
		os.Exit(1)
	case "panic":
		panic(rule.String())
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	case "hang":
		// An empty select would be a deadlock as long as nothing else runs.
		for {
			time.Sleep(time.Hour)
		}
	case "sleep":
		duration, _ := time.ParseDuration(rule.Value)
		time.Sleep(duration)
	case "garbage":
		fmt.Fprintln(os.Stdout, "this is \xff\xfe\x00 not a handshake")
	case "flood":
		for range 1 << 16 {
			fmt.Fprint(os.Stdout, strings.Repeat("flood ", 100))
		}
	case "silent":
		os.Stdout.Close()
	}
}

// changed is the line of the handshake as a broken plugin would print it.
func changed(real *os.File, rule fault.Rule, line string) string {
	fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
	switch rule.What {
	case "core":
		fields[0] = rule.Value
	case "proto":
		fields[1] = rule.Value
	case "network":
		fields[2] = rule.Value
	case "address":
		fields[3] = rule.Value
	case "kind":
		fields[4] = rule.Value
	case "cert":
		fields[5] = rule.Value
	case "fields":
		var count int
		_, _ = fmt.Sscan(rule.Value, &count)
		fields = fields[:min(count, len(fields))]
	default:
		if rule.When == fault.During {
			fmt.Fprint(real, line[:len(line)/2])
			strikeStart(rule)
			if rule.What == "garbage" {
				return "\xff\xfe\n"
			}
			return line[len(line)/2:]
		}
		return line
	}
	return strings.Join(fields, "|") + "\n"
}

// overTCP carries what comes to a TCP port on to the unix socket, and names that port in the handshake. TLS, if there
// is any, passes untouched.
func overTCP(line string) string {
	fields := strings.Split(line, "|")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil || len(fields) < 4 {
		fmt.Fprintln(os.Stderr, "cannot serve TCP:", err)
		os.Exit(3)
	}
	socket := fields[3]
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go carry(client, socket)
		}
	}()
	fields[2], fields[3] = "tcp", listener.Addr().String()
	return strings.Join(fields, "|")
}

func carry(client net.Conn, socket string) {
	defer client.Close()
	server, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		server.Close()
	}()
	_, _ = io.Copy(client, server)
}
