//! References: what the names in an expression stand for. Whether the named thing exists is judged later, against a module.

use std::fmt;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::{Step, StepKey, Traversal};

use crate::config::{ResourceKey, ResourceMode};

const INVALID_REFERENCE: &str = "Invalid reference";

/// What a reference is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// `var.name`
    Variable(Str),
    /// `local.name`
    Local(Str),
    /// `module.name`, `module.name["key"]`, `module.name.output`
    Module {
        /// The name of the call.
        name: Str,
        /// The instance, if one is named by a constant.
        key: Option<StepKey>,
        /// The output, if one is named.
        output: Option<Str>,
    },
    /// `kind.name`, `data.kind.name["key"]`
    Resource {
        /// Which.
        resource: ResourceKey,
        /// The instance, if one is named by a constant.
        key: Option<StepKey>,
    },
    /// `path.name`
    Path(Str),
    /// `terraform.name`, `tofu.name`
    Tool {
        /// `terraform` or `tofu`.
        root: Str,
        /// The attribute.
        name: Str,
    },
    /// `count.name`
    Count(Str),
    /// `each.name`
    Each(Str),
    /// `self`
    Itself,
}

/// A reference and how much of its traversal says what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// What it is about.
    pub subject: Subject,
    /// How many steps behind the root belong to the subject.
    pub steps_used: usize,
    /// The text that names the subject.
    pub span: Span,
}

impl Reference {
    /// Reads a traversal.
    pub fn parse(traversal: &Traversal) -> Result<Reference, Diagnostic> {
        let name = || single_attribute(traversal);
        let subject = match traversal.root.name.as_str() {
            "var" => Subject::Variable(name()?),
            "local" => Subject::Local(name()?),
            "path" => Subject::Path(name()?),
            "count" => Subject::Count(name()?),
            "each" => Subject::Each(name()?),
            "terraform" | "tofu" => Subject::Tool { root: traversal.root.name.clone(), name: name()? },
            "self" => {
                return Ok(Reference { subject: Subject::Itself, steps_used: 0, span: traversal.root.span });
            }
            "module" => return module_reference(traversal, name()?),
            "data" => return prefixed_resource(traversal, ResourceMode::Data),
            "ephemeral" => return prefixed_resource(traversal, ResourceMode::Ephemeral),
            "resource" => return prefixed_resource(traversal, ResourceMode::Managed),
            "template" | "lazy" | "arg" => return Err(reserved(traversal)),
            _ => return resource_reference(traversal, ResourceMode::Managed, Some(traversal.root.name.clone()), 0),
        };
        Ok(Reference { subject, steps_used: 1, span: span_through(traversal, 1) })
    }

    /// The steps that lead on from the subject.
    pub fn remaining<'t>(&self, traversal: &'t Traversal) -> &'t [Step] {
        traversal.steps.get(self.steps_used..).unwrap_or(&[])
    }
}

/// What to report of wrong references.
///
/// Whether resources and modules exist is judged before anything has a value. If that went wrong for some, nothing is said
/// about variables and the like. What is no reference at all is always reported.
pub fn telling_problems(problems: Vec<(&Traversal, Diagnostics)>) -> Diagnostics {
    let is_static = |traversal: &Traversal| match Reference::parse(traversal) {
        Ok(reference) => {
            matches!(reference.subject, Subject::Resource { .. } | Subject::Module { .. } | Subject::Itself)
        }
        Err(_) => false,
    };
    let only_static = problems.iter().any(|(traversal, _)| is_static(traversal));
    let kept = problems
        .into_iter()
        .filter(|(traversal, _)| !only_static || is_static(traversal) || Reference::parse(traversal).is_err());
    kept.flat_map(|(_, diagnostics)| diagnostics).collect()
}

/// As users write it, e.g. `data.kind.name`.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Variable(name) => write!(f, "var.{name}"),
            Subject::Local(name) => write!(f, "local.{name}"),
            Subject::Module { name, .. } => write!(f, "module.{name}"),
            Subject::Resource { resource, .. } => write!(f, "{resource}"),
            Subject::Path(name) => write!(f, "path.{name}"),
            Subject::Tool { root, name } => write!(f, "{root}.{name}"),
            Subject::Count(name) => write!(f, "count.{name}"),
            Subject::Each(name) => write!(f, "each.{name}"),
            Subject::Itself => f.write_str("self"),
        }
    }
}

/// From the root through so many steps.
fn span_through(traversal: &Traversal, steps: usize) -> Span {
    let last = steps.checked_sub(1).and_then(|at| traversal.steps.get(at));
    last.map_or(traversal.root.span, |step| traversal.root.span.to(step.span()))
}

