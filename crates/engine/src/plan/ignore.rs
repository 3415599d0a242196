//! `ignore_changes`: the configuration as if what is ignored had been written as it is.

use groma_lang::config::{IgnoreChanges, RelativePath, Step, StepKey};
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::schema::Block;
use groma_model::value::{Entries, Value, ValueKind};

/// The configuration that is planned with. Both values are without marks; `prior` exists.
pub(crate) fn ignoring(ignore: &IgnoreChanges, schema: &Block, prior: &Value, config: &Value) -> Value {
    match ignore {
        IgnoreChanges::None => config.clone(),
        IgnoreChanges::All => all_ignored(schema, prior),
        IgnoreChanges::Paths(paths) => {
            paths.iter().map(path_of).fold(config.clone(), |config, path| ignore_path(&config, prior, path.steps()))
        }
    }
}

/// The answer of a provider of the old kind, which may have planned what it was told to ignore. Where everything is ignored, the
/// object stays as it is, with what only the provider decides.
pub(crate) fn ignoring_planned(ignore: &IgnoreChanges, schema: &Block, prior: &Value, planned: &Value) -> Value {
    match ignore {
        IgnoreChanges::All => prior.clone(),
        IgnoreChanges::None | IgnoreChanges::Paths(_) => ignoring(ignore, schema, prior, planned),
    }
}

/// What must not be shown of an object whose changes are ignored in part: there, what was hidden before stays hidden, and nothing
/// else.
pub(super) fn sensitive_after(ignore: &IgnoreChanges, prior: &[Path], config: Vec<Path>) -> Vec<Path> {
    match ignore {
        IgnoreChanges::None => config,
        IgnoreChanges::All => prior.to_vec(),
        IgnoreChanges::Paths(paths) => {
            let ignored: Vec<Path> = paths.iter().map(path_of).collect();
            let is_ignored = |path: &Path| ignored.iter().any(|from| path.steps().starts_with(from.steps()));
            let kept = prior.iter().filter(|path| is_ignored(path)).cloned();
            config.into_iter().filter(|path| !is_ignored(path)).chain(kept).collect()
        }
    }
}

/// Where the configuration differs from an object and that is ignored. Both values are without marks.
pub(super) fn ignored_differences(ignore: &IgnoreChanges, prior: &Value, config: &Value) -> Vec<Path> {
    let IgnoreChanges::Paths(paths) = ignore else { return Vec::new() };
    let differs = |path: &Path| match (config.apply_path(path), prior.apply_path(path)) {
        (Ok(config), Ok(prior)) => config != prior && !config.is_null(),
        _ => false,
    };
    paths.iter().map(path_of).filter(differs).collect()
}

/// What is, but for what only the provider decides: that has no configuration.
fn all_ignored(schema: &Block, prior: &Value) -> Value {
    let computed = |path: &Path| schema.attribute_at(path).is_some_and(|found| found.computed && !found.optional);
    let kept = prior.transform::<std::convert::Infallible>(&mut |path, value| {
        Ok(if !path.is_empty() && computed(path) { Value::null(value.ty()) } else { value })
    });
    match kept {
        Ok(value) => value,
        Err(never) => match never {},
    }
}

/// A path as it is written, in terms of values.
fn path_of(path: &RelativePath) -> Path {
    path_of_steps(&path.steps)
}

/// Steps as they are written, in terms of values.
pub(super) fn path_of_steps(steps: &[Step]) -> Path {
    let step = |step: &Step| match step {
        Step::Attr { name, .. } => PathStep::Attr(name.clone()),
        Step::Index { key: StepKey::Number(number), .. } => PathStep::Index(PathKey::Number(number.clone())),
        Step::Index { key: StepKey::String(text), .. } => PathStep::Index(PathKey::String(text.clone())),
    };
    Path::from(steps.iter().map(step).collect::<Vec<_>>())
}

