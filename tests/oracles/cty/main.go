// Asks go-cty what it makes of random values: each line of the output is a question and its answer.
//
//	go run . [-seed n] [-count n] > ../../../crates/model/tests/data/cty.jsonl
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

type question struct {
	Op     string `json:"op"`
	Args   []any  `json:"args"`
	Answer any    `json:"answer"`
}

// A question and a way to answer it; the answer is anything that encodes as JSON. Answering may panic, and then the
// question is left out; so are questions that go-cty answers wrongly by its own rules (see sound).
type asked struct {
	op     string
	args   []any
	answer func() any
}

func result(v cty.Value, err error) any {
	if err == nil {
		return map[string]any{"ok": encodeValue(v)}
	}
	failure := map[string]any{"error": err.Error()}
	if at, is := err.(cty.PathError); is {
		failure["at"] = formatPath(at.Path)
	}
	return failure
}

// Panics if a converted value does not have the type it was to get, or lost marks on the way.
func sound(before, after cty.Value, want cty.Type) {
	want = want.WithoutOptionalAttributesDeep()
	got := after.Type()
	if got != cty.DynamicPseudoType && len(got.TestConformance(want)) != 0 {
		panic("not of the type that was asked for")
	}
	if !got.Equals(got.WithoutOptionalAttributesDeep()) {
		panic("a value with optional attributes")
	}
	_, had := before.UnmarkDeep()
	_, has := after.UnmarkDeep()
	if _, paths := before.UnmarkDeepWithPaths(); !had.Equal(has) && len(paths) > 0 {
		panic("lost marks")
	}
}

// Panics for what conversion is known to get wrong inside of values: it takes marks off nulls, and gives a set whose
// length is not known yet a wrong type when it becomes a list.
func convertible(v cty.Value) {
	_ = cty.Walk(v, func(path cty.Path, part cty.Value) (bool, error) {
		if len(path) > 0 && part.IsMarked() && part.IsNull() {
			panic("a marked null")
		}
		part, _ = part.Unmark()
		if part.Type().IsSetType() && part.IsKnown() && !part.IsNull() && !part.Length().IsKnown() {
			panic("a set that may shrink")
		}
		return true, nil
	})
}

// Panics for a constraint that leaves optional attributes in types of nulls.
func flat(t cty.Type) {
	if t.IsObjectType() {
		for name := range t.OptionalAttributes() {
			if a := t.AttributeType(name); !a.Equals(a.WithoutOptionalAttributesDeep()) {
				panic("optional attributes inside of an optional attribute")
			}
		}
		for _, a := range t.AttributeTypes() {
			flat(a)
		}
	}
	if t.IsCollectionType() {
		flat(t.ElementType())
	}
	if t.IsTupleType() {
		for _, e := range t.TupleElementTypes() {
			flat(e)
		}
	}
}

func formatPath(path cty.Path) string {
	text := ""
	for _, step := range path {
		switch s := step.(type) {
		case cty.GetAttrStep:
			text += "." + s.Name
		case cty.IndexStep:
			if s.Key.Type() == cty.Number {
				text += "[" + s.Key.AsBigFloat().Text('f', -1) + "]"
			} else {
				text += fmt.Sprintf("[%q]", s.Key.AsString())
			}
		}
	}
	return text
}

func main() {
	seed := flag.Int64("seed", 1, "")
	count := flag.Int("count", 4000, "")
	flag.Parse()
	r := rand.New(rand.NewSource(*seed))
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for done := 0; done < *count; {
		a, ok := ask(r)
		if !ok {
			continue
		}
		answer, stable := steadily(a.answer)
		if !stable {
			continue
		}
		if err := out.Encode(question{a.op, a.args, answer}); err != nil {
			panic(err)
		}
		done++
	}
}

// The answer, if it is the same every time and there is one.
func steadily(answer func() any) (first any, stable bool) {
	defer func() {
		if recover() != nil {
			stable = false
		}
	}()
	var text []byte
	for i := 0; i < 40; i++ {
		got := answer()
		now, _ := json.Marshal(got)
		if i > 0 && !bytes.Equal(now, text) {
			return nil, false
		}
		first, text = got, now
	}
	return first, true
}

