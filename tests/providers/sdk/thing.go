package sdk

import (
	"time"

	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
)

const thingType = "fixsdk_thing"

// thing is a resource that does what its cues say.
func thing() *schema.Resource {
	return &schema.Resource{
		Description:    "An object in the world.",
		SchemaVersion:  2,
		StateUpgraders: thingUpgraders(),
		SchemaFunc:     thingSchema,
		Identity:       thingIdentity(),
		CreateContext:  createThing,
		ReadContext:    readThing,
		UpdateContext:  updateThing,
		DeleteContext:  deleteThing,
		CustomizeDiff:  planThing,
		Importer:       &schema.ResourceImporter{StateContext: importThing},
		Timeouts: &schema.ResourceTimeout{
			Create: schema.DefaultTimeout(10 * time.Minute),
			Delete: schema.DefaultTimeout(10 * time.Minute),
		},
	}
}

func thingSchema() map[string]*schema.Schema {
	text := &schema.Schema{Type: schema.TypeString}
	return map[string]*schema.Schema{
		"name":                {Type: schema.TypeString, Required: true, Description: "What it is called."},
		"size":                {Type: schema.TypeInt, Optional: true, Default: 1},
		"zone":                {Type: schema.TypeString, Optional: true, ForceNew: true},
		"enabled":             {Type: schema.TypeBool, Optional: true},
		"ratio":               {Type: schema.TypeFloat, Optional: true},
		"note":                {Type: schema.TypeString, Optional: true, Deprecated: "use tags"},
		"tags":                {Type: schema.TypeMap, Optional: true, Elem: text},
		"labels":              {Type: schema.TypeSet, Optional: true, Elem: text},
		"sequence":            {Type: schema.TypeList, Optional: true, Elem: text},
		"secret":              {Type: schema.TypeString, Optional: true, Sensitive: true},
		"password_wo":         {Type: schema.TypeString, Optional: true, WriteOnly: true},
		"password_wo_version": {Type: schema.TypeInt, Optional: true},
		"password_length":     {Type: schema.TypeInt, Computed: true},
		"status":              {Type: schema.TypeString, Computed: true},
		"etag":                {Type: schema.TypeString, Computed: true},
		"module":              {Type: schema.TypeString, Computed: true, Description: "What provider_meta said."},
		"cues":                {Type: schema.TypeMap, Optional: true, Elem: text},
		"disk": {
			Type: schema.TypeList, Optional: true,
			Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"size":   {Type: schema.TypeInt, Required: true},
				"kind":   {Type: schema.TypeString, Optional: true, ForceNew: true},
				"serial": {Type: schema.TypeString, Computed: true},
			}},
		},
		"port": {
			Type: schema.TypeSet, Optional: true,
			Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"number":   {Type: schema.TypeInt, Required: true},
				"protocol": {Type: schema.TypeString, Optional: true, Default: "tcp"},
			}},
		},
		"settings": {
			Type: schema.TypeList, Optional: true, MaxItems: 1,
			Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"mode":  {Type: schema.TypeString, Optional: true},
				"token": {Type: schema.TypeString, Optional: true, Sensitive: true},
			}},
		},
	}
}
