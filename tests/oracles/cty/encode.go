// Values, types and refinements as JSON that the tests of groma-model read.
package main

import (
	"sort"

	"github.com/zclconf/go-cty/cty"
)

func encodeType(t cty.Type) any {
	switch {
	case t == cty.DynamicPseudoType:
		return "any"
	case t.IsPrimitiveType():
		return t.FriendlyName()
	case t.IsListType():
		return []any{"list", encodeType(t.ElementType())}
	case t.IsSetType():
		return []any{"set", encodeType(t.ElementType())}
	case t.IsMapType():
		return []any{"map", encodeType(t.ElementType())}
	case t.IsTupleType():
		elements := []any{"tuple"}
		for _, e := range t.TupleElementTypes() {
			elements = append(elements, encodeType(e))
		}
		return elements
	}
	attributes := map[string]any{}
	for name, a := range t.AttributeTypes() {
		attributes[name] = encodeType(a)
	}
	optional := []string{}
	for name := range t.OptionalAttributes() {
		optional = append(optional, name)
	}
	sort.Strings(optional)
	return []any{"object", attributes, optional}
}

func encodeTypes(types []cty.Type) any {
	result := []any{}
	for _, t := range types {
		result = append(result, encodeType(t))
	}
	return result
}

func encodeValue(v cty.Value) any {
	if v.IsMarked() {
		plain, marks := v.Unmark()
		names := []string{}
		for m := range marks {
			names = append(names, m.(string))
		}
		sort.Strings(names)
		return map[string]any{"marked": []any{encodeValue(plain), names}}
	}
	t := v.Type()
	switch {
	case v.IsNull():
		return map[string]any{"null": encodeType(t)}
	case !v.IsKnown():
		return map[string]any{"unknown": []any{encodeType(t), encodeRange(v)}}
	case t == cty.Bool:
		return v.True()
	case t == cty.String:
		return v.AsString()
	case t == cty.Number:
		return map[string]any{"number": v.AsBigFloat().Text('f', -1)}
	case t.IsListType():
		return map[string]any{"list": []any{encodeType(t.ElementType()), encodeItems(v)}}
	case t.IsSetType():
		return map[string]any{"set": []any{encodeType(t.ElementType()), encodeItems(v)}}
	case t.IsTupleType():
		return map[string]any{"tuple": encodeItems(v)}
	case t.IsMapType():
		return map[string]any{"map": []any{encodeType(t.ElementType()), encodeEntries(v)}}
	}
	return map[string]any{"object": encodeEntries(v)}
}

func encodeItems(v cty.Value) []any {
	items := []any{}
	for it := v.ElementIterator(); it.Next(); {
		_, item := it.Element()
		items = append(items, encodeValue(item))
	}
	return items
}

func encodeEntries(v cty.Value) map[string]any {
	entries := map[string]any{}
	for it := v.ElementIterator(); it.Next(); {
		name, item := it.Element()
		entries[name.AsString()] = encodeValue(item)
	}
	return entries
}

func encodeRange(v cty.Value) any {
	known := map[string]any{}
	if v.Type() == cty.DynamicPseudoType {
		return known
	}
	r := v.Range()
	if r.DefinitelyNotNull() {
		known["not_null"] = true
	}
	switch t := v.Type(); {
	case t == cty.String:
		if prefix := r.StringPrefix(); prefix != "" {
			known["prefix"] = prefix
		}
	case t == cty.Number:
		if lower, inclusive := r.NumberLowerBound(); lower.IsKnown() && !lower.RawEquals(cty.NegativeInfinity) {
			known["lower"] = []any{lower.AsBigFloat().Text('f', -1), inclusive}
		}
		if upper, inclusive := r.NumberUpperBound(); upper.IsKnown() && !upper.RawEquals(cty.PositiveInfinity) {
			known["upper"] = []any{upper.AsBigFloat().Text('f', -1), inclusive}
		}
	case t.IsCollectionType():
		if min := r.LengthLowerBound(); min != 0 {
			known["min_length"] = min
		}
		if max := r.LengthUpperBound(); max != int(^uint(0)>>1) {
			known["max_length"] = max
		}
	}
	return known
}
