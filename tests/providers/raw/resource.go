package raw

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func (s *server) ValidateResourceConfig(_ context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	config, err := req.Config.Unmarshal(s.typeOf(req.TypeName))
	if err != nil {
		return nil, err
	}
	return &tfprotov6.ValidateResourceConfigResponse{Diagnostics: answersOf(config, "validate").diagnostics()}, nil
}

func (s *server) UpgradeResourceState(_ context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	options := tfprotov6.UnmarshalOpts{ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true}}
	state, err := req.RawState.UnmarshalWithOpts(s.typeOf(req.TypeName), options)
	if err != nil {
		return nil, err
	}
	told := answersOf(state, "upgrade")
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: told.encode(state), Diagnostics: told.diagnostics()}, nil
}

func (s *server) ReadResource(_ context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	state, err := req.CurrentState.Unmarshal(s.typeOf(req.TypeName))
	if err != nil {
		return nil, err
	}
	told := answersOf(state, "read")
	return &tfprotov6.ReadResourceResponse{
		NewState: told.encode(state), Private: told.private(req.Private), Diagnostics: told.diagnostics(), Deferred: told.deferred(),
	}, nil
}

func (s *server) PlanResourceChange(_ context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	kind := s.typeOf(req.TypeName)
	prior, err := req.PriorState.Unmarshal(kind)
	if err != nil {
		return nil, err
	}
	proposed, err := req.ProposedNewState.Unmarshal(kind)
	if err != nil {
		return nil, err
	}
	step, subject := "plan", proposed
	if proposed.IsNull() {
		step, subject = "plan_destroy", prior
	}
	told := answersOf(subject, step)
	planned := proposed
	if prior.IsNull() {
		planned = with(proposed, func(name string, value tftypes.Value) tftypes.Value {
			if value.IsNull() && (name == "id" || name == "made" || name == "chosen") {
				return tftypes.NewValue(value.Type(), tftypes.UnknownValue)
			}
			return value
		})
	}
	return &tfprotov6.PlanResourceChangeResponse{
		PlannedState: told.encode(withoutWriteOnly(planned)), PlannedPrivate: told.private(req.PriorPrivate), Diagnostics: told.diagnostics(),
		RequiresReplace: told.replaced(), UnsafeToUseLegacyTypeSystem: told.has("legacy"), Deferred: told.deferred(),
	}, nil
}

func (s *server) ApplyResourceChange(_ context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	kind := s.typeOf(req.TypeName)
	planned, err := req.PlannedState.Unmarshal(kind)
	if err != nil {
		return nil, err
	}
	step, subject := "apply", planned
	if planned.IsNull() {
		step = "destroy"
		if subject, err = req.PriorState.Unmarshal(kind); err != nil {
			return nil, err
		}
	}
	told := answersOf(subject, step)
	created := with(planned, func(name string, value tftypes.Value) tftypes.Value {
		if value.IsKnown() {
			return value
		}
		return tftypes.NewValue(tftypes.String, name+"-"+newID())
	})
	return &tfprotov6.ApplyResourceChangeResponse{
		NewState: told.encode(created), Private: told.private(req.PlannedPrivate), Diagnostics: told.diagnostics(),
		UnsafeToUseLegacyTypeSystem: told.has("legacy"),
	}, nil
}

func (s *server) ImportResourceState(_ context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	kind := s.typeOf(req.TypeName)
	empty := emptyOf(kind.(tftypes.Object))
	state := with(empty, func(name string, value tftypes.Value) tftypes.Value {
		if name == "id" {
			return tftypes.NewValue(tftypes.String, req.ID)
		}
		return value
	})
	// The identifier is what an import has for a cue: `null`, `unknown+error`, ...
	told := newAnswers(req.ID)
	imported := &tfprotov6.ImportedResource{TypeName: req.TypeName, State: told.encode(state), Private: told.private(nil)}
	if told.has("other_type") {
		imported.TypeName = "no_such_type"
	}
	return &tfprotov6.ImportResourceStateResponse{
		ImportedResources: []*tfprotov6.ImportedResource{imported}, Diagnostics: told.diagnostics(), Deferred: told.deferred(),
	}, nil
}

func (s *server) MoveResourceState(_ context.Context, req *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	detail := fmt.Sprintf("%s cannot become %s.", req.SourceTypeName, req.TargetTypeName)
	return &tfprotov6.MoveResourceStateResponse{Diagnostics: []*tfprotov6.Diagnostic{
		{Severity: tfprotov6.DiagnosticSeverityError, Summary: "Unsupported move", Detail: detail},
	}}, nil
}

func (s *server) UpgradeResourceIdentity(context.Context, *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	return &tfprotov6.UpgradeResourceIdentityResponse{}, nil
}

func (s *server) GenerateResourceConfig(_ context.Context, req *tfprotov6.GenerateResourceConfigRequest) (*tfprotov6.GenerateResourceConfigResponse, error) {
	state, err := req.State.Unmarshal(s.typeOf(req.TypeName))
	if err != nil {
		return nil, err
	}
	told := answersOf(state, "generate")
	config := with(state, func(name string, value tftypes.Value) tftypes.Value {
		if name == "id" || name == "made" {
			return tftypes.NewValue(value.Type(), nil)
		}
		return value
	})
	return &tfprotov6.GenerateResourceConfigResponse{Config: told.encode(config), Diagnostics: told.diagnostics()}, nil
}

func newID() string {
	bytes := make([]byte, 6)
	_, _ = rand.Read(bytes)
	return hex.EncodeToString(bytes)
}
