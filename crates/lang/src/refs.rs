//! References: what the names in an expression stand for. Whether the named thing exists is judged later, against a module.

use std::fmt;

use groma_model::address::{self, IndexKey, InstanceKey, Referent, StepKind};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::{Step, StepKey, Traversal};

use crate::config::ResourceKey;

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
        key: InstanceKey,
        /// The output, if one is named.
        output: Option<Str>,
    },
    /// `kind.name`, `data.kind.name["key"]`
    Resource {
        /// Which.
        resource: ResourceKey,
        /// The instance, if one is named by a constant.
        key: InstanceKey,
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
    /// Reads a traversal. The grammar of references is the model's; here its steps get their places in the text.
    pub fn parse(traversal: &Traversal) -> Result<Reference, Diagnostic> {
        let path = address_steps(traversal);
        let found = address::Reference::from_traversal(&path)
            .map_err(|error| Diagnostic::error(error.summary, error.detail).at(step_span(traversal, error.offset)))?;
        let steps_used = traversal.steps.len().saturating_sub(found.remaining.len());
        let subject = Subject::of(found.referent, &traversal.root.name);
        let span = traversal.root.span.to(step_span(traversal, steps_used));
        Ok(Reference { subject, steps_used, span })
    }

    /// The steps that lead on from the subject.
    pub fn remaining<'t>(&self, traversal: &'t Traversal) -> &'t [Step] {
        traversal.steps.get(self.steps_used..).unwrap_or(&[])
    }
}

/// The steps as the model reads them. Instead of its offset, each carries its number: 0 is the root.
fn address_steps(traversal: &Traversal) -> address::Traversal {
    let kind = |step: &Step| match step {
        Step::Attr { name, .. } => StepKind::Attr(name.clone()),
        Step::Index { key: StepKey::Number(number), .. } => StepKind::Index(IndexKey::Number(number.clone())),
        Step::Index { key: StepKey::String(text), .. } => StepKind::Index(IndexKey::String(text.clone())),
    };
    let root = StepKind::Attr(traversal.root.name.clone());
    let kinds = std::iter::once(root).chain(traversal.steps.iter().map(kind));
    address::Traversal::from_root(kinds.enumerate().map(|(offset, kind)| address::Step { kind, offset }).collect())
}

/// Where a step stands; 0 is the root.
fn step_span(traversal: &Traversal, number: usize) -> Span {
    number.checked_sub(1).and_then(|at| traversal.steps.get(at)).map_or(traversal.root.span, Step::span)
}

impl Subject {
    fn of(referent: Referent, root: &Str) -> Self {
        let module = |name, key, output| Subject::Module { name, key, output };
        match referent {
            Referent::Variable(name) => Subject::Variable(name),
            Referent::Local(name) => Subject::Local(name),
            Referent::Path(name) => Subject::Path(name),
            Referent::Count(name) => Subject::Count(name),
            Referent::Each(name) => Subject::Each(name),
            Referent::Terraform(name) => Subject::Tool { root: root.clone(), name },
            Referent::SelfObject => Subject::Itself,
            Referent::Module(name) => module(name, InstanceKey::None, None),
            Referent::ModuleInstance(name, key) => module(name, key, None),
            Referent::ModuleOutput(name, key, output) => module(name, key, Some(output)),
            Referent::Resource(resource) => Subject::Resource { resource, key: InstanceKey::None },
            Referent::Instance(instance) => Subject::Resource { resource: instance.resource, key: instance.key },
        }
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
