package sdk

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"groma.dev/fixtures/world"
)

// legacy is a resource as providers had them ten years ago: computed and optional lists, a set of numbers, values that
// the provider rewrites, a suppressed difference.
func legacy() *schema.Resource {
	ignoreCase := func(_, before, after string, _ *schema.ResourceData) bool { return strings.EqualFold(before, after) }
	return &schema.Resource{
		SchemaFunc: func() map[string]*schema.Schema {
			return map[string]*schema.Schema{
				"label":    {Type: schema.TypeString, Optional: true, DiffSuppressFunc: ignoreCase},
				"upper":    {Type: schema.TypeString, Optional: true, StateFunc: func(value any) string { return strings.ToUpper(value.(string)) }},
				"numbers":  {Type: schema.TypeSet, Optional: true, Elem: &schema.Schema{Type: schema.TypeInt}},
				"assigned": {Type: schema.TypeList, Optional: true, Computed: true, Elem: &schema.Schema{Type: schema.TypeString}},
				"rule": {
					Type: schema.TypeList, Optional: true, Computed: true, ConfigMode: schema.SchemaConfigModeAttr,
					Elem: &schema.Resource{Schema: map[string]*schema.Schema{"text": {Type: schema.TypeString, Optional: true}}},
				},
				"triggers": {Type: schema.TypeMap, Optional: true, ForceNew: true},
			}
		},
		CreateContext: func(_ context.Context, data *schema.ResourceData, _ any) diag.Diagnostics {
			data.SetId(world.NewID())
			given := map[string]any{"assigned": []string{"one", "two"}, "rule": []any{map[string]any{"text": "given"}}}
			for name, value := range given {
				if _, set := data.GetOk(name); set {
					continue
				}
				if err := data.Set(name, value); err != nil {
					return diag.FromErr(err)
				}
			}
			return nil
		},
		ReadContext:   schema.NoopContext,
		UpdateContext: schema.NoopContext,
		DeleteContext: schema.NoopContext,
		Importer:      &schema.ResourceImporter{StateContext: schema.ImportStatePassthroughContext},
	}
}

// thingData looks a thing up.
func thingData() *schema.Resource {
	return &schema.Resource{
		SchemaFunc: func() map[string]*schema.Schema {
			return map[string]*schema.Schema{
				"id":     {Type: schema.TypeString, Required: true},
				"name":   {Type: schema.TypeString, Computed: true},
				"status": {Type: schema.TypeString, Computed: true},
				"cues":   {Type: schema.TypeMap, Optional: true, Elem: &schema.Schema{Type: schema.TypeString}},
			}
		},
		ReadContext: func(ctx context.Context, data *schema.ResourceData, meta any) diag.Diagnostics {
			cues := cuesOf(data)
			if err := cues.Begin(ctx, "read"); err != nil {
				return diag.FromErr(err)
			}
			if cues.On("read_error") {
				return failure(cues, "read")
			}
			id := data.Get("id").(string)
			object, found, err := meta.(*configured).world.Look(thingType, id)
			if err != nil || !found {
				return diag.Errorf("there is no thing %q (%v)", id, err)
			}
			data.SetId(id)
			if err := data.Set("name", object.Attributes["name"]); err != nil {
				return diag.FromErr(err)
			}
			return append(warnings(cues), diag.FromErr(data.Set("status", object.Status()))...)
		},
	}
}

// big returns as many megabytes as it is asked for: half as one text, half as a list of maps.
func big() *schema.Resource {
	return &schema.Resource{
		SchemaFunc: func() map[string]*schema.Schema {
			return map[string]*schema.Schema{
				"megabytes": {Type: schema.TypeInt, Required: true},
				"blob":      {Type: schema.TypeString, Computed: true},
				"rows": {
					Type: schema.TypeList, Computed: true,
					Elem: &schema.Schema{Type: schema.TypeMap, Elem: &schema.Schema{Type: schema.TypeString}},
				},
			}
		},
		ReadContext: func(_ context.Context, data *schema.ResourceData, _ any) diag.Diagnostics {
			half := data.Get("megabytes").(int) << 19
			row := map[string]any{"text": strings.Repeat("r", 1000)}
			var rows []any
			for range half / 1024 {
				rows = append(rows, row)
			}
			data.SetId("big")
			if err := data.Set("rows", rows); err != nil {
				return diag.FromErr(err)
			}
			return diag.FromErr(data.Set("blob", strings.Repeat("b", half)))
		},
	}
}