/// `config` with what `prior` has at a path. What cannot be followed in either is left alone.
fn ignore_path(config: &Value, prior: &Value, path: &[PathStep]) -> Value {
    let Some((step, rest)) = path.split_first() else { return prior.clone() };
    // The last key of a map stands for one entry, which may be there or not.
    if let (PathStep::Index(PathKey::String(key)) | PathStep::Attr(key), [], ValueKind::Map(entries)) =
        (step, rest, config.kind())
    {
        return with_entry(config, entries, key, prior);
    }
    if let (PathStep::Index(PathKey::String(key)), [], ValueKind::Null) = (step, rest, config.kind())
        && let Some(entries) = prior.as_entries().filter(|_| matches!(prior.kind(), ValueKind::Map(_)))
        && let (Some(value), Some(element)) = (entries.get(key), prior.element_type())
    {
        return Value::map(element.clone(), [(key.clone(), value.clone())].into_iter().collect());
    }
    let (Ok(before), Ok(now)) = (prior.apply_step(step), config.apply_step(step)) else { return config.clone() };
    let changed = ignore_path(&now, &before, rest);
    crate::object::with_part(config, step, changed)
}

fn with_entry(config: &Value, entries: &Entries, key: &str, prior: &Value) -> Value {
    let before = prior.as_entries().and_then(|entries| entries.get(key)).cloned();
    let others = entries.iter().filter(|(name, _)| name.as_str() != key);
    let mut kept: Vec<_> = others.map(|(name, value)| (name.clone(), value.clone())).collect();
    kept.extend(before.map(|value| (key.into(), value)));
    let element = config.element_type().cloned().unwrap_or(groma_model::ty::Type::Dynamic);
    Value::map(element, kept.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use groma_model::schema::Attribute;
    use groma_model::text::Str;
    use groma_model::ty::Type;

    use super::*;

    fn attr(name: &str) -> PathStep {
        PathStep::Attr(name.into())
    }

    fn key(key: &str) -> PathStep {
        PathStep::Index(PathKey::String(key.into()))
    }

    fn object(name: &str, tags: &[(&str, &str)]) -> Value {
        let entries: Entries = tags.iter().map(|(key, value)| (Str::from(*key), Value::string(*value))).collect();
        Value::object([("name", Value::string(name)), ("tags", Value::map(Type::String, entries))])
    }

    #[test]
    fn an_attribute_stays_as_it_is() {
        let ignored = ignore_path(&object("new", &[]), &object("old", &[("a", "1")]), &[attr("name")]);
        assert_eq!(ignored, object("old", &[]));
    }

    #[test]
    fn one_entry_of_a_map_stays_as_it_is() {
        let prior = object("x", &[("a", "1"), ("b", "2")]);
        let config = object("x", &[("a", "9"), ("c", "3")]);
        assert_eq!(ignore_path(&config, &prior, &[attr("tags"), key("a")]), object("x", &[("a", "1"), ("c", "3")]));
        assert_eq!(
            ignore_path(&config, &prior, &[attr("tags"), key("b")]),
            object("x", &[("a", "9"), ("b", "2"), ("c", "3")])
        );
        assert_eq!(ignore_path(&config, &prior, &[attr("tags"), key("c")]), object("x", &[("a", "9")]));
    }

    #[test]
    fn what_is_not_there_is_not_followed() {
        let prior = object("x", &[]);
        assert_eq!(ignore_path(&prior, &prior, &[attr("nothing"), attr("here")]), prior);
    }

    #[test]
    fn all_means_all_but_what_is_computed() {
        let mut block = Block::default();
        block.attributes.insert("id".into(), Attribute { computed: true, ..Attribute::of_type(Type::String) });
        block.attributes.insert("a".into(), Attribute { optional: true, ..Attribute::of_type(Type::String) });
        let prior = Value::object([("id", Value::string("1")), ("a", Value::string("x"))]);
        let expected = Value::object([("id", Value::null(Type::String)), ("a", Value::string("x"))]);
        assert_eq!(ignoring(&IgnoreChanges::All, &block, &prior, &expected), expected);
    }
}
