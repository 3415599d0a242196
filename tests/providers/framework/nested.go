package framework

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"groma.dev/fixtures/world"
)

// nested is a resource with nested attributes of every kind, in each other and in blocks. Only protocol 6 has them.
type nested struct {
	name string
}

// part is what lies inside each nesting. Sets cannot hold write-only attributes.
func part(inSet bool) map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		"name":     schema.StringAttribute{Required: true},
		"kind":     schema.StringAttribute{Optional: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
		"secret":   schema.StringAttribute{Optional: true, Sensitive: true},
		"defaults": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("by default")},
	}
	if !inSet {
		attributes["secret_wo"] = schema.StringAttribute{Optional: true, WriteOnly: true}
		attributes["computed"] = schema.StringAttribute{Computed: true}
	}
	return attributes
}

func (n *nested) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = n.name
}

func (n *nested) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	object, inSet := schema.NestedAttributeObject{Attributes: part(false)}, schema.NestedAttributeObject{Attributes: part(true)}
	// Blocks can hold nested attributes, but nothing computed, which this provider would have to fill in.
	block := schema.NestedBlockObject{
		Attributes: map[string]schema.Attribute{"inner": schema.SingleNestedAttribute{Optional: true, Attributes: map[string]schema.Attribute{
			"text": schema.StringAttribute{Optional: true},
		}}},
		Blocks: map[string]schema.Block{"deep": schema.SetNestedBlock{NestedObject: schema.NestedBlockObject{
			Attributes: map[string]schema.Attribute{"text": schema.StringAttribute{Optional: true}},
		}}},
	}
	resp.Schema = schema.Schema{
		Attributes: map[string]schema.Attribute{
			"id":       schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
			"single":   schema.SingleNestedAttribute{Optional: true, Attributes: part(false)},
			"in_order": schema.ListNestedAttribute{Optional: true, NestedObject: object},
			"distinct": schema.SetNestedAttribute{Optional: true, NestedObject: inSet},
			"by_name":  schema.MapNestedAttribute{Optional: true, NestedObject: object},
			"hidden":   schema.SingleNestedAttribute{Optional: true, Sensitive: true, Attributes: map[string]schema.Attribute{"text": schema.StringAttribute{Optional: true}}},
			"written":  schema.SingleNestedAttribute{Optional: true, WriteOnly: true, Attributes: map[string]schema.Attribute{"text": schema.StringAttribute{Optional: true, WriteOnly: true}}},
			"deep": schema.MapNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"rows": schema.ListNestedAttribute{Optional: true, NestedObject: object},
			}}},
			"made": schema.ListNestedAttribute{Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"text": schema.StringAttribute{Computed: true},
			}}},
		},
		Blocks: map[string]schema.Block{
			"block_list":   schema.ListNestedBlock{NestedObject: block},
			"block_set":    schema.SetNestedBlock{NestedObject: block},
			"block_single": schema.SingleNestedBlock{Attributes: block.Attributes, Blocks: block.Blocks},
		},
	}
}

func (n *nested) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	resp.State.Raw = known(req.Plan.Raw)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), world.NewID())...)
	made := map[string]attr.Type{"text": types.StringType}
	row := types.ObjectValueMust(made, map[string]attr.Value{"text": types.StringValue("made by the provider")})
	rows := types.ListValueMust(types.ObjectType{AttrTypes: made}, []attr.Value{row})
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("made"), rows)...)
}

func (n *nested) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (n *nested) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var made types.List
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("made"), &made)...)
	resp.State.Raw = known(req.Plan.Raw)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("made"), made)...)
}

func (n *nested) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

func (n *nested) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
