package fault

import (
	"context"
	"fmt"
	"os"
	"path"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// newNames maps the calls of protocol 5 to the names that protocol 6 gave them, which rules and logs use.
var newNames = map[string]string{
	"GetSchema":                  "GetProviderSchema",
	"PrepareProviderConfig":      "ValidateProviderConfig",
	"ValidateResourceTypeConfig": "ValidateResourceConfig",
	"ValidateDataSourceConfig":   "ValidateDataResourceConfig",
	"Configure":                  "ConfigureProvider",
	"Stop":                       "StopProvider",
}

// layer is the fault layer of one server.
type layer struct {
	book        book
	schemaAsked atomic.Bool
	// busyUntil is when the provider answers again, in nanoseconds; an `after:sleep` or `after:hang` sets it.
	busyUntil atomic.Int64
}

// Options are the gRPC options that put the fault layer in front of a server.
func Options() []grpc.ServerOption {
	l := &layer{book: book{calls: map[string]int{}}}
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(l.unary),
		grpc.StreamInterceptor(l.stream),
		grpc.ForceServerCodec(codec{}),
	}
}

func (l *layer) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	call := newCall(info.FullMethod, req)
	rule, found := l.arrive(call)
	if err := l.refuse(call); err != nil {
		return nil, err
	}
	if !found {
		return l.adapt(call)(handle(ctx, req))
	}
	if rule.When == Before {
		if strike(rule) {
			return spoiltAnswer(rule, call)
		}
		return handle(ctx, req)
	}
	answer, err := handle(ctx, req)
	if rule.When == During {
		_ = grpc.SendHeader(ctx, nil)
		if strike(rule) {
			return spoil(rule, answer, err)
		}
		return answer, err
	}
	if changesAnswer(rule) {
		return spoil(rule, answer, err)
	}
	l.strikeLater(rule)
	return answer, err
}

func (l *layer) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	call := newCall(info.FullMethod, nil)
	if call.internal {
		return handle(server, stream)
	}
	rule, found := l.arrive(call)
	if err := l.refuse(call); err != nil {
		return err
	}
	if !found {
		return handle(server, stream)
	}
	if rule.When == Before {
		if strike(rule) {
			return status.Error(codes.Internal, rule.String())
		}
		return handle(server, stream)
	}
	wrapped := &faultyStream{ServerStream: stream, rule: rule}
	err := handle(server, wrapped)
	if rule.When == After && err == nil {
		if changesAnswer(rule) {
			return status.Error(codes.Internal, rule.String())
		}
		l.strikeLater(rule)
	}
	return err
}

// faultyStream strikes between the first and the second message of a stream.
type faultyStream struct {
	grpc.ServerStream
	rule Rule
	sent int
}

func (s *faultyStream) SendMsg(message any) error {
	s.sent++
	if s.sent != 2 || s.rule.When != During {
		return s.ServerStream.SendMsg(message)
	}
	if strike(s.rule) {
		answer, err := spoil(s.rule, message, nil)
		if err != nil {
			return err
		}
		message = answer
	}
	return s.ServerStream.SendMsg(message)
}

// call is what the layer knows of a call.
type call struct {
	method string
	rpc    string
	kind   string
	// internal calls belong to go-plugin; only Shutdown can be struck.
	internal bool
}

func newCall(method string, req any) call {
	c := call{method: method, rpc: path.Base(method)}
	service := path.Base(path.Dir(method))
	c.internal = service != "tfplugin5.Provider" && service != "tfplugin6.Provider"
	if name, found := newNames[c.rpc]; found && service == "tfplugin5.Provider" {
		c.rpc = name
	}
	message, ok := req.(proto.Message)
	if !ok {
		return c
	}
	for _, name := range []protoreflect.Name{"type_name", "target_type_name", "name"} {
		if field := message.ProtoReflect().Descriptor().Fields().ByName(name); field != nil {
			c.kind = message.ProtoReflect().Get(field).String()
			break
		}
	}
	return c
}

// arrive logs a call, waits if the provider is busy, and looks up its fault.
func (l *layer) arrive(c call) (Rule, bool) {
	if c.internal && c.rpc != "Shutdown" {
		return Rule{}, false
	}
	logCall(c)
	if wait := time.Until(time.Unix(0, l.busyUntil.Load())); wait > 0 {
		time.Sleep(wait)
	}
	return l.book.find(c.rpc, c.kind)
}

// refuse implements FIXTURE_SCHEMA_FIRST: a provider that must be asked for its schema before anything else.
func (l *layer) refuse(c call) error {
	if os.Getenv("FIXTURE_SCHEMA_FIRST") == "" || c.internal {
		return nil
	}
	if c.rpc == "GetProviderSchema" {
		l.schemaAsked.Store(true)
	}
	if c.rpc == "GetMetadata" || l.schemaAsked.Load() {
		return nil
	}
	return status.Errorf(codes.FailedPrecondition, "%s before GetProviderSchema", c.rpc)
}

// adapt takes capabilities away that the environment says the provider lacks.
func (l *layer) adapt(c call) func(any, error) (any, error) {
	return func(answer any, err error) (any, error) {
		message, ok := answer.(proto.Message)
		if err == nil && ok && (c.rpc == "GetProviderSchema" || c.rpc == "GetMetadata") {
			dropCapabilities(message.ProtoReflect())
		}
		return answer, err
	}
}

// strike does what stops or delays the process. It returns true if the answer is to be spoilt instead.
func strike(rule Rule) bool {
	switch rule.What {
	case "exit":
		fmt.Fprintln(os.Stderr, rule.String())
		os.Exit(1)
	case "kill":
		killSelf()
	case "panic":
		panic(rule.String())
	case "hang":
		select {}
	case "sleep":
		time.Sleep(rule.duration())
	default:
		return true
	}
	return false
}

// strikeLater strikes when the answer has left.
func (l *layer) strikeLater(rule Rule) {
	switch rule.What {
	case "hang":
		l.busyUntil.Store(time.Now().Add(24 * time.Hour).UnixNano())
	case "sleep":
		l.busyUntil.Store(time.Now().Add(rule.duration()).UnixNano())
	default:
		go func() {
			time.Sleep(30 * time.Millisecond)
			strike(rule)
		}()
	}
}

// logCall appends a line to FIXTURE_LOG_FILE: time, process, call, type.
func logCall(c call) {
	path := os.Getenv("FIXTURE_LOG_FILE")
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "FIXTURE_LOG_FILE:", err)
		os.Exit(3)
	}
	defer file.Close()
	fmt.Fprintf(file, "%s %d %s %s\n", time.Now().UTC().Format(time.RFC3339Nano), os.Getpid(), c.rpc, c.kind)
}
