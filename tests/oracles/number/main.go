// The number oracle: reads one case per line from standard input and answers each with `<case> = <result>`,
// computed by go-cty, so that groma's numbers can be compared with it. With arguments `gen <count> <seed>` it
// writes random cases instead.
//
// To compare many: `oracle gen 40000 1 | oracle > cases.txt`, then
// `GROMA_NUMBER_CASES=cases.txt cargo test -p groma-model --test numbers`.
//
// A number is decimal text, or has a prefix that says where it comes from: f: a float64, i: an int64, b: a big integer.
package main

import (
	"bufio"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	if len(os.Args) == 4 && os.Args[1] == "gen" {
		count, _ := strconv.Atoi(os.Args[2])
		seed, _ := strconv.ParseInt(os.Args[3], 10, 64)
		generate(out, count, seed)
		return
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<26)
	for in.Scan() {
		fmt.Fprintf(out, "%s = %s\n", in.Text(), answer(strings.Split(in.Text(), " ")))
	}
}

func number(text string) (cty.Value, bool) {
	switch {
	case strings.HasPrefix(text, "f:"):
		f, err := strconv.ParseFloat(text[2:], 64)
		return cty.NumberFloatVal(f), err == nil
	case strings.HasPrefix(text, "i:"):
		i, err := strconv.ParseInt(text[2:], 10, 64)
		return cty.NumberIntVal(i), err == nil
	case strings.HasPrefix(text, "b:"):
		i, ok := new(big.Int).SetString(text[2:], 10)
		return cty.NumberVal(new(big.Float).SetInt(i)), ok
	}
	v, err := cty.ParseNumberVal(text)
	return v, err == nil
}

func text(v cty.Value) string { return v.AsBigFloat().Text('f', -1) }

// answer computes one case. Not-a-number results are panics or errors in go-cty.
func answer(words []string) (result string) {
	defer func() {
		if recover() != nil {
			result = "nan"
		}
	}()
	a, ok := number(words[1])
	if !ok {
		return "error"
	}
	if one, ok := unary(words, a); ok {
		return one
	}
	b, ok := number(words[2])
	if !ok {
		return "error"
	}
	seven := cty.NumberIntVal(7)
	switch words[0] {
	case "add":
		return text(a.Add(b))
	case "sub":
		return text(a.Subtract(b))
	case "mul":
		return text(a.Multiply(b))
	case "div":
		return text(a.Divide(b))
	case "rem":
		return text(a.Modulo(b))
	case "cmp":
		return fmt.Sprint(a.AsBigFloat().Cmp(b.AsBigFloat()), a.RawEquals(b))
	case "amd":
		return text(a.Add(b).Multiply(a).Divide(b))
	case "mdr":
		return text(a.Multiply(b).Divide(seven).Modulo(b))
	case "fld":
		return text(must(stdlib.Floor(a)).Divide(must(stdlib.Ceil(b))))
	case "pow":
		return text(must(stdlib.Pow(a, b)))
	case "log":
		return text(must(stdlib.Log(a, b)))
	}
	return "unknown case"
}

func unary(words []string, a cty.Value) (string, bool) {
	f := a.AsBigFloat()
	switch words[0] {
	case "parse":
		return text(a), true
	case "g":
		return f.Text('g', -1), true
	case "neg":
		return text(a.Negate()), true
	case "abs":
		return text(a.Absolute()), true
	case "floor":
		return text(must(stdlib.Floor(a))), true
	case "ceil":
		return text(must(stdlib.Ceil(a))), true
	case "f64":
		v, _ := f.Float64()
		return fmt.Sprintf("%016x", math.Float64bits(v)), true
	case "i64":
		return integers(f), true
	case "fmt":
		return verb(words, f), true
	}
	return "", false
}

func integers(f *big.Float) string {
	i, acc := f.Int64()
	if acc != big.Exact {
		i = -1
	}
	return fmt.Sprint(i)
}

func verb(words []string, f *big.Float) string {
	format := "%" + words[2]
	if words[3] != "-1" {
		format = "%." + words[3] + words[2]
	}
	if strings.Contains("bdoxX", words[2]) {
		i, acc := f.Int(nil)
		if acc != big.Exact {
			return "error"
		}
		return fmt.Sprintf(format, i)
	}
	return fmt.Sprintf(format, f)
}

func must(v cty.Value, err error) cty.Value {
	if err != nil {
		panic(err)
	}
	return v
}
