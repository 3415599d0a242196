// Measures how long go-cty takes to decode and encode the object in a folder (`object.msgpack`, `type.json`). Arguments:
// the folder, and how often. Prints nanoseconds as JSON.
package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

func main() {
	packed, err := os.ReadFile(filepath.Join(os.Args[1], "object.msgpack"))
	check(err)
	description, err := os.ReadFile(filepath.Join(os.Args[1], "type.json"))
	check(err)
	ty, err := ctyjson.UnmarshalType(description)
	check(err)
	runs, err := strconv.Atoi(os.Args[2])
	check(err)
	var encode, decode []int64
	for range runs {
		var value cty.Value
		decode = append(decode, took(func() (err error) { value, err = msgpack.Unmarshal(packed, ty); return }))
		encode = append(encode, took(func() error { _, err := msgpack.Marshal(value, ty); return err }))
	}
	check(json.NewEncoder(os.Stdout).Encode(map[string][]int64{"encode": encode, "decode": decode}))
}

func took(work func() error) int64 {
	start := time.Now()
	check(work())
	return time.Since(start).Nanoseconds()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
