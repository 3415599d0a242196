// Random types and values. Few different atoms, so that values are often equal or nearly so.
package main

import (
	"math/rand"

	"github.com/zclconf/go-cty/cty"
)

var names = []string{"a", "b", "c"}

func pick[T any](r *rand.Rand, of []T) T { return of[r.Intn(len(of))] }

func randomType(r *rand.Rand, depth int, constraint bool) cty.Type {
	if depth == 0 || r.Intn(3) == 0 {
		if constraint && r.Intn(4) == 0 {
			return cty.DynamicPseudoType
		}
		return pick(r, []cty.Type{cty.String, cty.Number, cty.Bool, cty.String})
	}
	switch r.Intn(6) {
	case 0:
		return cty.List(randomType(r, depth-1, constraint))
	case 1:
		return cty.Set(randomType(r, depth-1, constraint))
	case 2:
		return cty.Map(randomType(r, depth-1, constraint))
	case 3:
		elements := make([]cty.Type, r.Intn(4))
		for i := range elements {
			elements[i] = randomType(r, depth-1, constraint)
			if i > 0 && r.Intn(2) == 0 {
				elements[i] = elements[0]
			}
		}
		return cty.Tuple(elements)
	}
	attributes := map[string]cty.Type{}
	optional := []string{}
	shared := randomType(r, depth-1, constraint)
	for _, name := range names {
		if r.Intn(3) == 0 {
			continue
		}
		attributes[name] = shared
		if r.Intn(2) == 0 {
			attributes[name] = randomType(r, depth-1, constraint)
		}
		if constraint && r.Intn(3) == 0 {
			optional = append(optional, name)
		}
	}
	return cty.ObjectWithOptionalAttrs(attributes, optional)
}

// A type that something of the given type may well be convertible to.
func relatedType(r *rand.Rand, t cty.Type) cty.Type {
	switch r.Intn(8) {
	case 0:
		return cty.DynamicPseudoType
	case 1:
		return randomType(r, 2, true)
	}
	element := func() cty.Type {
		switch {
		case t.IsCollectionType():
			return relatedType(r, t.ElementType())
		case t.IsTupleType() && t.Length() > 0:
			return relatedType(r, t.TupleElementType(0))
		case t.IsObjectType():
			for _, name := range names {
				if t.HasAttribute(name) {
					return relatedType(r, t.AttributeType(name))
				}
			}
		}
		return cty.DynamicPseudoType
	}
	switch {
	case t == cty.DynamicPseudoType:
		return randomType(r, 2, true)
	case t.IsPrimitiveType():
		return pick(r, []cty.Type{t, cty.String, cty.Number, cty.Bool})
	case t.IsListType() || t.IsSetType():
		return pick(r, []func(cty.Type) cty.Type{cty.List, cty.Set})(element())
	case t.IsTupleType():
		if r.Intn(2) == 0 {
			return pick(r, []func(cty.Type) cty.Type{cty.List, cty.Set})(element())
		}
		elements := []cty.Type{}
		for _, e := range t.TupleElementTypes() {
			elements = append(elements, relatedType(r, e))
		}
		return cty.Tuple(elements)
	}
	if r.Intn(2) == 0 {
		return cty.Map(element())
	}
	attributes := map[string]cty.Type{}
	optional := []string{}
	for _, name := range names {
		switch {
		case r.Intn(4) == 0:
		case t.IsMapType():
			attributes[name] = relatedType(r, t.ElementType())
			optional = append(optional, name)
		case t.HasAttribute(name):
			attributes[name] = relatedType(r, t.AttributeType(name))
		case r.Intn(2) == 0:
			attributes[name] = randomType(r, 1, true)
			optional = append(optional, name)
		}
	}
	return cty.ObjectWithOptionalAttrs(attributes, optional)
}

type flavour struct{ unknown, null, marks bool }

func randomValue(r *rand.Rand, t cty.Type, f flavour) cty.Value {
	v := randomUnmarked(r, t, f)
	if f.marks && r.Intn(8) == 0 {
		v = v.Mark(pick(r, []string{"sensitive", "ephemeral"}))
	}
	return v
}

func randomUnmarked(r *rand.Rand, t cty.Type, f flavour) cty.Value {
	if f.null && r.Intn(10) == 0 {
		return cty.NullVal(t)
	}
	if f.unknown && r.Intn(7) == 0 {
		return refined(r, cty.UnknownVal(t))
	}
	switch {
	case t == cty.DynamicPseudoType:
		if r.Intn(2) == 0 {
			return cty.NullVal(t)
		}
		return cty.DynamicVal
	case t == cty.Bool:
		return cty.BoolVal(r.Intn(2) == 0)
	case t == cty.Number:
		return cty.MustParseNumberVal(pick(r, []string{"0", "1", "2", "-3", "1.5", "10"}))
	case t == cty.String:
		return cty.StringVal(pick(r, []string{"", "x", "y", "1", "2", "true", "False", "xy-z"}))
	case t.IsCollectionType():
		items := []cty.Value{}
		entries := map[string]cty.Value{}
		for _, name := range names {
			if r.Intn(2) == 0 {
				item := randomValue(r, t.ElementType(), f)
				items = append(items, item)
				entries[name] = item
			}
		}
		switch {
		case len(items) == 0 && t.IsListType():
			return cty.ListValEmpty(t.ElementType())
		case len(items) == 0 && t.IsSetType():
			return cty.SetValEmpty(t.ElementType())
		case len(items) == 0:
			return cty.MapValEmpty(t.ElementType())
		case t.IsListType():
			return cty.ListVal(items)
		case t.IsSetType():
			return cty.SetVal(items)
		}
		return cty.MapVal(entries)
	case t.IsTupleType():
		items := []cty.Value{}
		for _, e := range t.TupleElementTypes() {
			items = append(items, randomValue(r, e, f))
		}
		return cty.TupleVal(items)
	}
	attributes := map[string]cty.Value{}
	for name, a := range t.AttributeTypes() {
		attributes[name] = randomValue(r, a, f)
	}
	return cty.ObjectVal(attributes)
}

func refined(r *rand.Rand, v cty.Value) cty.Value {
	if r.Intn(2) == 0 || v.Type() == cty.DynamicPseudoType {
		return v
	}
	b := v.Refine()
	if r.Intn(3) > 0 {
		b = b.NotNull()
	}
	switch t := v.Type(); {
	case t == cty.String:
		b = b.StringPrefixFull(pick(r, []string{"", "x", "xy-"}))
	case t == cty.Number:
		if r.Intn(2) == 0 {
			b = b.NumberRangeLowerBound(cty.NumberIntVal(int64(r.Intn(5)-3)), r.Intn(2) == 0)
		}
		if r.Intn(2) == 0 {
			b = b.NumberRangeUpperBound(cty.NumberIntVal(int64(r.Intn(5)+2)), r.Intn(2) == 0)
		}
	case t.IsCollectionType():
		if r.Intn(2) == 0 {
			b = b.CollectionLengthLowerBound(r.Intn(3))
		}
		if r.Intn(2) == 0 {
			b = b.CollectionLengthUpperBound(2 + r.Intn(2))
		}
	}
	return b.NewValue()
}
