package framework

import (
	"context"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"groma.dev/fixtures/cue"
)

// begin plays what a step begins with; false if that failed.
func begin(ctx context.Context, cues cue.Cues, step string, diags *diag.Diagnostics) bool {
	if err := cues.Begin(ctx, step); err != nil {
		diags.AddError("Interrupted", err.Error())
		return false
	}
	return true
}

// fail is the error of a step, at the attribute that the cue `error_at` names (`disk.0.size`, `tags.owner`).
func fail(cues cue.Cues, step string, diags *diag.Diagnostics) {
	const summary = "Failed on cue"
	detail := "The configuration asked for an error in " + step + "."
	if at := cues["error_at"]; at != "" {
		diags.AddAttributeError(attributePath(at), summary, detail)
		return
	}
	diags.AddError(summary, detail)
}

// warn is the warning that the cue `warning` asks for.
func warn(cues cue.Cues, diags *diag.Diagnostics) {
	text := cues["warning"]
	if text == "" {
		return
	}
	const detail = "The configuration asked for a warning."
	if at := cues["error_at"]; at != "" {
		diags.AddAttributeWarning(attributePath(at), text, detail)
		return
	}
	diags.AddWarning(text, detail)
}

func attributePath(text string) path.Path {
	parts := strings.Split(text, ".")
	result := path.Root(parts[0])
	for index, part := range parts[1:] {
		number, err := strconv.Atoi(part)
		switch previous := parts[index]; {
		case err == nil:
			result = result.AtListIndex(number)
		case previous == "tags" || previous == "cues" || previous == "by_name":
			result = result.AtMapKey(part)
		default:
			result = result.AtName(part)
		}
	}
	return result
}
