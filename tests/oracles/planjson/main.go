// Command planjson reads the JSON of a plan from standard input as programs around Terraform do, with the library that is made for that,
// and says what it has understood: a line for each change of a resource, with its actions and whether the old object goes first.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(err)
	}
	var plan tfjson.Plan
	if err := plan.UnmarshalJSON(text); err != nil {
		fail(err)
	}
	for _, resource := range plan.ResourceChanges {
		var actions []string
		for _, action := range resource.Change.Actions {
			actions = append(actions, string(action))
		}
		fmt.Printf("%s %s %t\n", resource.Address, strings.Join(actions, ","), resource.Change.Actions.DestroyBeforeCreate())
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
