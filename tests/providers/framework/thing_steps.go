package framework

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"groma.dev/fixtures/cue"
	"groma.dev/fixtures/world"
)

var shapeType = map[string]attr.Type{"width": types.NumberType, "height": types.NumberType}

// ValidateConfig plays the cue `validate_error`.
func (t *thing) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var own types.Map
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("cues"), &own)...)
	cues := cuesOf(own)
	if begin(ctx, cues, "validate", &resp.Diagnostics) && cues.On("validate_error") {
		fail(cues, "validate", &resp.Diagnostics)
	}
}

// ModifyPlan plays the cues of the plan, of destruction as well.
func (t *thing) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	source := tfsdk.State{Raw: req.Plan.Raw, Schema: req.Plan.Schema}
	step := "plan"
	if req.Plan.Raw.IsNull() {
		source, step = req.State, "plan_destroy"
	}
	var own types.Map
	resp.Diagnostics.Append(source.GetAttribute(ctx, path.Root("cues"), &own)...)
	cues := cuesOf(own)
	if !begin(ctx, cues, step, &resp.Diagnostics) {
		return
	}
	if cues.On(step + "_error") {
		fail(cues, step, &resp.Diagnostics)
		return
	}
	if cues.On("defer") && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &resource.Deferred{Reason: resource.DeferredReasonAbsentPrereq}
	}
	if step == "plan_destroy" {
		return
	}
	if cues.On("replace") {
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root("size"))
	}
	if cues.On("plan_invalid") {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("name"), "not what was configured")...)
	}
	if text := cues["plan_warning"]; text != "" {
		resp.Diagnostics.AddWarning(text, "The configuration asked for a warning.")
	}
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, "planned", []byte(`{"by":"fixture"}`))...)
}

func (t *thing) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var model thingModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	cues := cuesOf(model.Cues)
	if resp.Diagnostics.HasError() || !begin(ctx, cues, "create", &resp.Diagnostics) {
		return
	}
	if cues["create_error"] == "none" {
		fail(cues, "create", &resp.Diagnostics)
		return
	}
	model.ID = types.StringValue(world.NewID())
	t.write(ctx, &model, applied{req.Config, req.ProviderMeta}, cues, &resp.Diagnostics)
	if cues["create_error"] == "orphan" {
		fail(cues, "create", &resp.Diagnostics)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identityModel{ID: model.ID})...)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, "created", []byte(`{"writes":1}`))...)
	warn(cues, &resp.Diagnostics)
	if cues.On("create_error") {
		fail(cues, "create", &resp.Diagnostics)
	}
}

func (t *thing) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var model thingModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	cues := cuesOf(model.Cues)
	if resp.Diagnostics.HasError() || !begin(ctx, cues, "read", &resp.Diagnostics) {
		return
	}
	switch {
	case cues.On("read_error"):
		fail(cues, "read", &resp.Diagnostics)
		return
	case cues.On("gone"):
		resp.State.RemoveResource(ctx)
		return
	case cues["defer"] == "read" && req.ClientCapabilities.DeferralAllowed:
		resp.Deferred = &resource.Deferred{Reason: resource.DeferredReasonAbsentPrereq}
		return
	}
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identityModel{ID: model.ID})...)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, "read", []byte(`true`))...)
	if !t.meta.world.Exists() {
		return
	}
	object, found, err := t.meta.world.Look(t.name, model.ID.ValueString())
	if err != nil {
		resp.Diagnostics.AddError("Cannot read the world", err.Error())
		return
	}
	if !found {
		resp.State.RemoveResource(ctx)
		return
	}
	drift(object, &model)
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
}

func (t *thing) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var model thingModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	cues := cuesOf(model.Cues)
	if resp.Diagnostics.HasError() || !begin(ctx, cues, "update", &resp.Diagnostics) {
		return
	}
	if cues["update_error"] == "before" {
		fail(cues, "update", &resp.Diagnostics)
		return
	}
	t.write(ctx, &model, applied{req.Config, req.ProviderMeta}, cues, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
	warn(cues, &resp.Diagnostics)
	if cues.On("update_error") {
		fail(cues, "update", &resp.Diagnostics)
	}
}

func (t *thing) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var model thingModel
	resp.Diagnostics.Append(req.State.Get(ctx, &model)...)
	cues := cuesOf(model.Cues)
	if resp.Diagnostics.HasError() || !begin(ctx, cues, "delete", &resp.Diagnostics) {
		return
	}
	if cues.On("delete_error") && cues["delete_error"] != "late" {
		fail(cues, "delete", &resp.Diagnostics)
		return
	}
	if err := t.meta.world.Remove(t.name, model.ID.ValueString()); err != nil {
		resp.Diagnostics.AddError("Cannot delete", err.Error())
	}
	if cues.On("delete_error") {
		fail(cues, "delete", &resp.Diagnostics)
	}
}

// applied is what an apply has beside the plan.
type applied struct {
	config tfsdk.Config
	meta   tfsdk.Config
}

// write puts the object into the world and fills in what the provider computes.
func (t *thing) write(ctx context.Context, model *thingModel, from applied, cues cue.Cues, diags *diag.Diagnostics) {
	if cues.On("inconsistent") {
		model.Size = types.Int64Value(model.Size.ValueInt64() + 1)
	}
	object := world.Object{ID: model.ID.ValueString(), Type: t.name, ReadyAfter: cues.Number("ready_after"), Attributes: attributes(model)}
	if err := t.meta.world.Put(object); err != nil {
		diags.AddError("Cannot write the world", err.Error())
	}
	var password types.String
	diags.Append(from.config.GetAttribute(ctx, path.Root("password_wo"), &password)...)
	var module types.String
	if from.meta.Schema != nil && !from.meta.Raw.IsNull() {
		diags.Append(from.meta.GetAttribute(ctx, path.Root("module"), &module)...)
	}
	model.PasswordWO = types.StringNull()
	if password.IsNull() {
		if model.PasswordLength.IsUnknown() {
			model.PasswordLength = types.Int64Null()
		}
	} else {
		model.PasswordLength = types.Int64Value(int64(len(password.ValueString())))
	}
	model.Module = module
	model.Status = types.StringValue(object.Status())
	model.Etag = types.StringValue(world.NewID())
	for index := range model.Disk {
		model.Disk[index].Serial = types.StringValue(object.ID + "-" + strconv.Itoa(index))
	}
}
