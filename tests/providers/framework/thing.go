package framework

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// thing is a resource that does what its cues say.
type thing struct {
	name string
	meta *configured
}

type thingModel struct {
	ID              types.String  `tfsdk:"id"`
	Name            types.String  `tfsdk:"name"`
	Size            types.Int64   `tfsdk:"size"`
	Zone            types.String  `tfsdk:"zone"`
	Enabled         types.Bool    `tfsdk:"enabled"`
	Ratio           types.Float64 `tfsdk:"ratio"`
	Amount          types.Number  `tfsdk:"amount"`
	Note            types.String  `tfsdk:"note"`
	Tags            types.Map     `tfsdk:"tags"`
	Labels          types.Set     `tfsdk:"labels"`
	Sequence        types.List    `tfsdk:"sequence"`
	Shape           types.Object  `tfsdk:"shape"`
	Anything        types.Dynamic `tfsdk:"anything"`
	Secret          types.String  `tfsdk:"secret"`
	PasswordWO      types.String  `tfsdk:"password_wo"`
	PasswordVersion types.Int64   `tfsdk:"password_wo_version"`
	PasswordLength  types.Int64   `tfsdk:"password_length"`
	Status          types.String  `tfsdk:"status"`
	Etag            types.String  `tfsdk:"etag"`
	Module          types.String  `tfsdk:"module"`
	Cues            types.Map     `tfsdk:"cues"`
	Disk            []diskModel   `tfsdk:"disk"`
	Port            []portModel   `tfsdk:"port"`
	Settings        types.Object  `tfsdk:"settings"`
}

type diskModel struct {
	Size   types.Int64  `tfsdk:"size"`
	Kind   types.String `tfsdk:"kind"`
	Serial types.String `tfsdk:"serial"`
}

type portModel struct {
	Number   types.Int64  `tfsdk:"number"`
	Protocol types.String `tfsdk:"protocol"`
}

func (t *thing) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = t.name
}

func (t *thing) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	t.meta, _ = req.ProviderData.(*configured)
}

func (t *thing) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = thingSchema()
}

func thingSchema() schema.Schema {
	stable := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	return schema.Schema{
		Version:             2,
		MarkdownDescription: "An *object* in the world.",
		Attributes: map[string]schema.Attribute{
			"id":                  schema.StringAttribute{Computed: true, PlanModifiers: stable},
			"name":                schema.StringAttribute{Required: true, Description: "What it is called."},
			"size":                schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(1)},
			"zone":                schema.StringAttribute{Optional: true, PlanModifiers: replace},
			"enabled":             schema.BoolAttribute{Optional: true},
			"ratio":               schema.Float64Attribute{Optional: true},
			"amount":              schema.NumberAttribute{Optional: true},
			"note":                schema.StringAttribute{Optional: true, DeprecationMessage: "use tags"},
			"tags":                schema.MapAttribute{Optional: true, ElementType: types.StringType},
			"labels":              schema.SetAttribute{Optional: true, ElementType: types.StringType},
			"sequence":            schema.ListAttribute{Optional: true, ElementType: types.StringType},
			"shape":               schema.ObjectAttribute{Optional: true, AttributeTypes: shapeType},
			"anything":            schema.DynamicAttribute{Optional: true},
			"secret":              schema.StringAttribute{Optional: true, Sensitive: true},
			"password_wo":         schema.StringAttribute{Optional: true, Sensitive: true, WriteOnly: true},
			"password_wo_version": schema.Int64Attribute{Optional: true},
			"password_length":     schema.Int64Attribute{Computed: true},
			"status":              schema.StringAttribute{Computed: true},
			"etag":                schema.StringAttribute{Computed: true},
			"module":              schema.StringAttribute{Computed: true, Description: "What provider_meta said."},
			"cues":                schema.MapAttribute{Optional: true, ElementType: types.StringType},
		},
		Blocks: map[string]schema.Block{
			"disk": schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: map[string]schema.Attribute{
				"size":   schema.Int64Attribute{Required: true},
				"kind":   schema.StringAttribute{Optional: true, PlanModifiers: replace},
				"serial": schema.StringAttribute{Computed: true},
			}}},
			"port": schema.SetNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: map[string]schema.Attribute{
				"number":   schema.Int64Attribute{Required: true},
				"protocol": schema.StringAttribute{Optional: true},
			}}},
			"settings": schema.SingleNestedBlock{Attributes: map[string]schema.Attribute{
				"mode":  schema.StringAttribute{Optional: true},
				"token": schema.StringAttribute{Optional: true, Sensitive: true},
			}},
		},
	}
}
