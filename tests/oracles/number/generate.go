package main

import (
	"fmt"
	"io"
	"math"
	"math/rand"
	"strings"
)

// generate writes random cases: all operations over numbers of every origin, size and oddity.
func generate(out io.Writer, count int, seed int64) {
	r := rand.New(rand.NewSource(seed))
	binary := []string{"add", "sub", "mul", "div", "rem", "cmp", "amd", "mdr", "fld"}
	unary := []string{"parse", "g", "neg", "abs", "floor", "ceil", "f64", "i64"}
	for range count {
		switch r.Intn(12) {
		case 0, 1, 2:
			fmt.Fprintln(out, pick(r, unary), random(r))
		case 3, 4:
			fmt.Fprintln(out, "fmt", random(r), pick(r, strings.Split("bdoxXeEfgG", "")), r.Intn(24)-1)
		case 5:
			fmt.Fprintln(out, pick(r, []string{"pow", "log"}), floatCase(r), floatCase(r))
		default:
			a, b := random(r), random(r)
			if r.Intn(8) == 0 {
				b = a
			}
			fmt.Fprintln(out, pick(r, binary), a, b)
		}
	}
}

func pick(r *rand.Rand, from []string) string { return from[r.Intn(len(from))] }

func digits(r *rand.Rand, most int) string {
	var b strings.Builder
	for range 1 + r.Intn(most) {
		b.WriteByte(byte('0' + r.Intn(10)))
	}
	return b.String()
}

func floatCase(r *rand.Rand) string {
	switch r.Intn(4) {
	case 0:
		return fmt.Sprint(r.Intn(40) - 4)
	case 1:
		return fmt.Sprint(float64(r.Intn(4000)-400) / 100)
	case 2:
		return fmt.Sprint(r.ExpFloat64() * 20)
	}
	return fmt.Sprint(math.Exp(r.NormFloat64() * 30))
}

func random(r *rand.Rand) string {
	sign := pick(r, []string{"", "", "-"})
	switch r.Intn(16) {
	case 0, 1:
		return sign + fmt.Sprint(r.Intn(1000))
	case 2:
		return "i:" + sign + fmt.Sprint(r.Int63()>>r.Intn(63))
	case 3:
		return "f:" + sign + fmt.Sprint(float64(r.Intn(100000))/1000)
	case 4:
		return "f:" + sign + fmt.Sprint(math.Float64frombits(uint64(r.Int63n(0x7fe<<52))))
	case 5:
		return "b:" + sign + digits(r, 60)
	case 6, 7, 8:
		return sign + digits(r, 12) + "." + digits(r, 12)
	case 9:
		return sign + digits(r, 200) + "." + digits(r, 200)
	case 10:
		return sign + digits(r, 5) + "." + digits(r, 5) + "e" + fmt.Sprint(r.Intn(80)-40)
	case 11:
		return sign + digits(r, 5) + "e" + fmt.Sprint(r.Intn(3000)-1500)
	case 12:
		return sign + digits(r, 5) + pick(r, []string{"p", "P"}) + fmt.Sprint(r.Intn(600)-300)
	case 13:
		return sign + digits(r, 40)
	case 14:
		return pick(r, []string{"inf", "-inf", "+Inf", "0", "-0", "1", "-1", "i:0", "f:0", "9223372036854775807",
			"-9223372036854775808", "9223372036854775808", "18446744073709551615", "18446744073709551616",
			"i:-9223372036854775808", "i:9223372036854775807", "9007199254740993", "f:9007199254740992", "f:0.1"})
	}
	return pick(r, []string{"+", "-", ".", "1.", ".5", "+.5", "1e", "1e+", "1e5x", "0x10", "1_0", "nan",
		"infinity", "INF", "e5", "1.2.3", "--1", "+-1", "1e99999999999999999999", "1e999999999", "1e-999999999",
		"1e-9999999999", "00012", "-00.00", "1E5", "١"})
}
