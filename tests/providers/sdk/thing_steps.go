package sdk

import (
	"context"
	"errors"
	"strconv"

	"github.com/hashicorp/go-cty/cty"
	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"groma.dev/fixtures/cue"
	"groma.dev/fixtures/world"
)

// drifting are the attributes that live in the world.
var drifting = []string{"name", "size", "zone", "tags"}

func planThing(ctx context.Context, diff *schema.ResourceDiff, _ any) error {
	cues := cuesOf(diff)
	if err := cues.Begin(ctx, "plan"); err != nil {
		return err
	}
	if cues.On("plan_error") {
		return errors.New("failed on cue: the configuration asked for an error in plan")
	}
	if diff.Id() == "" {
		return nil
	}
	if cues.On("replace") && diff.HasChange("size") {
		if err := diff.ForceNew("size"); err != nil {
			return err
		}
	}
	for _, name := range diff.GetChangedKeysPrefix("") {
		// What is only written looks changed in every plan.
		if name != "password_wo" {
			return diff.SetNewComputed("etag")
		}
	}
	return nil
}

func createThing(ctx context.Context, data *schema.ResourceData, meta any) diag.Diagnostics {
	cues := cuesOf(data)
	if err := cues.Begin(ctx, "create"); err != nil {
		return diag.FromErr(err)
	}
	if cues["create_error"] == "none" {
		return failure(cues, "create")
	}
	data.SetId(world.NewID())
	if err := write(data, meta, cues); err != nil {
		return diag.FromErr(err)
	}
	switch {
	case cues["create_error"] == "orphan":
		data.SetId("")
		return failure(cues, "create")
	case cues.On("create_error"):
		return append(warnings(cues), failure(cues, "create")...)
	}
	return warnings(cues)
}

func readThing(ctx context.Context, data *schema.ResourceData, meta any) diag.Diagnostics {
	cues := cuesOf(data)
	if err := cues.Begin(ctx, "read"); err != nil {
		return diag.FromErr(err)
	}
	if cues.On("read_error") {
		return failure(cues, "read")
	}
	if cues.On("gone") {
		data.SetId("")
		return nil
	}
	place := meta.(*configured).world
	if !place.Exists() {
		return setIdentity(data)
	}
	object, found, err := place.Look(thingType, data.Id())
	if err != nil {
		return diag.FromErr(err)
	}
	if !found {
		data.SetId("")
		return nil
	}
	for _, name := range drifting {
		if err := data.Set(name, object.Attributes[name]); err != nil {
			return diag.FromErr(err)
		}
	}
	if err := data.Set("status", object.Status()); err != nil {
		return diag.FromErr(err)
	}
	return setIdentity(data)
}

func updateThing(ctx context.Context, data *schema.ResourceData, meta any) diag.Diagnostics {
	cues := cuesOf(data)
	if err := cues.Begin(ctx, "update"); err != nil {
		data.Partial(true)
		return diag.FromErr(err)
	}
	if cues["update_error"] == "before" {
		// Partial makes the library keep the state as it was.
		data.Partial(true)
		return failure(cues, "update")
	}
	if err := write(data, meta, cues); err != nil {
		return diag.FromErr(err)
	}
	if cues.On("update_error") {
		return failure(cues, "update")
	}
	return warnings(cues)
}

func deleteThing(ctx context.Context, data *schema.ResourceData, meta any) diag.Diagnostics {
	cues := cuesOf(data)
	if err := cues.Begin(ctx, "delete"); err != nil {
		return diag.FromErr(err)
	}
	if cues.On("delete_error") && cues["delete_error"] != "late" {
		return failure(cues, "delete")
	}
	if err := meta.(*configured).world.Remove(thingType, data.Id()); err != nil {
		return diag.FromErr(err)
	}
	if cues.On("delete_error") {
		return failure(cues, "delete")
	}
	return nil
}

// write puts the object into the world and what the provider computes into the state.
func write(data *schema.ResourceData, meta any, cues cue.Cues) error {
	object := world.Object{ID: data.Id(), Type: thingType, ReadyAfter: cues.Number("ready_after"), Attributes: map[string]any{}}
	for _, name := range drifting {
		object.Attributes[name] = data.Get(name)
	}
	if cues.On("inconsistent") {
		object.Attributes["size"] = data.Get("size").(int) + 1
	}
	if err := meta.(*configured).world.Put(object); err != nil {
		return err
	}
	computed := map[string]any{
		"size":   object.Attributes["size"],
		"status": object.Status(),
		"etag":   world.NewID(),
		"module": moduleOf(data),
		"disk":   withSerials(data),
	}
	if password, ok := rawString(data, "password_wo"); ok {
		computed["password_length"] = len(password)
	}
	for name, value := range computed {
		if err := data.Set(name, value); err != nil {
			return err
		}
	}
	identity, err := data.Identity()
	if err != nil {
		return err
	}
	return identity.Set("id", data.Id())
}

func setIdentity(data *schema.ResourceData) diag.Diagnostics {
	identity, err := data.Identity()
	if err == nil {
		err = identity.Set("id", data.Id())
	}
	return diag.FromErr(err)
}

// withSerials gives every disk the serial number that the provider makes up.
func withSerials(data *schema.ResourceData) []any {
	disks := data.Get("disk").([]any)
	for index, disk := range disks {
		if fields, ok := disk.(map[string]any); ok {
			fields["serial"] = data.Id() + "-" + strconv.Itoa(index)
		}
	}
	return disks
}

// rawString reads a write-only attribute, which only the raw configuration has.
func rawString(data *schema.ResourceData, name string) (string, bool) {
	value, found := data.GetRawConfigAt(cty.GetAttrPath(name))
	if found.HasError() || value.IsNull() || !value.IsKnown() {
		return "", false
	}
	return value.AsString(), true
}

// moduleOf is what the module said about itself in provider_meta.
func moduleOf(data *schema.ResourceData) string {
	var meta struct {
		Module string `cty:"module"`
	}
	if err := data.GetProviderMeta(&meta); err != nil {
		return ""
	}
	return meta.Module
}
