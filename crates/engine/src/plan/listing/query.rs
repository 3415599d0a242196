//! What to ask a provider for, so that it lists objects of a kind.

use groma_model::convert::convert;
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::Provider;

/// A query for objects like this one. What must be given is taken from it; what may be given would only leave something out, unless the
/// provider says that its queries are configurations. None if something is missing, or there are no such queries.
pub(crate) fn query(provider: &dyn Provider, type_name: &Str, like: &Value) -> Option<Value> {
    let offered = provider.schema();
    let schema = offered.lists.get(type_name)?.get().ok()?;
    let whole = offered.capabilities.lists_by_configuration;
    let given = |name: &Str| {
        let value = like.as_entries()?.get(name)?;
        (value.is_wholly_known() && !value.is_null()).then(|| value.clone())
    };
    let empty = schema.block.empty_value();
    let mut query = Vec::new();
    for (name, nothing) in empty.as_entries()?.iter() {
        let must = is_required(schema, name);
        let value = given(name).filter(|_| must || whole).and_then(|value| convert(&value, &nothing.ty()).ok());
        if must && value.is_none() {
            return None;
        }
        query.push((name.clone(), value.unwrap_or_else(|| nothing.clone())));
    }
    Some(Value::object(query))
}

/// What a query cannot do without.
pub(crate) fn required(provider: &dyn Provider, type_name: &Str) -> Vec<Str> {
    let Some(schema) = provider.schema().lists.get(type_name).and_then(|schema| schema.get().ok()) else {
        return Vec::new();
    };
    schema.block.attributes.keys().filter(|name| is_required(schema, name)).cloned().collect()
}

fn is_required(schema: &Schema, name: &Str) -> bool {
    schema.block.attributes.get(name).is_some_and(|attribute| attribute.required)
        || schema.block.block_types.get(name).is_some_and(|nested| nested.min_items > 0)
}
