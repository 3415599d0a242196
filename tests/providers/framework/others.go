package framework

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// lookup finds a thing.
type lookup struct {
	name string
	meta *configured
}

func (l *lookup) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = l.name
}

func (l *lookup) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	l.meta, _ = req.ProviderData.(*configured)
}

func (l *lookup) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id":     schema.StringAttribute{Required: true},
		"name":   schema.StringAttribute{Computed: true},
		"status": schema.StringAttribute{Computed: true},
		"cues":   schema.MapAttribute{Optional: true, ElementType: types.StringType},
	}}
}

// ValidateConfig plays the cue `validate_error`.
func (l *lookup) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	var own types.Map
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("cues"), &own)...)
	if cues := cuesOf(own); cues.On("validate_error") {
		fail(cues, "validate", &resp.Diagnostics)
	}
}

func (l *lookup) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model struct {
		ID     types.String `tfsdk:"id"`
		Name   types.String `tfsdk:"name"`
		Status types.String `tfsdk:"status"`
		Cues   types.Map    `tfsdk:"cues"`
	}
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	cues := cuesOf(model.Cues)
	if resp.Diagnostics.HasError() || !begin(ctx, cues, "read", &resp.Diagnostics) {
		return
	}
	if cues.On("read_error") {
		fail(cues, "read", &resp.Diagnostics)
		return
	}
	if cues.On("defer") && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &datasource.Deferred{Reason: datasource.DeferredReasonAbsentPrereq}
		return
	}
	object, found, err := l.meta.world.Look(l.name, model.ID.ValueString())
	if err != nil || !found {
		resp.Diagnostics.AddAttributeError(path.Root("id"), "There is no such thing", model.ID.ValueString())
		return
	}
	name, _ := object.Attributes["name"].(string)
	model.Name, model.Status = types.StringValue(name), types.StringValue(object.Status())
	warn(cues, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
}

// large returns as many megabytes as it is asked for: half as one text, half as a list of maps.
type large struct {
	name string
}

func (b *large) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = b.name
}

func (b *large) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"megabytes": schema.Int64Attribute{Required: true},
		"blob":      schema.StringAttribute{Computed: true},
		"rows":      schema.ListAttribute{Computed: true, ElementType: types.MapType{ElemType: types.StringType}},
	}}
}

func (b *large) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var megabytes int
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("megabytes"), &megabytes)...)
	half := megabytes << 19
	rows := make([]map[string]string, half/1024)
	for index := range rows {
		rows[index] = map[string]string{"text": strings.Repeat("r", 1000)}
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("megabytes"), megabytes)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("rows"), rows)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("blob"), strings.Repeat("b", half))...)
}

// lister lists the things in the world.
type lister struct {
	name string
	meta *configured
}

func (l *lister) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = l.name
}

func (l *lister) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	l.meta, _ = req.ProviderData.(*configured)
}

func (l *lister) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = listschema.Schema{Attributes: map[string]listschema.Attribute{
		"prefix": listschema.StringAttribute{Optional: true, Description: "What names begin with."},
		"cues":   listschema.MapAttribute{Optional: true, ElementType: types.StringType},
	}}
}

func (l *lister) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var model struct {
		Prefix types.String `tfsdk:"prefix"`
		Cues   types.Map    `tfsdk:"cues"`
	}
	diags := req.Config.Get(ctx, &model)
	cues := cuesOf(model.Cues)
	if !diags.HasError() && begin(ctx, cues, "list", &diags) && cues.On("list_error") {
		fail(cues, "list", &diags)
	}
	objects, err := l.meta.world.List(l.name)
	if err != nil {
		diags.AddError("Cannot list the world", err.Error())
	}
	if diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	stream.Results = func(push func(list.ListResult) bool) {
		for _, object := range objects {
			var found thingModel
			drift(object, &found)
			if !strings.HasPrefix(found.Name.ValueString(), model.Prefix.ValueString()) {
				continue
			}
			found.ID = types.StringValue(object.ID)
			result := req.NewListResult(ctx)
			result.DisplayName = found.Name.ValueString()
			result.Diagnostics.Append(result.Identity.Set(ctx, identityModel{ID: found.ID})...)
			if req.IncludeResource {
				result.Diagnostics.Append(setSparse(ctx, result.Resource, found)...)
			}
			if !push(result) {
				return
			}
		}
	}
}
