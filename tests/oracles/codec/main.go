// The codec oracle: writes random values as go-cty encodes them, one per line: type JSON, msgpack in hexadecimal and
// JSON, separated by tabs. Arguments: how many, and a seed.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	count, _ := strconv.Atoi(os.Args[1])
	seed, _ := strconv.ParseInt(os.Args[2], 10, 64)
	r := rand.New(rand.NewSource(seed))
	for range count {
		ty := randomType(r, 3, true)
		v := randomValue(r, ty)
		packed, err := msgpack.Marshal(v, ty)
		check(err)
		text, err := ctyjson.Marshal(v, ty)
		check(err)
		description, err := ctyjson.MarshalType(ty)
		check(err)
		fmt.Fprintf(out, "%s\t%s\t%s\n", description, hex.EncodeToString(packed), text)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func randomType(r *rand.Rand, depth int, dynamic bool) cty.Type {
	kinds := 8
	if depth == 0 {
		kinds = 3
	}
	switch r.Intn(kinds) {
	case 0:
		return cty.String
	case 1:
		return cty.Number
	case 2:
		if dynamic && r.Intn(2) == 0 {
			return cty.DynamicPseudoType
		}
		return cty.Bool
	case 3:
		return cty.List(randomType(r, depth-1, false))
	case 4:
		return cty.Set(randomType(r, depth-1, false))
	case 5:
		return cty.Map(randomType(r, depth-1, false))
	case 6:
		types := make([]cty.Type, r.Intn(4))
		for i := range types {
			types[i] = randomType(r, depth-1, dynamic)
		}
		return cty.Tuple(types)
	}
	attributes := map[string]cty.Type{}
	for range r.Intn(5) {
		attributes[word(r)] = randomType(r, depth-1, dynamic)
	}
	return cty.Object(attributes)
}

func word(r *rand.Rand) string {
	words := []string{"a", "b", "name", "größe", "x<y", "tab\t", "e\u0301", "日本", "😀", "long" + strings.Repeat("g", 40), "", "10", "A"}
	return words[r.Intn(len(words))]
}

func randomValue(r *rand.Rand, ty cty.Type) cty.Value {
	if r.Intn(10) == 0 {
		return cty.NullVal(ty)
	}
	switch {
	case ty == cty.DynamicPseudoType:
		return randomValue(r, randomType(r, 1, false))
	case ty == cty.String:
		return cty.StringVal(word(r))
	case ty == cty.Bool:
		return cty.BoolVal(r.Intn(2) == 0)
	case ty == cty.Number:
		return randomNumber(r)
	case ty.IsTupleType():
		items := []cty.Value{}
		for _, inner := range ty.TupleElementTypes() {
			items = append(items, randomValue(r, inner))
		}
		return cty.TupleVal(items)
	case ty.IsObjectType():
		attributes := map[string]cty.Value{}
		for name, inner := range ty.AttributeTypes() {
			attributes[name] = randomValue(r, inner)
		}
		return cty.ObjectVal(attributes)
	}
	return randomCollection(r, ty)
}

func randomCollection(r *rand.Rand, ty cty.Type) cty.Value {
	inner := ty.ElementType()
	items, entries := []cty.Value{}, map[string]cty.Value{}
	for range r.Intn(5) {
		item := randomValue(r, inner)
		items = append(items, item)
		entries[word(r)] = item
	}
	switch {
	case ty.IsMapType() && len(items) == 0:
		return cty.MapValEmpty(inner)
	case ty.IsMapType():
		return cty.MapVal(entries)
	case ty.IsSetType() && len(items) == 0:
		return cty.SetValEmpty(inner)
	case ty.IsSetType():
		return cty.SetVal(items)
	case len(items) == 0:
		return cty.ListValEmpty(inner)
	}
	return cty.ListVal(items)
}

func randomNumber(r *rand.Rand) cty.Value {
	texts := []string{"0", "1", "-1", "127", "128", "255", "256", "-32", "-33", "-128", "-129", "65535", "65536", "4294967295",
		"4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "0.5", "0.1",
		"1e30", "1.25e-3", "123456789.123456789"}
	switch r.Intn(3) {
	case 0:
		return cty.NumberFloatVal(float64(r.Intn(100000)) / 128)
	case 1:
		return cty.NumberIntVal(r.Int63() >> r.Intn(63))
	}
	return cty.MustParseNumberVal(texts[r.Intn(len(texts))])
}
