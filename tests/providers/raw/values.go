package raw

import "github.com/hashicorp/terraform-plugin-go/tftypes"

// with replaces the attributes of an object; null and unknown objects stay as they are.
func with(object tftypes.Value, replace func(string, tftypes.Value) tftypes.Value) tftypes.Value {
	var fields map[string]tftypes.Value
	if object.IsNull() || !object.IsKnown() || object.As(&fields) != nil {
		return object
	}
	for name, value := range fields {
		fields[name] = replace(name, value)
	}
	return tftypes.NewValue(object.Type(), fields)
}

// withoutWriteOnly is what may be in a plan.
func withoutWriteOnly(object tftypes.Value) tftypes.Value {
	return with(object, func(name string, value tftypes.Value) tftypes.Value {
		if name == "value_wo" {
			return tftypes.NewValue(value.Type(), nil)
		}
		return value
	})
}

// emptyOf is an object as an empty configuration gives it: null attributes, no blocks.
func emptyOf(kind tftypes.Object) tftypes.Value {
	fields := map[string]tftypes.Value{}
	for name, attribute := range kind.AttributeTypes {
		switch inner := attribute.(type) {
		case tftypes.Object:
			fields[name] = tftypes.NewValue(inner, nil)
			if name == "group" {
				fields[name] = emptyOf(inner)
			}
		case tftypes.List, tftypes.Set:
			fields[name] = tftypes.NewValue(inner, nil)
			if name == "few" || name == "several" {
				fields[name] = tftypes.NewValue(inner, []tftypes.Value{})
			}
		case tftypes.Map:
			fields[name] = tftypes.NewValue(inner, nil)
			if name == "named" {
				fields[name] = tftypes.NewValue(inner, map[string]tftypes.Value{})
			}
		default:
			fields[name] = tftypes.NewValue(attribute, nil)
		}
	}
	return tftypes.NewValue(kind, fields)
}
