//! One file of rules: the table of the kinds of blocks, and reading by it.

use std::path::PathBuf;
use std::sync::Arc;

use groma_model::address::Module;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_syntax::body::{Block, Body, BodySchema};

use crate::Rules;
use crate::on_create_error::OnCreateError;
use crate::pattern::Pattern;
use crate::read::Reader;
use crate::replace::problem::Code;
use crate::set::{Rule, RuleSet};
use crate::wait::Wait;

/// A kind of block.
struct Kind {
    name: &'static str,
    labels: &'static [&'static str],
    decode: Decode,
}

/// How a kind of block is read.
enum Decode {
    /// For itself.
    Alone(fn(&mut Reader<'_>, &Block) -> Option<Said>),
    /// With the others of the directory that are about replacements.
    Replacements,
}

/// Every kind of block that a file of rules may have.
const KINDS: &[Kind] = &[
    Kind {
        name: "wait",
        labels: LABELS,
        decode: Decode::Alone(|reader, block| labelled(reader, block, Wait::decode, Said::Wait)),
    },
    Kind {
        name: "on_create_error",
        labels: LABELS,
        decode: Decode::Alone(|reader, block| labelled(reader, block, OnCreateError::decode, Said::OnCreateError)),
    },
    Kind { name: "replace_settings", labels: &[], decode: Decode::Replacements },
    Kind { name: "replace_rule", labels: &["id"], decode: Decode::Replacements },
    Kind { name: "condition", labels: &["id"], decode: Decode::Replacements },
    Kind { name: "attachment", labels: &["alias"], decode: Decode::Replacements },
];

/// What a rule is about is its label.
const LABELS: &[&str] = &["address_or_type"];

/// A rule as it is written, not yet in its place in the tree of modules.
#[derive(Debug, Clone)]
pub(crate) struct Written<T> {
    pattern: Pattern,
    label: Span,
    says: Arc<T>,
}

/// What a block says.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    Wait(Written<Wait>),
    OnCreateError(Written<OnCreateError>),
}

/// What a file of rules says.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) said: Vec<Said>,
    /// Blocks about replacements, which are read together with those of other files.
    pub(crate) replacements: Vec<Block>,
}

/// Reads a file of rules.
pub(crate) fn decode(map: &SourceMap, body: &Body) -> (Content, Diagnostics) {
    let mut reader = Reader { map, diagnostics: Diagnostics::new() };
    let schema = KINDS.iter().fold(BodySchema::new(), |schema, kind| schema.block(kind.name, kind.labels));
    let (content, found) = body.content(&schema);
    reader.diagnostics.extend(found.into_iter().map(|found| Code(1101).number(found)));
    let mut read = Content::default();
    for block in content.blocks {
        let Some(kind) = KINDS.iter().find(|kind| *block.kind.name == *kind.name) else { continue };
        match kind.decode {
            Decode::Alone(decode) => read.said.extend(decode(&mut reader, &block)),
            Decode::Replacements => read.replacements.push(block),
        }
    }
    (read, reader.diagnostics)
}

fn labelled<T>(
    reader: &mut Reader<'_>,
    block: &Block,
    decode: fn(&mut Reader<'_>, &Block) -> Option<T>,
    said: fn(Written<T>) -> Said,
) -> Option<Said> {
    let says = decode(reader, block);
    let label = block.labels.first()?;
    let pattern = match Pattern::parse(&label.text) {
        Ok(pattern) => pattern,
        Err(problem) => {
            let detail =
                format!("{:?} does not say which resources the rule is about: {problem}.", label.text.as_str());
            reader.diagnostics.push(Diagnostic::error("Invalid pattern", detail).at(label.span));
            return None;
        }
    };
    Some(said(Written { pattern, label: label.span, says: Arc::new(says?) }))
}

impl Said {
    /// What it is about, and where its label stands, with the kind of block.
    pub(crate) fn subject(&self) -> (&'static str, &Pattern, Span) {
        match self {
            Said::Wait(written) => ("wait", &written.pattern, written.label),
            Said::OnCreateError(written) => ("on_create_error", &written.pattern, written.label),
        }
    }

    /// Puts it where it is found.
    pub(crate) fn put(&self, rules: &mut Rules, module: &Module, module_dir: &Arc<PathBuf>) {
        match self {
            Said::Wait(written) => put(&mut rules.waits, written, module, module_dir),
            Said::OnCreateError(written) => put(&mut rules.on_create_error, written, module, module_dir),
        }
    }
}

fn put<T>(set: &mut RuleSet<T>, written: &Written<T>, module: &Module, module_dir: &Arc<PathBuf>) {
    set.push(Rule {
        pattern: written.pattern.clone(),
        module: module.clone(),
        module_dir: Arc::clone(module_dir),
        label: written.label,
        says: Arc::clone(&written.says),
    });
}
