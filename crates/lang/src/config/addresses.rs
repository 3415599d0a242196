//! Addresses in `moved`, `removed` and `import` blocks: `module.a["k"].kind.name[0]`, read from references.

use std::fmt;

use groma_model::diag::Diagnostic;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::{Step, StepKey, Traversal};

use super::{ResourceKey, ResourceMode};

/// The address of a module, a resource, or an instance of one, relative to the module that names it.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectAddress {
    /// The calls on the way, with the keys that are given.
    pub modules: Vec<(Str, Option<StepKey>)>,
    /// The resource at the end, with the key that is given. None if a module is meant.
    pub resource: Option<(ResourceKey, Option<StepKey>)>,
    /// Where it is written.
    pub span: Span,
}

impl ObjectAddress {
    /// The names of the calls on the way.
    pub fn module_path(&self) -> Vec<Str> {
        self.modules.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Whether any key is given.
    pub fn has_keys(&self) -> bool {
        self.modules.iter().any(|(_, key)| key.is_some())
            || self.resource.as_ref().is_some_and(|(_, key)| key.is_some())
    }

    /// Whether both mean the same object.
    pub fn same_object(&self, other: &Self) -> bool {
        self.modules == other.modules && self.resource == other.resource
    }
}

impl fmt::Display for ObjectAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (name, key) in &self.modules {
            write!(f, "{separator}module.{name}")?;
            write_key(f, key.as_ref())?;
            separator = ".";
        }
        if let Some((resource, key)) = &self.resource {
            write!(f, "{separator}{resource}")?;
            write_key(f, key.as_ref())?;
        }
        Ok(())
    }
}

fn write_key(f: &mut fmt::Formatter<'_>, key: Option<&StepKey>) -> fmt::Result {
    match key {
        None => Ok(()),
        Some(StepKey::Number(number)) => write!(f, "[{number}]"),
        Some(StepKey::String(text)) => write!(f, "[{:?}]", text.as_str()),
    }
}

/// Instance keys are strings or whole numbers.
fn instance_key(key: &StepKey) -> Option<StepKey> {
    match key {
        StepKey::Number(number) if number.to_i64().is_none() => None,
        _ => Some(key.clone()),
    }
}

/// Whether an address may name single instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// Keys are part of the address.
    Allowed,
    /// Whole objects only.
    Refused,
}

type Failure = Box<Diagnostic>;

fn fail<T>(summary: &str, detail: impl Into<String>, at: Span) -> Result<T, Failure> {
    Err(Box::new(Diagnostic::error(summary, detail).at(at)))
}

/// Reads a reference as an address.
pub fn parse(traversal: &Traversal, keys: Keys) -> Result<ObjectAddress, Failure> {
    let root = Step::Attr { name: traversal.root.name.clone(), span: traversal.root.span };
    let steps: Vec<Step> = std::iter::once(root).chain(traversal.steps.iter().cloned()).collect();
    let mut rest = steps.as_slice();
    let mut modules = Vec::new();
    while let Some((name, behind)) = module_step(rest)? {
        rest = behind;
        let mut key = None;
        if let Some(Step::Index { key: given, span }) = rest.first() {
            if keys == Keys::Refused {
                return fail(
                    "Module instance address with keys is not allowed",
                    "Module address cannot be a module instance (e.g. \"module.a[0]\"), it must be a module instead \
                     (e.g. \"module.a\").",
                    *span,
                );
            }
            match instance_key(given) {
                Some(given) => key = Some(given),
                None => {
                    return fail(
                        "Invalid address operator",
                        "Invalid module index: a whole number is required.",
                        *span,
                    );
                }
            }
            rest = &rest[1..];
        }
        modules.push((name, key));
    }
    let resource = if rest.is_empty() { None } else { Some(resource_steps(rest, keys, traversal.span)?) };
    Ok(ObjectAddress { modules, resource, span: traversal.span })
}

/// `module.name` at the front, and what follows. None if something else is there.
fn module_step(steps: &[Step]) -> Result<Option<(Str, &[Step])>, Failure> {
    let (first, behind) = match steps {
        [] => return Ok(None),
        [first, behind @ ..] => (first, behind),
    };
    let Step::Attr { name, span } = first else {
        return fail(
            "Invalid address operator",
            "Module address prefix must be followed by dot and then a name.",
            first.span(),
        );
    };
    if *name != "module" {
        return Ok(None);
    }
    match behind {
        [Step::Attr { name, .. }, behind @ ..] => Ok(Some((name.clone(), behind))),
        [other, ..] => {
            fail("Invalid address operator", "Prefix \"module.\" must be followed by a module name.", other.span())
        }
        [] => fail("Invalid address operator", "Prefix \"module.\" must be followed by a module name.", *span),
    }
}

fn resource_steps(steps: &[Step], keys: Keys, whole: Span) -> Result<(ResourceKey, Option<StepKey>), Failure> {
    const SUMMARY: &str = "Invalid address";
    let (mode, steps) = match steps {
        [Step::Attr { name, .. }, rest @ ..] if *name == "data" => (ResourceMode::Data, rest),
        [Step::Attr { name, .. }, rest @ ..] if *name == "ephemeral" => (ResourceMode::Ephemeral, rest),
        _ => (ResourceMode::Managed, steps),
    };
    let (kind, name, rest) = match steps {
        [Step::Attr { name: kind, .. }, Step::Attr { name, .. }, rest @ ..] => (kind, name, rest),
        [Step::Attr { .. }, other, ..] => return fail(SUMMARY, "A resource name is required.", other.span()),
        [other, _, ..] => {
            let detail = match mode {
                ResourceMode::Managed => "A resource type name is required.",
                ResourceMode::Data => "A data source name is required.",
                ResourceMode::Ephemeral => "An ephemeral resource name is required.",
            };
            return fail(SUMMARY, detail, other.span());
        }
        _ => return fail(SUMMARY, "Resource specification must include a resource type and name.", whole),
    };
    let resource = ResourceKey::new(mode, kind.clone(), name.clone());
    match rest {
        [] => Ok((resource, None)),
        [only] if keys == Keys::Refused => fail(
            "Resource instance address with keys is not allowed",
            "Resource address cannot be a resource instance (e.g. \"null_resource.a[0]\"), it must be a resource instead \
             (e.g. \"null_resource.a\").",
            only.span(),
        ),
        [Step::Index { key, span }] => match instance_key(key) {
            Some(key) => Ok((resource, Some(key))),
            None => fail(SUMMARY, "Invalid resource instance key: a whole number is required.", *span),
        },
        [other] => fail(SUMMARY, "Resource instance key must be given in square brackets.", other.span()),
        [_, extra, ..] => fail(SUMMARY, "Unexpected extra operators after address.", extra.span()),
    }
}
