package raw

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

var point = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"x": tftypes.Number, "y": tftypes.Number}}

// rawSchema has what libraries cannot declare: blocks that are maps and groups, tuples, limits on blocks.
func rawSchema() *tfprotov6.Schema {
	inner := func() *tfprotov6.SchemaBlock {
		return &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
			{Name: "text", Type: tftypes.String, Optional: true},
			{Name: "given", Type: tftypes.String, Optional: true, Computed: true},
		}}
	}
	return &tfprotov6.Schema{Version: 1, Block: &tfprotov6.SchemaBlock{
		Version:         1,
		Description:     "Answers what it is told to answer.",
		DescriptionKind: tfprotov6.StringKindPlain,
		Attributes: []*tfprotov6.SchemaAttribute{
			{Name: "id", Type: tftypes.String, Computed: true},
			{Name: "value", Type: tftypes.String, Optional: true},
			{Name: "number", Type: tftypes.Number, Optional: true},
			{Name: "made", Type: tftypes.String, Computed: true},
			{Name: "chosen", Type: tftypes.String, Optional: true, Computed: true},
			{Name: "value_wo", Type: tftypes.String, Optional: true, WriteOnly: true},
			{Name: "anything", Type: tftypes.DynamicPseudoType, Optional: true},
			{Name: "pair", Type: tftypes.Tuple{ElementTypes: []tftypes.Type{tftypes.String, tftypes.Number}}, Optional: true},
			{Name: "point", Type: point, Optional: true},
			{Name: "old", Type: tftypes.String, Optional: true, Deprecated: true, Description: "*Old*.", DescriptionKind: tfprotov6.StringKindMarkdown},
			{Name: "answers", Type: tftypes.Map{ElementType: tftypes.String}, Optional: true},
		},
		BlockTypes: []*tfprotov6.SchemaNestedBlock{
			{TypeName: "group", Nesting: tfprotov6.SchemaNestedBlockNestingModeGroup, Block: inner()},
			{TypeName: "named", Nesting: tfprotov6.SchemaNestedBlockNestingModeMap, Block: inner()},
			{TypeName: "few", Nesting: tfprotov6.SchemaNestedBlockNestingModeList, Block: inner(), MaxItems: 2},
			{TypeName: "one", Nesting: tfprotov6.SchemaNestedBlockNestingModeSingle, Block: inner()},
			{TypeName: "several", Nesting: tfprotov6.SchemaNestedBlockNestingModeSet, Block: inner()},
		},
	}}
}

// wideSchema has as many attributes as asked for.
func wideSchema(width int) *tfprotov6.Schema {
	types := []tftypes.Type{
		tftypes.String, tftypes.Number, tftypes.Bool, tftypes.List{ElementType: tftypes.String},
		tftypes.Map{ElementType: tftypes.Set{ElementType: point}},
	}
	attributes := []*tfprotov6.SchemaAttribute{
		{Name: "id", Type: tftypes.String, Computed: true},
		{Name: "answers", Type: tftypes.Map{ElementType: tftypes.String}, Optional: true},
	}
	for index := range width {
		attributes = append(attributes, &tfprotov6.SchemaAttribute{
			Name: fmt.Sprintf("attribute_%05d", index), Type: types[index%len(types)], Optional: true,
			Description: fmt.Sprintf("The attribute number %d, which does what attributes do.", index),
		})
	}
	return &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: attributes}}
}
