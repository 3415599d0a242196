package framework

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"groma.dev/fixtures/world"
)

type identityModel struct {
	ID    types.String `tfsdk:"id"`
	World types.String `tfsdk:"world"`
}

// IdentitySchema is at version 1; version 0 called the identifier `thing_id`.
func (t *thing) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Version: 1,
		Attributes: map[string]identityschema.Attribute{
			"id":    identityschema.StringAttribute{RequiredForImport: true, Description: "Identifier in the world."},
			"world": identityschema.StringAttribute{OptionalForImport: true},
		},
	}
}

// UpgradeIdentity reads identities of version 0.
func (t *thing) UpgradeIdentity(context.Context) map[int64]resource.IdentityUpgrader {
	return map[int64]resource.IdentityUpgrader{0: {
		PriorSchema: &identityschema.Schema{Attributes: map[string]identityschema.Attribute{
			"thing_id": identityschema.StringAttribute{RequiredForImport: true},
		}},
		IdentityUpgrader: func(ctx context.Context, req resource.UpgradeIdentityRequest, resp *resource.UpgradeIdentityResponse) {
			var id types.String
			resp.Diagnostics.Append(req.Identity.GetAttribute(ctx, path.Root("thing_id"), &id)...)
			resp.Diagnostics.Append(resp.Identity.Set(ctx, identityModel{ID: id})...)
		},
	}}
}

// ImportState imports by identifier or by identity. The identifiers `fail` and `defer` are cues.
func (t *thing) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	switch req.ID {
	case "fail":
		resp.Diagnostics.AddError("Failed on cue", "The configuration asked for an error in import.")
		return
	case "defer":
		if req.ClientCapabilities.DeferralAllowed {
			resp.Deferred = &resource.Deferred{Reason: resource.DeferredReasonAbsentPrereq}
			return
		}
	}
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("id"), path.Root("id"), req, resp)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, "imported", []byte(`true`))...)
}

// UpgradeState reads the states of two older schemas: version 0 called the name `label` and had the size as a text,
// version 1 called the zone `region`.
func (t *thing) UpgradeState(context.Context) map[int64]resource.StateUpgrader {
	text := schema.StringAttribute{Optional: true}
	number := schema.Int64Attribute{Optional: true}
	zero := schema.Schema{Attributes: map[string]schema.Attribute{"id": text, "label": text, "size": text, "region": text}}
	one := schema.Schema{Attributes: map[string]schema.Attribute{"id": text, "name": text, "size": number, "region": text}}
	return map[int64]resource.StateUpgrader{
		0: {PriorSchema: &zero, StateUpgrader: upgradeZero},
		1: {PriorSchema: &one, StateUpgrader: upgradeOne},
	}
}

func upgradeZero(ctx context.Context, req resource.UpgradeStateRequest, resp *resource.UpgradeStateResponse) {
	var old struct {
		ID     types.String `tfsdk:"id"`
		Label  types.String `tfsdk:"label"`
		Size   types.String `tfsdk:"size"`
		Region types.String `tfsdk:"region"`
	}
	resp.Diagnostics.Append(req.State.Get(ctx, &old)...)
	size, err := strconv.ParseInt(old.Size.ValueString(), 10, 64)
	if err != nil || old.Label.ValueString() == "fail" {
		resp.Diagnostics.AddAttributeError(path.Root("size"), "Failed on cue", "State upgrade from version 0.")
		return
	}
	model := thingModel{ID: old.ID, Name: old.Label, Size: types.Int64Value(size), Zone: old.Region}
	// An upgrade begins without any value.
	resp.State.Raw = tftypes.NewValue(resp.State.Schema.Type().TerraformType(ctx), nil)
	resp.Diagnostics.Append(setSparse(ctx, &resp.State, model)...)
}

func upgradeOne(ctx context.Context, req resource.UpgradeStateRequest, resp *resource.UpgradeStateResponse) {
	var old struct {
		ID     types.String `tfsdk:"id"`
		Name   types.String `tfsdk:"name"`
		Size   types.Int64  `tfsdk:"size"`
		Region types.String `tfsdk:"region"`
	}
	resp.Diagnostics.Append(req.State.Get(ctx, &old)...)
	model := thingModel{ID: old.ID, Name: old.Name, Size: old.Size, Zone: old.Region}
	// An upgrade begins without any value.
	resp.State.Raw = tftypes.NewValue(resp.State.Schema.Type().TerraformType(ctx), nil)
	resp.Diagnostics.Append(setSparse(ctx, &resp.State, model)...)
}

// MoveState takes over the state of any type whose provider is a fixture or is terraform_data.
func (t *thing) MoveState(context.Context) []resource.StateMover {
	return []resource.StateMover{{StateMover: func(ctx context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse) {
		var old map[string]any
		if req.SourceRawState == nil || json.Unmarshal(req.SourceRawState.JSON, &old) != nil {
			return
		}
		id, _ := old["id"].(string)
		name, _ := old["name"].(string)
		switch {
		case req.SourceTypeName == "terraform_data":
			name, _ = old["input"].(string)
		case name == "":
			// Not ours: the framework says so.
			return
		}
		if name == "fail" {
			resp.Diagnostics.AddError("Failed on cue", "The configuration asked for an error in move.")
			return
		}
		model := thingModel{ID: types.StringValue(id), Name: types.StringValue(name), Size: types.Int64Value(1)}
		resp.Diagnostics.Append(setSparse(ctx, &resp.TargetState, model)...)
		if resp.TargetIdentity != nil {
			resp.Diagnostics.Append(resp.TargetIdentity.Set(ctx, identityModel{ID: model.ID})...)
		}
		resp.Diagnostics.Append(resp.TargetPrivate.SetKey(ctx, "moved", []byte(`true`))...)
	}}}
}

// attributes are those that live in the world.
func attributes(model *thingModel) map[string]any {
	tags := map[string]any{}
	for name, value := range model.Tags.Elements() {
		if text, ok := value.(types.String); ok {
			tags[name] = text.ValueString()
		}
	}
	result := map[string]any{"name": model.Name.ValueString(), "size": model.Size.ValueInt64()}
	if !model.Zone.IsNull() {
		result["zone"] = model.Zone.ValueString()
	}
	if !model.Tags.IsNull() {
		result["tags"] = tags
	}
	return result
}

// drift overwrites a model by what the world has.
func drift(object world.Object, model *thingModel) {
	if name, ok := object.Attributes["name"].(string); ok {
		model.Name = types.StringValue(name)
	}
	if size, ok := object.Attributes["size"].(float64); ok {
		model.Size = types.Int64Value(int64(size))
	}
	model.Zone = types.StringNull()
	if zone, ok := object.Attributes["zone"].(string); ok {
		model.Zone = types.StringValue(zone)
	}
	model.Tags = types.MapNull(types.StringType)
	if tags, ok := object.Attributes["tags"].(map[string]any); ok {
		model.Tags = textMap(tags)
	}
	model.Status = types.StringValue(object.Status())
}
