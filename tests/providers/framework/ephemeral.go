package framework

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"groma.dev/fixtures/cue"
	"groma.dev/fixtures/world"
)

const tokenKey = "token"

// token is an ephemeral resource; while it is open, it is an object in the world.
type token struct {
	name string
	meta *configured
}

// issued is what a token remembers in its private data.
type issued struct {
	ID       string            `json:"id"`
	Renewals int               `json:"renewals"`
	Cues     map[string]string `json:"cues"`
}

func (t *token) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = t.name
}

func (t *token) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	t.meta, _ = req.ProviderData.(*configured)
}

func (t *token) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"name":  schema.StringAttribute{Required: true},
		"value": schema.StringAttribute{Computed: true, Sensitive: true},
		"cues":  schema.MapAttribute{Optional: true, ElementType: types.StringType},
	}}
}

// ValidateConfig plays the cue `validate_error`.
func (t *token) ValidateConfig(ctx context.Context, req ephemeral.ValidateConfigRequest, resp *ephemeral.ValidateConfigResponse) {
	var own types.Map
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("cues"), &own)...)
	if cues := cuesOf(own); cues.On("validate_error") {
		fail(cues, "validate", &resp.Diagnostics)
	}
}

func (t *token) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model struct {
		Name  types.String `tfsdk:"name"`
		Value types.String `tfsdk:"value"`
		Cues  types.Map    `tfsdk:"cues"`
	}
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	cues := cuesOf(model.Cues)
	if resp.Diagnostics.HasError() || !begin(ctx, cues, "open", &resp.Diagnostics) {
		return
	}
	if cues.On("open_error") {
		fail(cues, "open", &resp.Diagnostics)
		return
	}
	if cues.On("defer") && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &ephemeral.Deferred{Reason: ephemeral.DeferredReasonAbsentPrereq}
		return
	}
	private := issued{ID: world.NewID(), Cues: cues}
	resp.RenewAt = renewAt(cues)
	model.Value = types.StringValue("token-" + private.ID)
	resp.Diagnostics.Append(resp.Result.Set(ctx, model)...)
	t.remember(private, &resp.Diagnostics)
	warn(cues, &resp.Diagnostics)
	if bytes, err := json.Marshal(private); err == nil {
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, tokenKey, bytes)...)
	}
}

func (t *token) Renew(ctx context.Context, req ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	bytes, diags := req.Private.GetKey(ctx, tokenKey)
	resp.Diagnostics.Append(diags...)
	private := recall(bytes, &resp.Diagnostics)
	cues := cue.Cues(private.Cues)
	if resp.Diagnostics.HasError() || !begin(ctx, cues, "renew", &resp.Diagnostics) {
		return
	}
	if cues.On("renew_error") {
		fail(cues, "renew", &resp.Diagnostics)
		return
	}
	private.Renewals++
	t.remember(private, &resp.Diagnostics)
	resp.RenewAt = renewAt(cues)
	if bytes, err := json.Marshal(private); err == nil {
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, tokenKey, bytes)...)
	}
}

func (t *token) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	bytes, diags := req.Private.GetKey(ctx, tokenKey)
	resp.Diagnostics.Append(diags...)
	private := recall(bytes, &resp.Diagnostics)
	cues := cue.Cues(private.Cues)
	if resp.Diagnostics.HasError() || !begin(ctx, cues, "close", &resp.Diagnostics) {
		return
	}
	if cues.On("close_error") {
		fail(cues, "close", &resp.Diagnostics)
		return
	}
	if err := t.meta.world.Remove(t.name, private.ID); err != nil {
		resp.Diagnostics.AddError("Cannot close", err.Error())
	}
}

// remember shows an open token in the world.
func (t *token) remember(private issued, diags *diag.Diagnostics) {
	object := world.Object{ID: private.ID, Type: t.name, Attributes: map[string]any{"renewals": private.Renewals}}
	if err := t.meta.world.Put(object); err != nil {
		diags.AddError("Cannot write the world", err.Error())
	}
}

func recall(bytes []byte, diags *diag.Diagnostics) issued {
	var private issued
	if err := json.Unmarshal(bytes, &private); err != nil {
		diags.AddError("The private data is not what it was", err.Error())
	}
	return private
}

// renewAt is when the cue `renew_after` wants the token to be renewed.
func renewAt(cues cue.Cues) time.Time {
	after, err := time.ParseDuration(cues["renew_after"])
	if err != nil {
		return time.Time{}
	}
	return time.Now().Add(after)
}
