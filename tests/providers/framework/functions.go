package framework

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// call is a function given by its definition and its body.
type call struct {
	name       string
	definition function.Definition
	body       func(context.Context, function.RunRequest, *function.RunResponse)
}

func (c *call) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = c.name
}

func (c *call) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = c.definition
}

func (c *call) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	c.body(ctx, req, resp)
}

func functions() []func() function.Function {
	var result []func() function.Function
	for _, c := range []*call{echo(), join(), sum(), isNull(), maybe(), failing(), slow(), area(), nothing()} {
		result = append(result, func() function.Function { return c })
	}
	return result
}

func echo() *call {
	return &call{"echo", function.Definition{
		Summary: "Returns its argument", Description: "Whatever its type is.",
		Parameters: []function.Parameter{function.DynamicParameter{Name: "value", AllowNullValue: true}},
		Return:     function.DynamicReturn{},
	}, func(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
		var value types.Dynamic
		if resp.Error = req.Arguments.Get(ctx, &value); resp.Error == nil {
			resp.Error = resp.Result.Set(ctx, value)
		}
	}}
}

func join() *call {
	return &call{"join", function.Definition{
		Summary: "Joins texts", MarkdownDescription: "Any *number* of them.",
		Parameters:        []function.Parameter{function.StringParameter{Name: "separator", Description: "What comes between."}},
		VariadicParameter: function.StringParameter{Name: "texts"},
		Return:            function.StringReturn{},
	}, func(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
		var separator string
		var texts []string
		if resp.Error = req.Arguments.Get(ctx, &separator, &texts); resp.Error == nil {
			resp.Error = resp.Result.Set(ctx, strings.Join(texts, separator))
		}
	}}
}

func sum() *call {
	return &call{"sum", function.Definition{
		Summary:           "Adds numbers",
		VariadicParameter: function.NumberParameter{Name: "numbers"},
		Return:            function.NumberReturn{},
	}, func(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
		var numbers []*big.Float
		if resp.Error = req.Arguments.Get(ctx, &numbers); resp.Error != nil {
			return
		}
		total := new(big.Float).SetPrec(512)
		for _, number := range numbers {
			total.Add(total, number)
		}
		resp.Error = resp.Result.Set(ctx, total)
	}}
}

func isNull() *call {
	return &call{"is_null", function.Definition{
		Summary:    "Tells whether its argument is null",
		Parameters: []function.Parameter{function.StringParameter{Name: "value", AllowNullValue: true}},
		Return:     function.BoolReturn{},
	}, func(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
		var value *string
		if resp.Error = req.Arguments.Get(ctx, &value); resp.Error == nil {
			resp.Error = resp.Result.Set(ctx, value == nil)
		}
	}}
}

func maybe() *call {
	return &call{"maybe", function.Definition{
		Summary:    "Says whether its argument is known, already in the plan",
		Parameters: []function.Parameter{function.StringParameter{Name: "value", AllowUnknownValues: true}},
		Return:     function.StringReturn{},
	}, func(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
		var value types.String
		if resp.Error = req.Arguments.Get(ctx, &value); resp.Error != nil {
			return
		}
		text := "known"
		if value.IsUnknown() {
			text = "unknown"
		}
		resp.Error = resp.Result.Set(ctx, text)
	}}
}

func failing() *call {
	return &call{"fail", function.Definition{
		Summary: "Fails, because of the argument that it is told",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "message"},
			function.Int64Parameter{Name: "argument", AllowNullValue: true},
		},
		Return:             function.StringReturn{},
		DeprecationMessage: "Do not fail.",
	}, func(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
		var message string
		var argument *int64
		if resp.Error = req.Arguments.Get(ctx, &message, &argument); resp.Error != nil {
			return
		}
		if argument == nil {
			resp.Error = function.NewFuncError(message)
			return
		}
		resp.Error = function.NewArgumentFuncError(*argument, message)
	}}
}

func slow() *call {
	return &call{"slow", function.Definition{
		Summary:    "Takes its time",
		Parameters: []function.Parameter{function.StringParameter{Name: "duration"}},
		Return:     function.StringReturn{},
	}, func(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
		var text string
		if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
			return
		}
		duration, err := time.ParseDuration(text)
		if err != nil {
			resp.Error = function.NewArgumentFuncError(0, err.Error())
			return
		}
		time.Sleep(duration)
		resp.Error = resp.Result.Set(ctx, fmt.Sprintf("after %s", duration))
	}}
}

func area() *call {
	return &call{"area", function.Definition{
		Summary:    "Adds the area to a shape",
		Parameters: []function.Parameter{function.ObjectParameter{Name: "shape", AttributeTypes: shapeType}},
		Return:     function.MapReturn{ElementType: types.NumberType},
	}, func(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
		var shape struct {
			Width  *big.Float `tfsdk:"width"`
			Height *big.Float `tfsdk:"height"`
		}
		if resp.Error = req.Arguments.Get(ctx, &shape); resp.Error != nil {
			return
		}
		result := map[string]*big.Float{"width": shape.Width, "height": shape.Height, "area": new(big.Float).Mul(shape.Width, shape.Height)}
		resp.Error = resp.Result.Set(ctx, result)
	}}
}

func nothing() *call {
	return &call{"nothing", function.Definition{
		Summary: "Returns null, and takes nothing",
		Return:  function.StringReturn{},
	}, func(ctx context.Context, _ function.RunRequest, resp *function.RunResponse) {
		resp.Error = resp.Result.Set(ctx, types.StringNull())
	}}
}