func ask(r *rand.Rand) (a asked, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	f := flavour{unknown: r.Intn(2) == 0, null: r.Intn(2) == 0, marks: r.Intn(3) == 0}
	switch r.Intn(12) {
	case 0:
		return askNumbers(r), true
	case 1:
		return askLogic(r), true
	case 2, 3:
		return askEquals(r, f), true
	case 4:
		return askAccess(r, f), true
	case 5, 6, 7:
		return askConvert(r, f), true
	case 8, 9:
		return askUnify(r, f), true
	case 10:
		return askTypes(r), true
	}
	return askWhole(r, f), true
}

func askNumbers(r *rand.Rand) asked {
	f := flavour{unknown: true, marks: r.Intn(3) == 0}
	x, y := randomValue(r, cty.Number, f), randomValue(r, cty.Number, f)
	ops := map[string]func(cty.Value, cty.Value) cty.Value{
		"add": cty.Value.Add, "subtract": cty.Value.Subtract, "multiply": cty.Value.Multiply,
		"divide": cty.Value.Divide, "modulo": cty.Value.Modulo,
		"less_than": cty.Value.LessThan, "greater_than": cty.Value.GreaterThan,
		"less_or_equal": cty.Value.LessThanOrEqualTo, "greater_or_equal": cty.Value.GreaterThanOrEqualTo,
		"negate":   func(x, _ cty.Value) cty.Value { return x.Negate() },
		"absolute": func(x, _ cty.Value) cty.Value { return x.Absolute() },
	}
	op := pick(r, []string{"add", "subtract", "multiply", "divide", "modulo", "less_than", "greater_than",
		"less_or_equal", "greater_or_equal", "negate", "absolute"})
	return asked{op, []any{encodeValue(x), encodeValue(y)}, func() any { return result(ops[op](x, y), nil) }}
}

func askLogic(r *rand.Rand) asked {
	f := flavour{unknown: true, marks: r.Intn(3) == 0}
	x, y := randomValue(r, cty.Bool, f), randomValue(r, cty.Bool, f)
	ops := map[string]func(cty.Value, cty.Value) cty.Value{
		"and": cty.Value.And, "or": cty.Value.Or,
		"not": func(x, _ cty.Value) cty.Value { return x.Not() },
	}
	op := pick(r, []string{"and", "or", "not"})
	return asked{op, []any{encodeValue(x), encodeValue(y)}, func() any { return result(ops[op](x, y), nil) }}
}

func askEquals(r *rand.Rand, f flavour) asked {
	t := randomType(r, 2, r.Intn(4) == 0).WithoutOptionalAttributesDeep()
	x, y := randomValue(r, t, f), randomValue(r, t, f)
	switch r.Intn(5) {
	case 0:
		y = x
	case 1:
		y = randomValue(r, randomType(r, 2, false), f)
	}
	return asked{"equals", []any{encodeValue(x), encodeValue(y)}, func() any { return result(x.Equals(y), nil) }}
}

func diagnosed(v cty.Value, diags hcl.Diagnostics) any {
	if diags.HasErrors() {
		return map[string]any{"error": diags[0].Detail, "summary": diags[0].Summary}
	}
	return map[string]any{"ok": encodeValue(v)}
}

func askAccess(r *rand.Rand, f flavour) asked {
	t := randomType(r, 2, false)
	v := randomValue(r, t, f)
	key := randomValue(r, pick(r, []cty.Type{cty.Number, cty.String, cty.Bool, cty.Number}), f)
	if r.Intn(3) == 0 {
		key = cty.StringVal(pick(r, names))
	}
	switch r.Intn(4) {
	case 0:
		name := pick(r, names)
		return asked{"get_attr", []any{encodeValue(v), name}, func() any { return diagnosed(hcl.GetAttr(v, name, nil)) }}
	case 1:
		if v.IsNull() {
			panic("null has no index")
		}
		return asked{"has_index", []any{encodeValue(v), encodeValue(key)}, func() any { return result(v.HasIndex(key), nil) }}
	case 2:
		element := randomType(r, 1, false)
		set, item := randomValue(r, cty.Set(element), f), randomValue(r, element, f)
		return asked{"has_element", []any{encodeValue(set), encodeValue(item)},
			func() any { return result(set.HasElement(item), nil) }}
	}
	return asked{"index", []any{encodeValue(v), encodeValue(key)}, func() any { return diagnosed(hcl.Index(v, key, nil)) }}
}

