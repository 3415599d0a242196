package raw

import (
	"encoding/json"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// answers is how one call is to be answered: the words of `answers = { plan = "null+error" }`.
type answers map[string]bool

func newAnswers(text string) answers {
	result := answers{}
	for _, word := range strings.Split(text, "+") {
		result[word] = true
	}
	return result
}

// answersOf reads the words for one step from an object.
func answersOf(object tftypes.Value, step string) answers {
	var fields map[string]tftypes.Value
	var told map[string]tftypes.Value
	if !object.IsKnown() || object.IsNull() || object.As(&fields) != nil {
		return answers{}
	}
	if all := fields["answers"]; !all.IsKnown() || all.IsNull() || all.As(&told) != nil {
		return answers{}
	}
	var text string
	if word, found := told[step]; found && word.IsKnown() && !word.IsNull() {
		_ = word.As(&text)
	}
	return newAnswers(text)
}

func (a answers) has(word string) bool { return a[word] }

// encode turns the right value into the answer that was ordered.
func (a answers) encode(value tftypes.Value) *tfprotov6.DynamicValue {
	kind := value.Type()
	switch {
	case a["missing"]:
		return nil
	case a["hollow"]:
		return &tfprotov6.DynamicValue{}
	case a["malformed"]:
		return &tfprotov6.DynamicValue{MsgPack: []byte("\xc1\xff garbage")}
	case a["deep"]:
		return &tfprotov6.DynamicValue{MsgPack: []byte(strings.Repeat("\x91", 1<<20))}
	case a["promise"]:
		// An array that claims four billion elements.
		return &tfprotov6.DynamicValue{MsgPack: []byte("\xdd\xff\xff\xff\xff\x01")}
	case a["trailing"]:
		right := dynamic(kind, value)
		right.MsgPack = append(right.MsgPack, 1)
		return right
	case a["wrong_type"]:
		return dynamic(tftypes.String, tftypes.NewValue(tftypes.String, "not an object"))
	case a["null"]:
		return dynamic(kind, tftypes.NewValue(kind, nil))
	case a["whole_unknown"]:
		return dynamic(kind, tftypes.NewValue(kind, tftypes.UnknownValue))
	case a["json"]:
		return inJSON(value)
	}
	changed := a.change(value)
	return dynamic(changed.Type(), changed)
}

// change alters single attributes.
func (a answers) change(value tftypes.Value) tftypes.Value {
	value = with(value, func(name string, old tftypes.Value) tftypes.Value {
		switch {
		case a["unknown"] && name == "value", a["unknown_computed"] && name == "made":
			return tftypes.NewValue(old.Type(), tftypes.UnknownValue)
		case a["inconsistent"] && name == "value":
			return tftypes.NewValue(old.Type(), "not what was planned")
		case a["decomposed"] && name == "made":
			return tftypes.NewValue(old.Type(), "e\u0301")
		case a["lost"] && name == "made":
			return tftypes.NewValue(old.Type(), nil)
		case a["drift"] && name == "value":
			return tftypes.NewValue(old.Type(), "drifted")
		case a["leak"] && name == "value_wo":
			return tftypes.NewValue(old.Type(), "leaked")
		}
		return old
	})
	var fields map[string]tftypes.Value
	if value.IsNull() || value.As(&fields) != nil {
		return value
	}
	switch {
	case a["extra"]:
		fields["surplus"] = tftypes.NewValue(tftypes.String, "surplus")
	case a["lacking"]:
		delete(fields, "made")
	case a["number_as_text"]:
		fields["number"] = tftypes.NewValue(tftypes.String, "1e400")
	default:
		return value
	}
	types := map[string]tftypes.Type{}
	for name, field := range fields {
		types[name] = field.Type()
		if name == "anything" {
			types[name] = tftypes.DynamicPseudoType
		}
	}
	return tftypes.NewValue(tftypes.Object{AttributeTypes: types}, fields)
}

func (a answers) diagnostics() []*tfprotov6.Diagnostic {
	var list []*tfprotov6.Diagnostic
	add := func(word string, diagnostic tfprotov6.Diagnostic) {
		if a[word] {
			diagnostic.Summary = "Told to answer " + word
			list = append(list, &diagnostic)
		}
	}
	add("error", tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityError, Detail: "By the configuration."})
	add("warning", tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityWarning, Attribute: path("value")})
	add("no_severity", tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityInvalid})
	add("bad_path", tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityWarning, Attribute: path("nowhere").WithElementKeyInt(7).WithAttributeName("never")})
	add("map_path", tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityWarning, Attribute: path("answers").WithElementKeyString("plan")})
	return list
}

func (a answers) private(before []byte) []byte {
	switch {
	case a["big_private"]:
		return []byte(strings.Repeat("p", 1<<20))
	case a["binary_private"]:
		return []byte("\x00\xff\xfe")
	}
	return before
}

func (a answers) replaced() []*tftypes.AttributePath {
	var paths []*tftypes.AttributePath
	if a["replace"] {
		paths = append(paths, path("value"))
	}
	if a["replace_nested"] {
		paths = append(paths, path("group").WithAttributeName("text"), path("few").WithElementKeyInt(0).WithAttributeName("text"))
	}
	if a["replace_nowhere"] {
		paths = append(paths, path("nowhere"))
	}
	return paths
}

// deferred is sent whether or not the client can take it.
func (a answers) deferred() *tfprotov6.Deferred {
	if !a["deferred"] {
		return nil
	}
	return &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonAbsentPrereq}
}

func path(name string) *tftypes.AttributePath {
	return tftypes.NewAttributePath().WithAttributeName(name)
}

func dynamic(kind tftypes.Type, value tftypes.Value) *tfprotov6.DynamicValue {
	encoded, err := tfprotov6.NewDynamicValue(kind, value)
	if err != nil {
		panic(err)
	}
	return &encoded
}

// inJSON uses the other encoding that the protocol allows, for the attributes that are plain.
func inJSON(value tftypes.Value) *tfprotov6.DynamicValue {
	var fields map[string]tftypes.Value
	if value.IsNull() || value.As(&fields) != nil {
		return &tfprotov6.DynamicValue{JSON: []byte("null")}
	}
	plain := map[string]any{}
	for name, field := range fields {
		var text string
		var texts map[string]tftypes.Value
		switch {
		case field.IsNull() || !field.IsKnown():
			plain[name] = nil
		case field.As(&text) == nil:
			plain[name] = text
		case name == "answers" && field.As(&texts) == nil:
			words := map[string]string{}
			for step, word := range texts {
				_ = word.As(&text)
				words[step] = text
			}
			plain[name] = words
		case field.Type().Is(tftypes.List{}) || field.Type().Is(tftypes.Set{}):
			plain[name] = []any{}
		case field.Type().Is(tftypes.Map{}):
			plain[name] = map[string]any{}
		case name == "group":
			plain[name] = map[string]any{"text": nil, "given": nil}
		}
	}
	bytes, err := json.Marshal(plain)
	if err != nil {
		panic(err)
	}
	return &tfprotov6.DynamicValue{JSON: bytes}
}
