package main

import (
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A node is [kind, start, end, children...].
type node []any

func body(b *hclsyntax.Body) any {
	attributes := make([]*hclsyntax.Attribute, 0, len(b.Attributes))
	for _, attribute := range b.Attributes {
		attributes = append(attributes, attribute)
	}
	sort.Slice(attributes, func(i, j int) bool {
		return attributes[i].SrcRange.Start.Byte < attributes[j].SrcRange.Start.Byte
	})
	result := node{"body", b.SrcRange.Start.Byte, b.SrcRange.End.Byte}
	for _, attribute := range attributes {
		result = append(result, at("attribute", attribute.SrcRange, attribute.Name, expression(attribute.Expr)))
	}
	for _, block := range b.Blocks {
		item := at("block", block.Range(), block.Type)
		for i, label := range block.Labels {
			item = append(item, at("label", block.LabelRanges[i], label))
		}
		result = append(result, append(item, body(block.Body)))
	}
	return result
}

func at(kind string, where hcl.Range, rest ...any) node {
	return append(node{kind, where.Start.Byte, where.End.Byte}, rest...)
}

func expression(e hclsyntax.Expression) any {
	where := e.Range()
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		return at("literal", where, value(e.Val))
	case *hclsyntax.TemplateExpr:
		return at("template", where, expressions(e.Parts)...)
	case *hclsyntax.TemplateWrapExpr:
		return at("wrap", where, expression(e.Wrapped))
	case *hclsyntax.TemplateJoinExpr:
		return at("join", where, expression(e.Tuple))
	case *hclsyntax.ScopeTraversalExpr:
		return at("traversal", where, steps(e.Traversal)...)
	case *hclsyntax.RelativeTraversalExpr:
		return append(at("relative", where, expression(e.Source)), steps(e.Traversal)...)
	case *hclsyntax.IndexExpr:
		return at("index", where, expression(e.Collection), expression(e.Key))
	case *hclsyntax.SplatExpr:
		return at("splat", where, expression(e.Source), expression(e.Each))
	case *hclsyntax.AnonSymbolExpr:
		return at("item", where)
	case *hclsyntax.FunctionCallExpr:
		return append(at("call", where, e.Name, e.ExpandFinal), expressions(e.Args)...)
	case *hclsyntax.ConditionalExpr:
		return at("conditional", where, expression(e.Condition), expression(e.TrueResult), expression(e.FalseResult))
	case *hclsyntax.UnaryOpExpr:
		return at("unary", where, e.Op == hclsyntax.OpNegate, expression(e.Val))
	case *hclsyntax.BinaryOpExpr:
		return at("binary", where, operators[e.Op], expression(e.LHS), expression(e.RHS))
	case *hclsyntax.TupleConsExpr:
		return at("tuple", where, expressions(e.Exprs)...)
	case *hclsyntax.ObjectConsExpr:
		result := at("object", where)
		for _, item := range e.Items {
			result = append(result, expression(item.KeyExpr), expression(item.ValueExpr))
		}
		return result
	case *hclsyntax.ObjectConsKeyExpr:
		return expression(e.Wrapped)
	case *hclsyntax.ForExpr:
		return at("for", where, e.KeyVar, e.ValVar, expression(e.CollExpr), optional(e.KeyExpr), expression(e.ValExpr), optional(e.CondExpr), e.Group)
	case *hclsyntax.ParenthesesExpr:
		return at("parens", where, expression(e.Expression))
	}
	return at("unknown", where)
}

func optional(e hclsyntax.Expression) any {
	if e == nil {
		return nil
	}
	return expression(e)
}

func expressions(list []hclsyntax.Expression) []any {
	result := make([]any, 0, len(list))
	for _, e := range list {
		result = append(result, expression(e))
	}
	return result
}

func steps(traversal hcl.Traversal) []any {
	result := []any{}
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			result = append(result, at("root", step.SrcRange, step.Name))
		case hcl.TraverseAttr:
			result = append(result, at("attr", step.SrcRange, step.Name))
		case hcl.TraverseIndex:
			result = append(result, at("key", step.SrcRange, value(step.Key)))
		}
	}
	return result
}

func value(v cty.Value) any {
	switch {
	case !v.IsKnown():
		return "?"
	case v.IsNull():
		return nil
	case v.Type() == cty.Bool:
		return v.True()
	case v.Type() == cty.String:
		return "s" + v.AsString()
	}
	return "n" + v.AsBigFloat().Text('f', -1)
}

var operators = map[*hclsyntax.Operation]string{
	hclsyntax.OpLogicalOr: "||", hclsyntax.OpLogicalAnd: "&&", hclsyntax.OpEqual: "==", hclsyntax.OpNotEqual: "!=",
	hclsyntax.OpGreaterThan: ">", hclsyntax.OpGreaterThanOrEqual: ">=", hclsyntax.OpLessThan: "<",
	hclsyntax.OpLessThanOrEqual: "<=", hclsyntax.OpAdd: "+", hclsyntax.OpSubtract: "-", hclsyntax.OpMultiply: "*",
	hclsyntax.OpDivide: "/", hclsyntax.OpModulo: "%",
}
