//! Objects of what is written: in all the views that rules have of them.
//!
//! In a new object, `(known after apply)` stands for a configured value that is not known yet, and `(generated)` for one that nobody has
//! configured and that the provider will choose.

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::{Path, PathStep};
use groma_model::schema::{Block, NestedBlock, Nesting, Schema};
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};

use super::{Trial, Written};

const OPEN: &str = "(known after apply)";
const GENERATED: &str = "(generated)";

/// An object as rules see it.
pub(super) struct Views {
    pub(super) old: Value,
    pub(super) update: Value,
    pub(super) new: Value,
    pub(super) config: Value,
    pub(super) replace_paths: Vec<Path>,
}

impl Trial {
    pub(super) fn views(&self, schema: Option<&Schema>) -> Result<Views, Diagnostics> {
        let null = |_: &Path| Value::null(Type::Dynamic);
        let open = |_: &Path| Value::dynamic();
        // What nobody has configured stays as it is, as far as an update is concerned.
        let as_before = |path: &Path| at(&self.old.value, path).unwrap_or_else(|| Value::null(Type::Dynamic));
        let update = self.update.as_ref().unwrap_or(&self.new);
        let shaped = |written: &Written, generated: &dyn Fn(&Path) -> Value| shape(written, generated, schema);
        let old = shaped(&self.old, &open)?;
        let (new, config) = (shaped(&self.new, &open)?, shaped(&self.new, &null)?);
        let update = shaped(update, &as_before)?;
        let replace_paths = self.replace_paths.clone().unwrap_or_else(|| changed(&old, &update));
        Ok(Views { old, update, new, config, replace_paths })
    }
}

/// Fills the gaps, and makes it what the schema says.
fn shape(written: &Written, generated: &dyn Fn(&Path) -> Value, schema: Option<&Schema>) -> Result<Value, Diagnostics> {
    let fill = &mut |path: &Path, value: Value| -> Result<Value, std::convert::Infallible> {
        let (plain, marks) = value.clone().unmark();
        Ok(match plain.as_str() {
            Some(OPEN) => Value::dynamic().with_marks(&marks),
            Some(GENERATED) => generated(path).with_marks(&marks),
            _ => value,
        })
    };
    let Ok(filled) = written.value.transform(fill);
    let Some(schema) = schema else { return Ok(filled) };
    let shaped = of_block(&filled, &schema.block, &Path::root()).map_err(|problem| problem.at(written.place))?;
    let marks = schema.sensitive_marks(&shaped);
    Ok(shaped.with_path_marks(&marks))
}

/// The part of a value that a path leads to.
fn at(value: &Value, path: &Path) -> Option<Value> {
    let mut value = value.clone();
    for step in path.steps() {
        value = value.children().into_iter().find(|(own, _)| own == step)?.1.clone();
    }
    Some(value)
}

/// The attributes that change: why the object is replaced, if nothing else is said.
fn changed(old: &Value, update: &Value) -> Vec<Path> {
    let (Some(before), Some(after)) = (old.as_entries(), update.as_entries()) else { return Vec::new() };
    let plain = |value: &Value| value.clone().unmark_deep().0;
    let null = Value::null(Type::Dynamic);
    let names = before.iter().chain(after.iter()).map(|(name, _)| name.clone());
    let differs = |name: &groma_model::text::Str| {
        let [old, new] = [before, after].map(|entries| plain(entries.get(name).unwrap_or(&null)));
        let both_null = old.is_null() && new.is_null();
        !both_null && (old != new || !new.is_wholly_known())
    };
    let names: std::collections::BTreeSet<_> = names.filter(differs).collect();
    names.into_iter().map(|name| Path::root().attr(name)).collect()
}

/// An object with everything that a block may have. What is not written is null, or empty.
fn of_block(value: &Value, block: &Block, path: &Path) -> Result<Value, Diagnostic> {
    let refused = |path: &Path, what: String| {
        let place = path.to_string();
        let place = place.trim_start_matches('.');
        Diagnostic::error(
            "Object does not fit its type",
            if place.is_empty() { what } else { format!("{place}: {what}") },
        )
    };
    let (value, marks) = value.clone().unmark();
    let given = match value.kind() {
        ValueKind::Object(entries) | ValueKind::Map(entries) => entries,
        ValueKind::Unknown(_) => return Ok(Value::unknown(block.implied_type()).with_marks(&marks)),
        _ => return Err(refused(path, "this must be an object.".to_owned())),
    };
    if let Some((name, _)) =
        given.iter().find(|(name, _)| !block.attributes.contains_key(*name) && !block.block_types.contains_key(*name))
    {
        let known = block.attributes.keys().chain(block.block_types.keys()).map(groma_model::text::Str::as_str);
        let meant = groma_model::text::suggestion(name, known);
        let meant = meant.map_or(String::new(), |meant| format!(" Did you mean {meant:?}?"));
        return Err(refused(path, format!("there is no attribute or block named {:?}.{meant}", name.as_str())));
    }
    let empty = block.empty_value();
    let empty = empty.as_entries();
    let mut entries = Vec::new();
    for (name, attribute) in &block.attributes {
        let inner = path.attr(name.clone());
        let value = match given.get(name) {
            Some(value) => convert(value, &attribute.implied_type())
                .map_err(|problem| refused(&inner, format!("{}.", problem.with_path())))?,
            None => Value::null(attribute.implied_type()),
        };
        entries.push((name.clone(), value));
    }
    for (name, nested) in &block.block_types {
        let value = match given.get(name) {
            Some(value) if !value.is_null() => of_blocks(value, nested, &path.attr(name.clone()), &refused)?,
            _ => empty.and_then(|empty| empty.get(name)).cloned().unwrap_or_else(|| Value::null(Type::Dynamic)),
        };
        entries.push((name.clone(), value));
    }
    Ok(Value::object(entries).with_marks(&marks))
}

/// The blocks of one kind.
fn of_blocks(
    value: &Value,
    nested: &NestedBlock,
    path: &Path,
    refused: &dyn Fn(&Path, String) -> Diagnostic,
) -> Result<Value, Diagnostic> {
    let ty = nested.block.implied_type();
    let (value, marks) = value.clone().unmark();
    let parts = || {
        let shaped = |(step, part): (PathStep, &Value)| of_block(part, &nested.block, &path.join(step));
        value.children().into_iter().map(shaped).collect::<Result<Vec<Value>, Diagnostic>>()
    };
    let is_sequence = value.as_elements().is_some();
    let shaped = match nested.nesting {
        _ if !value.is_known() => Value::unknown(nested.implied_type()),
        Nesting::Single | Nesting::Group => of_block(&value, &nested.block, path)?,
        Nesting::List if is_sequence => Value::list(ty, parts()?),
        Nesting::Set if is_sequence => Value::set(ty, parts()?),
        Nesting::List | Nesting::Set => return Err(refused(path, "this must be a list of blocks.".to_owned())),
        Nesting::Map => match value.as_entries() {
            Some(entries) => Value::map(ty, entries.iter().map(|(name, _)| name.clone()).zip(parts()?).collect()),
            None => return Err(refused(path, "this must be an object of blocks.".to_owned())),
        },
    };
    Ok(shaped.with_marks(&marks))
}
