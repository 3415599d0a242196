package sdk

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hashicorp/go-cty/cty"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
)

// thingUpgraders read the states of two older schemas: version 0 called the name `label` and had the size as a text,
// version 1 called the zone `region`.
func thingUpgraders() []schema.StateUpgrader {
	zero := cty.Object(map[string]cty.Type{"id": cty.String, "label": cty.String, "size": cty.String, "region": cty.String})
	one := cty.Object(map[string]cty.Type{"id": cty.String, "name": cty.String, "size": cty.Number, "region": cty.String})
	return []schema.StateUpgrader{
		{Version: 0, Type: zero, Upgrade: func(_ context.Context, state map[string]any, _ any) (map[string]any, error) {
			if state["label"] == "fail" {
				return nil, fmt.Errorf("failed on cue: state upgrade from version 0")
			}
			state["name"] = state["label"]
			delete(state, "label")
			text, _ := state["size"].(string)
			size, err := strconv.Atoi(text)
			state["size"] = size
			return state, err
		}},
		{Version: 1, Type: one, Upgrade: func(_ context.Context, state map[string]any, _ any) (map[string]any, error) {
			state["zone"] = state["region"]
			delete(state, "region")
			return state, nil
		}},
	}
}

// thingIdentity is at version 1; version 0 called the identifier `thing_id`.
func thingIdentity() *schema.ResourceIdentity {
	return &schema.ResourceIdentity{
		Version: 1,
		SchemaFunc: func() map[string]*schema.Schema {
			return map[string]*schema.Schema{
				"id":    {Type: schema.TypeString, RequiredForImport: true, Description: "Identifier in the world."},
				"world": {Type: schema.TypeString, OptionalForImport: true},
			}
		},
		IdentityUpgraders: []schema.IdentityUpgrader{{
			Version: 0,
			Type:    tftypes.Object{AttributeTypes: map[string]tftypes.Type{"thing_id": tftypes.String}},
			Upgrade: func(_ context.Context, identity map[string]any, _ any) (map[string]any, error) {
				return map[string]any{"id": identity["thing_id"]}, nil
			},
		}},
	}
}

// importThing imports by identifier or by identity. The identifiers `fail`, `two` and `nothing` are cues.
func importThing(_ context.Context, data *schema.ResourceData, meta any) ([]*schema.ResourceData, error) {
	if data.Id() == "" {
		identity, err := data.Identity()
		if err != nil {
			return nil, err
		}
		id, ok := identity.Get("id").(string)
		if !ok || id == "" {
			return nil, fmt.Errorf("the identity has no id")
		}
		data.SetId(id)
	}
	switch data.Id() {
	case "fail":
		return nil, fmt.Errorf("failed on cue: import")
	case "nothing":
		return nil, nil
	case "two":
		other := legacy().Data(nil)
		other.SetType("fixsdk_legacy")
		other.SetId("two-other")
		return []*schema.ResourceData{data, other}, nil
	}
	if place := meta.(*configured).world; place.Exists() {
		if _, found, err := place.Get(thingType, data.Id()); err != nil || !found {
			return nil, fmt.Errorf("there is no thing %q (%v)", data.Id(), err)
		}
	}
	return []*schema.ResourceData{data}, nil
}
