// Prints, for generated inputs, the length and checksum of what Go's compress/gzip makes of them at its default level
// when flushed and closed. `go run . > expected.txt` renews the table that the tests of `base64gzip` compare with.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/crc32"
	"os"
)

// rng is a generator that is easy to write in any language.
type rng uint64

func (r *rng) next() uint64 {
	*r ^= *r << 13
	*r ^= *r >> 7
	*r ^= *r << 17
	return uint64(*r)
}

var words = []string{
	"resource ", "variable ", "\"aws_instance\" ", "{\n  ", "}\n", "name = ", "= ", "\"web\"\n", "#!/bin/bash\n",
	"apt-get install -y ", "nginx ", "echo hello\n", "true", "false", "ünïcödé ", "0123456789",
}

// input makes a text of (at least) the given size of one of several kinds.
func input(kind string, seed, size int) []byte {
	r := rng(seed*2654435761 + 88172645463325252)
	var out []byte
	for len(out) < size {
		switch kind {
		case "random":
			out = append(out, byte(r.next()>>32))
		case "letters":
			out = append(out, 'a'+byte(r.next()>>32)%16)
		case "words":
			out = append(out, words[(r.next()>>32)%uint64(len(words))]...)
		case "same":
			out = append(out, 'x')
		case "period":
			out = append(out, byte(len(out)%(seed+2)))
		case "skewed":
			v := r.next() >> 32
			out = append(out, byte(v&(v>>8)&(v>>16)))
		case "mixed":
			if r.next()>>32%3 == 0 && len(out) > 300 {
				from := int((r.next() >> 32) % uint64(len(out)-260))
				out = append(out, out[from:from+int((r.next()>>32)%258)]...)
			}
			for range (r.next() >> 32) % 20 {
				out = append(out, byte(r.next()>>32))
			}
		}
	}
	return out
}

func main() {
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	small := []int{0, 1, 2, 3, 4, 5, 8, 13, 30, 64, 100, 255, 259, 700, 2000, 5000, 16384, 20000}
	large := []int{32768, 40000, 65274, 65536, 65537, 150000}
	for _, kind := range []string{"random", "letters", "words", "same", "period", "skewed", "mixed"} {
		for i, size := range small {
			check(w, kind, i, size)
			check(w, kind, i+37, size)
		}
	}
	for i, size := range large {
		for _, kind := range []string{"random", "words", "same", "mixed"} {
			check(w, kind, i, size)
		}
	}
}

func check(w *bufio.Writer, kind string, seed, size int) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(input(kind, seed, size))
	z.Flush()
	z.Close()
	fmt.Fprintf(w, "%s %d %d %d %08x\n", kind, seed, size, packed.Len(), crc32.ChecksumIEEE(packed.Bytes()))
}
