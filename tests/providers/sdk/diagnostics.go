package sdk

import (
	"strconv"
	"strings"

	"github.com/hashicorp/go-cty/cty"
	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"

	"groma.dev/fixtures/cue"
)

// failure is the error of a step, at the attribute that the cue `error_at` names (`disk.0.size`, `tags.owner`).
func failure(cues cue.Cues, step string) diag.Diagnostics {
	return diag.Diagnostics{{
		Severity:      diag.Error,
		Summary:       "Failed on cue",
		Detail:        "The configuration asked for an error in " + step + ".",
		AttributePath: attributePath(cues["error_at"]),
	}}
}

// warnings is the warning that the cue `warning` asks for.
func warnings(cues cue.Cues) diag.Diagnostics {
	if cues["warning"] == "" {
		return nil
	}
	return diag.Diagnostics{{
		Severity:      diag.Warning,
		Summary:       cues["warning"],
		Detail:        "The configuration asked for a warning.",
		AttributePath: attributePath(cues["error_at"]),
	}}
}

func attributePath(text string) cty.Path {
	if text == "" {
		return nil
	}
	var path cty.Path
	previous := ""
	for _, part := range strings.Split(text, ".") {
		number, err := strconv.Atoi(part)
		switch {
		case err == nil:
			path = path.IndexInt(number)
		case previous == "tags" || previous == "cues":
			path = path.IndexString(part)
		default:
			path = path.GetAttr(part)
		}
		previous = part
	}
	return path
}
