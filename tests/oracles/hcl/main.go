// Command hcl is the oracle for groma-syntax: it shows what the Go implementation makes of a text.
//
//	hcl tokens|template-tokens|ast|template|expr|diags|format|json-diags FILE...
//
// Every file gives one line of JSON, in the order of the arguments. The same questions to groma-syntax are answered by
// `cargo run -p groma-syntax --example dump`.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	hcljson "github.com/hashicorp/hcl/v2/json"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: hcl tokens|template-tokens|ast|template|expr|diags|format|json-diags FILE...")
		os.Exit(2)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for _, name := range os.Args[2:] {
		source, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.Encode(answer(os.Args[1], source))
	}
}

func answer(question string, source []byte) any {
	start := hcl.Pos{Line: 1, Column: 1}
	switch question {
	case "tokens":
		tokens, _ := hclsyntax.LexConfig(source, "", start)
		return tokenList(tokens)
	case "template-tokens":
		tokens, _ := hclsyntax.LexTemplate(source, "", start)
		return tokenList(tokens)
	case "format":
		return string(hclwrite.Format(source))
	case "template":
		e, diags := hclsyntax.ParseTemplate(source, "", start)
		return expressionOrNull(e, diags)
	case "expr":
		e, diags := hclsyntax.ParseExpression(source, "", start)
		return expressionOrNull(e, diags)
	case "json-diags":
		_, diags := hcljson.Parse(source, "")
		return diagnosticList(diags)
	}
	file, diags := hclsyntax.ParseConfig(source, "", start)
	if question == "diags" {
		return diagnosticList(diags)
	}
	if diags.HasErrors() {
		return nil
	}
	return body(file.Body.(*hclsyntax.Body))
}

func expressionOrNull(e hclsyntax.Expression, diags hcl.Diagnostics) any {
	if diags.HasErrors() {
		return nil
	}
	return expression(e)
}

func tokenList(tokens hclsyntax.Tokens) []any {
	list := []any{}
	for _, token := range tokens {
		list = append(list, []any{token.Type.String(), token.Range.Start.Byte, token.Range.End.Byte})
	}
	return list
}

func diagnosticList(diags hcl.Diagnostics) []any {
	list := []any{}
	for _, diag := range diags {
		list = append(list, []any{diag.Subject.Start.Line, diag.Summary, diag.Subject.Start.Byte, diag.Subject.End.Byte})
	}
	return list
}
