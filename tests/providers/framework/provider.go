// Package framework is a provider on terraform-plugin-framework. It is a plugin of its own on protocol 6, and, with
// what protocol 5 can express, the second half of the plugin that the package sdk begins.
package framework

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/metaschema"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"groma.dev/fixtures/cue"
	"groma.dev/fixtures/world"
)

// Fixture is the provider.
type Fixture struct {
	// Prefix is the name of the provider, with which its types begin.
	Prefix string
	// Modern is the suffix of the main resource: beside the SDK's things it needs a name of its own.
	Modern string
	// Nested adds what only protocol 6 has.
	Nested bool
}

// configured is what resources get from the provider's configuration.
type configured struct {
	world world.World
}

type providerModel struct {
	World types.String `tfsdk:"world"`
	Token types.String `tfsdk:"token"`
	Cues  types.Map    `tfsdk:"cues"`
	Retry types.List   `tfsdk:"retry"`
}

// Metadata names the provider.
func (f *Fixture) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = f.Prefix
	resp.Version = "0.1.0"
}

// Schema must be the same as that of the package sdk.
func (f *Fixture) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		Attributes: map[string]schema.Attribute{
			"world": schema.StringAttribute{Optional: true, Description: "Folder of the objects."},
			"token": schema.StringAttribute{Optional: true, Sensitive: true},
			"cues":  schema.MapAttribute{Optional: true, ElementType: types.StringType},
		},
		Blocks: map[string]schema.Block{
			"retry": schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{
				Attributes: map[string]schema.Attribute{"attempts": schema.NumberAttribute{Optional: true}},
			}},
		},
	}
}

// MetaSchema is the schema of provider_meta.
func (f *Fixture) MetaSchema(_ context.Context, _ provider.MetaSchemaRequest, resp *provider.MetaSchemaResponse) {
	resp.Schema = metaschema.Schema{Attributes: map[string]metaschema.Attribute{
		"module": metaschema.StringAttribute{Optional: true},
	}}
}

// Configure plays the provider's cues.
func (f *Fixture) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var model providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	cues := cuesOf(model.Cues)
	if !begin(ctx, cues, "configure", &resp.Diagnostics) {
		return
	}
	if text := cues["configure_warning"]; text != "" {
		resp.Diagnostics.AddWarning(text, "The configuration asked for a warning.")
	}
	if cues.On("configure_error") {
		fail(cues, "configure", &resp.Diagnostics)
		return
	}
	if req.ClientCapabilities.DeferralAllowed && (model.World.IsUnknown() || cues.On("defer")) {
		resp.Deferred = &provider.Deferred{Reason: provider.DeferredReasonProviderConfigUnknown}
	}
	data := &configured{world: world.Open(model.World.ValueString())}
	resp.ResourceData, resp.DataSourceData, resp.EphemeralResourceData, resp.ListResourceData = data, data, data, data
}

// Resources are the resource types.
func (f *Fixture) Resources(context.Context) []func() resource.Resource {
	resources := []func() resource.Resource{func() resource.Resource { return &thing{name: f.Prefix + "_" + f.Modern} }}
	if f.Nested {
		resources = append(resources, func() resource.Resource { return &nested{name: f.Prefix + "_nested"} })
	}
	return resources
}

// DataSources are the data sources.
func (f *Fixture) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		func() datasource.DataSource { return &lookup{name: f.Prefix + "_" + f.Modern} },
		func() datasource.DataSource { return &large{name: f.Prefix + "_large"} },
	}
}

// EphemeralResources are the ephemeral resource types.
func (f *Fixture) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{
		func() ephemeral.EphemeralResource { return &token{name: f.Prefix + "_token"} },
	}
}

// ListResources are the types that can be listed.
func (f *Fixture) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{func() list.ListResource { return &lister{name: f.Prefix + "_" + f.Modern} }}
}

// Functions are the functions.
func (f *Fixture) Functions(context.Context) []func() function.Function {
	return functions()
}

// cuesOf reads the attribute `cues`; unknown ones are left out.
func cuesOf(value types.Map) cue.Cues {
	own := map[string]string{}
	for name, element := range value.Elements() {
		if text, ok := element.(types.String); ok && !text.IsUnknown() && !text.IsNull() {
			own[name] = text.ValueString()
		}
	}
	return cue.Of(own)
}
