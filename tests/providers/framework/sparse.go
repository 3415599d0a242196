package framework

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// setter is a state, or what is listed instead of one.
type setter interface {
	SetAttribute(context.Context, path.Path, any) diag.Diagnostics
}

var _ setter = &tfsdk.State{}

// setSparse sets the few attributes that old states and listings have; the others stay null.
func setSparse(ctx context.Context, target setter, model thingModel) diag.Diagnostics {
	var diags diag.Diagnostics
	diags.Append(target.SetAttribute(ctx, path.Root("id"), model.ID)...)
	diags.Append(target.SetAttribute(ctx, path.Root("name"), model.Name)...)
	diags.Append(target.SetAttribute(ctx, path.Root("size"), model.Size)...)
	diags.Append(target.SetAttribute(ctx, path.Root("zone"), model.Zone)...)
	if !model.Status.IsNull() {
		diags.Append(target.SetAttribute(ctx, path.Root("status"), model.Status)...)
	}
	return diags
}

// textMap is a map of texts as a value.
func textMap(from map[string]any) types.Map {
	elements := map[string]attr.Value{}
	for name, value := range from {
		text, _ := value.(string)
		elements[name] = types.StringValue(text)
	}
	return types.MapValueMust(types.StringType, elements)
}

// known is a planned value in which every unknown text has become a text, and every other unknown value null.
func known(planned tftypes.Value) tftypes.Value {
	result, err := tftypes.Transform(planned, func(_ *tftypes.AttributePath, value tftypes.Value) (tftypes.Value, error) {
		switch {
		case value.IsKnown():
			return value, nil
		case value.Type().Is(tftypes.String):
			return tftypes.NewValue(tftypes.String, "computed"), nil
		}
		return tftypes.NewValue(value.Type(), nil), nil
	})
	if err != nil {
		return planned
	}
	return result
}
