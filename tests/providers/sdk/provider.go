// Package sdk is a provider on terraform-plugin-sdk/v2, with all the habits that this library has: the legacy type
// system, blocks instead of nested attributes, timeouts in private data.
package sdk

import (
	"context"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"groma.dev/fixtures/cue"
	"groma.dev/fixtures/world"
)

// configured is what resources get from the provider's configuration.
type configured struct {
	world world.World
}

// New makes the provider.
func New() *schema.Provider {
	return &schema.Provider{
		// The framework's part of the same plugin must have the same schema, to the letter.
		Schema: map[string]*schema.Schema{
			"world": {Type: schema.TypeString, Optional: true, Description: "Folder of the objects."},
			"token": {Type: schema.TypeString, Optional: true, Sensitive: true},
			"cues":  {Type: schema.TypeMap, Optional: true, Elem: &schema.Schema{Type: schema.TypeString}},
			"retry": {
				Type: schema.TypeList, Optional: true,
				Elem: &schema.Resource{Schema: map[string]*schema.Schema{
					"attempts": {Type: schema.TypeInt, Optional: true},
				}},
			},
		},
		ProviderMetaSchema: map[string]*schema.Schema{
			"module": {Type: schema.TypeString, Optional: true},
		},
		ResourcesMap: map[string]*schema.Resource{
			"fixsdk_thing":  thing(),
			"fixsdk_legacy": legacy(),
		},
		DataSourcesMap: map[string]*schema.Resource{
			"fixsdk_thing": thingData(),
			"fixsdk_big":   big(),
		},
		ConfigureProvider: configure,
	}
}

func configure(ctx context.Context, req schema.ConfigureProviderRequest, resp *schema.ConfigureProviderResponse) {
	cues := cuesOf(req.ResourceData)
	if err := cues.Begin(ctx, "configure"); err != nil {
		resp.Diagnostics = diag.FromErr(err)
		return
	}
	if text := cues["configure_warning"]; text != "" {
		resp.Diagnostics = append(resp.Diagnostics, diag.Diagnostic{Severity: diag.Warning, Summary: text})
	}
	if cues.On("configure_error") {
		resp.Diagnostics = append(resp.Diagnostics, failure(cues, "configure")...)
		return
	}
	unknown := !req.ResourceData.GetRawConfig().GetAttr("world").IsKnown()
	if req.DeferralAllowed && (unknown || cues.On("defer")) {
		resp.Deferred = &schema.Deferred{Reason: schema.DeferredReasonProviderConfigUnknown}
	}
	dir, _ := req.ResourceData.Get("world").(string)
	resp.Meta = &configured{world: world.Open(dir)}
}

// cuesOf reads the attribute `cues`.
func cuesOf(data interface{ Get(string) any }) cue.Cues {
	own := map[string]string{}
	values, _ := data.Get("cues").(map[string]any)
	for name, value := range values {
		own[name], _ = value.(string)
	}
	return cue.Of(own)
}
