package fault

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/status"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// changesAnswer is true for faults that spoil an answer and leave the process alone.
func changesAnswer(rule Rule) bool {
	switch rule.What {
	case "exit", "kill", "panic", "hang", "sleep":
		return false
	}
	return true
}

// spoiltAnswer is the answer to a request that the provider never saw.
func spoiltAnswer(rule Rule, c call) (any, error) {
	service, method, _ := strings.Cut(strings.TrimPrefix(c.method, "/"), "/")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	output := found.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(method)).Output()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(output.FullName())
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	answer := kind.New()
	fill(answer)
	return spoil(rule, answer.Interface(), nil)
}

// fill gives an empty answer the values that a real one has, for the fault to spoil.
func fill(answer protoreflect.Message) {
	fields := answer.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.Kind() == protoreflect.MessageKind && !field.IsList() && !field.IsMap() && isValue(field.Message()) {
			answer.Mutable(field)
		}
	}
}

// spoil replaces an answer, or what is in it, by something that no provider should send.
func spoil(rule Rule, answer any, err error) (any, error) {
	message, ok := answer.(protobuf.Message)
	if !ok || err != nil {
		return answer, err
	}
	reflected := message.ProtoReflect()
	switch rule.What {
	case "error":
		return nil, status.Error(codes.Internal, rule.String())
	case "status":
		return nil, status.Error(statusCode(rule.Value), rule.String())
	case "unimplemented":
		return nil, status.Error(codes.Unimplemented, rule.String())
	case "garbage":
		return spoilt(reflected, spoilWith([]byte("\xc1\xff garbage"), "garbage"))
	case "nonsense":
		// A well formed value of a type that no schema has here.
		return spoilt(reflected, spoilWith([]byte("\x92\x01\xa8nonsense"), `["list",["nonsense"]]`))
	case "truncated":
		return spoilt(reflected, truncate)
	case "null":
		return spoilt(reflected, spoilWith([]byte{0xc0}, `"string"`))
	case "empty":
		protobuf.Reset(message)
	case "wire":
		return notProtobuf, nil
	case "diag":
		addDiagnostic(reflected, rule)
	default:
		fmt.Fprintln(os.Stderr, "unknown", rule.String())
		os.Exit(3)
	}
	return answer, nil
}

func statusCode(name string) codes.Code {
	var code codes.Code
	if err := code.UnmarshalJSON([]byte(`"` + name + `"`)); err != nil {
		return codes.Unknown
	}
	return code
}

func isValue(message protoreflect.MessageDescriptor) bool {
	return message.Name() == "DynamicValue"
}

// spoilt is the answer after a walk; one that has nothing to spoil in it is replaced as a whole.
func spoilt(answer protoreflect.Message, visit func(protoreflect.Message) bool) (any, error) {
	found := false
	walk(answer, func(message protoreflect.Message) { found = visit(message) || found })
	if !found {
		return notProtobuf, nil
	}
	return answer.Interface(), nil
}

// walk visits every message inside an answer.
func walk(message protoreflect.Message, visit func(protoreflect.Message)) {
	visit(message)
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			if field.MapValue().Kind() == protoreflect.MessageKind {
				value.Map().Range(func(_ protoreflect.MapKey, item protoreflect.Value) bool {
					walk(item.Message(), visit)
					return true
				})
			}
		case field.Kind() != protoreflect.MessageKind:
		case field.IsList():
			for i := range value.List().Len() {
				walk(value.List().Get(i).Message(), visit)
			}
		default:
			walk(value.Message(), visit)
		}
		return true
	})
}

// spoilWith overwrites dynamic values and types of schemas.
func spoilWith(value []byte, kind string) func(protoreflect.Message) bool {
	return func(message protoreflect.Message) bool {
		fields := message.Descriptor().Fields()
		switch message.Descriptor().Name() {
		case "DynamicValue":
			message.Clear(fields.ByName("json"))
			message.Set(fields.ByName("msgpack"), protoreflect.ValueOfBytes(value))
			return true
		case "Attribute", "Parameter", "Return", "IdentityAttribute":
			field := fields.ByName("type")
			if field != nil && len(message.Get(field).Bytes()) > 0 {
				message.Set(field, protoreflect.ValueOfBytes([]byte(kind)))
				return true
			}
		}
		return false
	}
}

// truncate cuts dynamic values in half.
func truncate(message protoreflect.Message) bool {
	if !isValue(message.Descriptor()) {
		return false
	}
	field := message.Descriptor().Fields().ByName("msgpack")
	content := message.Get(field).Bytes()
	message.Set(field, protoreflect.ValueOfBytes(content[:len(content)/2]))
	return true
}

// addDiagnostic adds an error to answers that can carry one.
func addDiagnostic(message protoreflect.Message, rule Rule) {
	fields := message.Descriptor().Fields()
	field := fields.ByName("diagnostics")
	if field == nil || !field.IsList() {
		return
	}
	item := message.Mutable(field).List().AppendMutable().Message()
	parts := item.Descriptor().Fields()
	item.Set(parts.ByName("severity"), protoreflect.ValueOfEnum(1))
	item.Set(parts.ByName("summary"), protoreflect.ValueOfString("Fixture fault"))
	item.Set(parts.ByName("detail"), protoreflect.ValueOfString(rule.String()))
}

// dropCapabilities applies FIXTURE_SCHEMA_FIRST and FIXTURE_NO_CAPABILITIES to an answer that has capabilities.
func dropCapabilities(answer protoreflect.Message) {
	field := answer.Descriptor().Fields().ByName("server_capabilities")
	if field == nil || !answer.Has(field) {
		return
	}
	if os.Getenv("FIXTURE_NO_CAPABILITIES") != "" {
		answer.Clear(field)
		return
	}
	if os.Getenv("FIXTURE_SCHEMA_FIRST") != "" {
		capabilities := answer.Mutable(field).Message()
		capabilities.Clear(capabilities.Descriptor().Fields().ByName("get_provider_schema_optional"))
	}
}

// killSelf ends the process as the kernel's out-of-memory killer would.
func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// raw is an answer that goes out as it is.
type raw string

const notProtobuf = raw("\xff\xff\xff\xff not protobuf")

// codec is gRPC's own, except that it lets raw answers through.
type codec struct{}

func (codec) inner() encoding.CodecV2 { return encoding.GetCodecV2(proto.Name) }

func (codec) Name() string { return proto.Name }

func (c codec) Marshal(message any) ([]byte, error) {
	if text, ok := message.(raw); ok {
		return []byte(text), nil
	}
	buffers, err := c.inner().Marshal(message)
	if err != nil {
		return nil, err
	}
	defer buffers.Free()
	return buffers.Materialize(), nil
}

func (c codec) Unmarshal(data []byte, message any) error {
	return c.inner().Unmarshal(mem.BufferSlice{mem.SliceBuffer(data)}, message)
}