/// The name in `root.name`.
fn single_attribute(traversal: &Traversal) -> Result<Str, Diagnostic> {
    let root = &traversal.root.name;
    match traversal.steps.first() {
        Some(Step::Attr { name, .. }) => Ok(name.clone()),
        Some(Step::Index { span, .. }) => {
            let detail = format!("The \"{root}\" object does not support this operation.");
            Err(Diagnostic::error(INVALID_REFERENCE, detail).at(*span))
        }
        None => {
            let detail =
                format!("The \"{root}\" object cannot be accessed directly. Instead, access one of its attributes.");
            Err(Diagnostic::error(INVALID_REFERENCE, detail).at(traversal.root.span))
        }
    }
}

fn reserved(traversal: &Traversal) -> Diagnostic {
    let detail = format!(
        "The symbol name \"{}\" is reserved for use in a future version. If a provider uses it as a resource type name, \
         write \"resource.\" in front of it.",
        traversal.root.name
    );
    Diagnostic::error("Reserved symbol name", detail).at(traversal.root.span)
}

fn module_reference(traversal: &Traversal, name: Str) -> Result<Reference, Diagnostic> {
    let mut steps_used = 1;
    let mut key = None;
    if let Some(Step::Index { key: found, span }) = traversal.steps.get(steps_used) {
        key = Some(instance_key(found, "module", *span)?);
        steps_used += 1;
    }
    let output = match traversal.steps.get(steps_used) {
        Some(Step::Attr { name, .. }) => {
            steps_used += 1;
            Some(name.clone())
        }
        Some(Step::Index { span, .. }) => {
            let detail = "Module instance objects do not support this operation.";
            return Err(Diagnostic::error(INVALID_REFERENCE, detail).at(*span));
        }
        None => None,
    };
    let span = span_through(traversal, steps_used);
    Ok(Reference { subject: Subject::Module { name, key, output }, steps_used, span })
}

/// `data.kind.name`, `ephemeral.kind.name`, `resource.kind.name`
fn prefixed_resource(traversal: &Traversal, mode: ResourceMode) -> Result<Reference, Diagnostic> {
    if traversal.steps.len() < 2 {
        let root = &traversal.root.name;
        let what = match mode {
            ResourceMode::Data => "the data source type and the resource name",
            ResourceMode::Ephemeral => "the ephemeral resource type and its name",
            ResourceMode::Managed => "the resource type and the resource name",
        };
        let detail = format!("The \"{root}\" object must be followed by two attribute names: {what}.");
        return Err(Diagnostic::error(INVALID_REFERENCE, detail).at(traversal.span));
    }
    match &traversal.steps[0] {
        Step::Attr { name, .. } => resource_reference(traversal, mode, Some(name.clone()), 1),
        Step::Index { span, .. } => {
            let detail = format!("The \"{}\" object does not support this operation.", traversal.root.name);
            Err(Diagnostic::error(INVALID_REFERENCE, detail).at(*span))
        }
    }
}

/// The rest of a resource reference, whose type was found before step `at`.
fn resource_reference(
    traversal: &Traversal,
    mode: ResourceMode,
    kind: Option<Str>,
    at: usize,
) -> Result<Reference, Diagnostic> {
    let what = match mode {
        ResourceMode::Data => "a data source",
        ResourceMode::Ephemeral => "an ephemeral resource",
        ResourceMode::Managed => "a resource type",
    };
    let missing_name = |span| {
        let detail = format!(
            "A reference to {what} must be followed by at least one attribute access, specifying the resource name."
        );
        Diagnostic::error(INVALID_REFERENCE, detail).at(span)
    };
    let (Some(kind), Some(step)) = (kind, traversal.steps.get(at)) else {
        return Err(missing_name(traversal.span));
    };
    let Step::Attr { name, .. } = step else { return Err(missing_name(step.span())) };
    let resource = ResourceKey { mode, ty: kind, name: name.clone() };
    let mut steps_used = at + 1;
    let mut key = None;
    if let Some(Step::Index { key: found, span }) = traversal.steps.get(steps_used) {
        key = Some(instance_key(found, "resource", *span)?);
        steps_used += 1;
    }
    let span = span_through(traversal, steps_used);
    Ok(Reference { subject: Subject::Resource { resource, key }, steps_used, span })
}

/// Instance keys are strings or whole numbers.
fn instance_key(key: &StepKey, what: &str, span: Span) -> Result<StepKey, Diagnostic> {
    if let StepKey::Number(number) = key
        && number.to_i64().is_none()
    {
        let detail = format!("Invalid index for {what} instance: must be an integer.");
        return Err(Diagnostic::error("Invalid index key", detail).at(span));
    }
    Ok(key.clone())
}