func askConvert(r *rand.Rand, f flavour) asked {
	v := randomValue(r, randomType(r, 3, r.Intn(4) == 0).WithoutOptionalAttributesDeep(), f)
	t := relatedType(r, v.Type())
	if v.IsKnown() && !v.IsNull() {
		convertible(v)
		flat(t)
	}
	return asked{"convert", []any{encodeValue(v), encodeType(t)}, func() any {
		converted, err := convert.Convert(v, t)
		if err == nil {
			sound(v, converted, t)
		}
		return result(converted, err)
	}}
}

func askUnify(r *rand.Rand, f flavour) asked {
	types := []cty.Type{randomType(r, 2, r.Intn(4) == 0).WithoutOptionalAttributesDeep()}
	for len(types) < 2+r.Intn(3) {
		t := relatedType(r, types[0])
		if r.Intn(3) == 0 {
			t = types[0]
		}
		types = append(types, t.WithoutOptionalAttributesDeep())
	}
	switch r.Intn(3) {
	case 0:
		return asked{"unify", []any{encodeTypes(types)}, func() any { t, _ := convert.Unify(types); return common(t) }}
	case 1:
		return asked{"unify_unsafe", []any{encodeTypes(types)}, func() any { t, _ := convert.UnifyUnsafe(types); return common(t) }}
	}
	values, encoded := []cty.Value{}, []any{}
	for i, t := range types {
		values = append(values, randomValue(r, t, f))
		types[i] = values[i].Type()
		encoded = append(encoded, encodeValue(values[i]))
		convertible(values[i])
	}
	return asked{"unify_values", []any{encoded}, func() any {
		t, conversions := convert.UnifyUnsafe(types)
		if t == cty.NilType {
			return nil
		}
		converted := []any{}
		for i, v := range values {
			if conversions[i] != nil {
				after, err := conversions[i](v)
				// Where an object or tuple becomes a collection first, one of the two steps is left out.
				direct, directErr := convert.Convert(v, t)
				if !t.HasDynamicTypes() && (err == nil) != (directErr == nil) {
					panic("a conversion that skips a step")
				}
				if !t.HasDynamicTypes() && err == nil && !after.RawEquals(direct) {
					panic("a conversion that skips a step")
				}
				if t.HasDynamicTypes() && err != nil {
					panic("a conversion that skips a step")
				}
				if err != nil {
					return nil
				}
				sound(v, after, t)
				v = after
			}
			converted = append(converted, encodeValue(v))
		}
		return []any{encodeType(t), converted}
	}}
}

func common(t cty.Type) any {
	if t == cty.NilType {
		return nil
	}
	return encodeType(t)
}

func askTypes(r *rand.Rand) asked {
	from := randomType(r, 2, r.Intn(4) == 0).WithoutOptionalAttributesDeep()
	to := relatedType(r, from)
	args := []any{encodeType(from), encodeType(to)}
	switch r.Intn(3) {
	case 0:
		return asked{"mismatch_message", args, func() any { return convert.MismatchMessage(from, to) }}
	case 1:
		return asked{"conforms", args, func() any { return len(from.TestConformance(to)) }}
	}
	return asked{"can_convert", args, func() any {
		switch {
		case from.Equals(to) || convert.GetConversion(from, to) != nil:
			return "safe"
		case convert.GetConversionUnsafe(from, to) != nil:
			return "unsafe"
		}
		return nil
	}}
}

func askWhole(r *rand.Rand, f flavour) asked {
	v := randomValue(r, randomType(r, 3, false), f)
	args := []any{encodeValue(v)}
	switch r.Intn(3) {
	case 0:
		return asked{"unknown_as_null", args, func() any { return result(cty.UnknownAsNull(v), nil) }}
	case 1:
		return asked{"length", args, func() any { return result(v.Length(), nil) }}
	}
	items, encoded := []cty.Value{}, []any{}
	t := randomType(r, 2, false)
	for i := 0; i < 2+r.Intn(4); i++ {
		items = append(items, randomValue(r, t, f))
		encoded = append(encoded, encodeValue(items[i]))
	}
	return asked{"set", []any{encodeType(t), encoded}, func() any { return result(cty.SetVal(items), nil) }}
}
