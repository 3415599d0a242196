//! Finding the attributes of a schema in a value: for marks, and for everything else that depends on flags.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Attribute, AttributeKind, Block, NestedObject, Nesting, Schema};
use crate::mark::{Deprecation, Mark, Marks};
use crate::path::{Path, PathKey, PathStep};
use crate::text::Str;
use crate::value::{PathMarks, Value, ValueKind};

/// Sees every attribute that a value has, with its path. Says whether to look inside it.
type Visit<'v> = dyn FnMut(&Path, &Attribute, &Value) -> bool + 'v;

impl Schema {
    /// Where in a value something is that must not be shown.
    pub fn sensitive_marks(&self, value: &Value) -> Vec<PathMarks> {
        self.block.sensitive_marks(value)
    }
}

impl Block {
    /// Where in a value something is that must not be shown.
    pub fn sensitive_marks(&self, value: &Value) -> Vec<PathMarks> {
        if !self.contains_sensitive() {
            return Vec::new();
        }
        let mut found = Vec::new();
        self.visit_attributes(value, &mut |path, attribute, value| {
            let hidden = attribute.hides(value);
            if hidden {
                found.push(PathMarks { path: path.clone(), marks: Marks::one(Mark::Sensitive) });
            }
            !hidden
        });
        found
    }

    /// Where in a value something is whose use is discouraged. `origin` is the address of the object that it belongs to.
    pub fn deprecation_marks(&self, value: &Value, origin: &str, remote: bool) -> Vec<PathMarks> {
        if !self.contains_deprecated() {
            return Vec::new();
        }
        let marked = |path: &Path, message: &Option<Str>| {
            let message = message.clone().unwrap_or_else(|| Str::from(""));
            let origin = Str::from(format!("{origin}{path}"));
            let mark = Mark::Deprecated(Arc::new(Deprecation { origin, message, remote }));
            PathMarks { path: path.clone(), marks: Marks::one(mark) }
        };
        let mut found: Vec<PathMarks> = Vec::new();
        found.extend(self.deprecated.then(|| marked(&Path::root(), &self.deprecation_message)));
        self.visit_attributes(value, &mut |path, attribute, _| {
            found.extend(attribute.deprecated.then(|| marked(path, &attribute.deprecation_message)));
            true
        });
        found
    }

    /// Shows every attribute of a value to `visit`, which says whether to look inside it. Null and unknown objects have
    /// no attributes.
    pub fn visit_attributes(&self, value: &Value, visit: &mut Visit<'_>) {
        self.visit(value, &mut Path::root(), visit);
    }

    fn visit(&self, value: &Value, path: &mut Path, visit: &mut Visit<'_>) {
        visit_object(&self.attributes, value, path, visit);
        let ValueKind::Object(entries) = value.kind() else { return };
        for (name, nested) in &self.block_types {
            let Some(inner) = entries.get(name) else { continue };
            path.push(PathStep::Attr(name.clone()));
            each_object(inner, nested.nesting, path, &mut |object, path| nested.block.visit(object, path, visit));
            path.pop();
        }
    }

    /// The attribute that a path leads to. Keys of blocks and nested attributes may be anything; steps into a plain
    /// attribute still belong to it.
    pub fn attribute_at(&self, path: &Path) -> Option<&Attribute> {
        self.attribute_by(path.steps())
    }

    fn attribute_by(&self, steps: &[PathStep]) -> Option<&Attribute> {
        let (PathStep::Attr(name), rest) = steps.split_first()? else { return None };
        if let Some(attribute) = self.attributes.get(name) {
            return attribute.attribute_by(rest);
        }
        let nested = self.block_types.get(name)?;
        nested.block.attribute_by(skip_key(rest, nested.nesting))
    }
}

impl Attribute {
    fn attribute_by(&self, steps: &[PathStep]) -> Option<&Attribute> {
        let AttributeKind::Nested(nested) = &self.ty else { return Some(self) };
        match skip_key(steps, nested.nesting).split_first() {
            None => Some(self),
            Some((PathStep::Attr(name), rest)) => nested.attributes.get(name)?.attribute_by(rest),
            Some(_) => None,
        }
    }
}

fn skip_key(steps: &[PathStep], nesting: Nesting) -> &[PathStep] {
    match (nesting, steps.split_first()) {
        (Nesting::List | Nesting::Set | Nesting::Map, Some((PathStep::Index(_) | PathStep::Element(_), rest))) => rest,
        _ => steps,
    }
}

impl NestedObject {
    fn visit(&self, value: &Value, path: &mut Path, visit: &mut Visit<'_>) {
        each_object(value, self.nesting, path, &mut |object, path| visit_object(&self.attributes, object, path, visit));
    }
}

fn visit_object(attributes: &BTreeMap<Str, Attribute>, value: &Value, path: &mut Path, visit: &mut Visit<'_>) {
    let ValueKind::Object(entries) = value.kind() else { return };
    for (name, attribute) in attributes {
        let Some(inner) = entries.get(name) else { continue };
        path.push(PathStep::Attr(name.clone()));
        if visit(path, attribute, inner)
            && let AttributeKind::Nested(nested) = &attribute.ty
        {
            nested.visit(inner, path, visit);
        }
        path.pop();
    }
}

/// Runs over the objects that a nesting makes one value of.
fn each_object(value: &Value, nesting: Nesting, path: &mut Path, run: &mut dyn FnMut(&Value, &mut Path)) {
    match (nesting, value.kind()) {
        (Nesting::Single | Nesting::Group, _) => run(value, path),
        (_, ValueKind::List(items) | ValueKind::Tuple(items)) => {
            for (at, item) in items.iter().enumerate() {
                step(path, PathStep::Index(PathKey::Number(at.into())), |path| run(item, path));
            }
        }
        (_, ValueKind::Set(items)) => {
            for item in items {
                step(path, PathStep::Element(Box::new(item.clone())), |path| run(item, path));
            }
        }
        // Objects by label are a map, or an object where their types differ.
        (_, ValueKind::Map(entries)) => {
            for (name, item) in entries.iter() {
                step(path, PathStep::Index(PathKey::String(name.clone())), |path| run(item, path));
            }
        }
        (_, ValueKind::Object(entries)) => {
            for (name, item) in entries.iter() {
                step(path, PathStep::Attr(name.clone()), |path| run(item, path));
            }
        }
        _ => {}
    }
}

fn step(path: &mut Path, step: PathStep, run: impl FnOnce(&mut Path)) {
    path.push(step);
    run(path);
    path.pop();
}
