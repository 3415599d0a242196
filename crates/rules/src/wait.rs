//! `wait` blocks: when an object is ready, and what an object says about that.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use groma_lang::eval::{Cause, evaluate_as, value_notes};
use groma_model::diag::{Diagnostic, Diagnostics, ValueNote};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::{Expr, Step, Traversal};
use groma_syntax::body::{Block, BodySchema};

use crate::read::Reader;
use crate::scope::{Surroundings, WithSelf};

/// How long is waited if nothing is said.
const TIMEOUT: Duration = Duration::from_mins(10);
/// How often is looked if nothing is said.
const INTERVAL: Duration = Duration::from_secs(5);

/// `wait "pattern" { … }`
#[derive(Debug, Clone)]
pub struct Wait {
    /// What must hold.
    pub until: Arc<Expr>,
    /// `until` as it is written, in one line.
    pub until_text: Str,
    /// What ends the wait early.
    pub fail_if: Option<Arc<Expr>>,
    /// `fail_if` as it is written, in one line.
    pub fail_if_text: Option<Str>,
    /// How long is waited.
    pub timeout: Duration,
    /// How long between two looks.
    pub interval: Duration,
}

/// What an object says about a wait.
#[derive(Debug)]
pub enum Verdict {
    /// It is ready.
    Holds,
    /// It is not.
    NotYet(Seen),
    /// It will not be: `fail_if` holds.
    Failed(Seen),
    /// The rule cannot be evaluated with this object.
    Unclear(Diagnostics),
}

/// What was seen of an object: the values that a condition is about. Nothing of a sensitive one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen(pub Vec<ValueNote>);

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, note) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{} {}", note.traversal, note.statement)?;
        }
        Ok(())
    }
}

impl Wait {
    pub(crate) fn decode(reader: &mut Reader<'_>, block: &Block) -> Option<Self> {
        let schema = BodySchema::new().required("until").optional("fail_if").optional("timeout").optional("interval");
        let content = reader.content(block, &schema);
        let timeout = reader.duration(&content, "timeout", TIMEOUT);
        let interval = reader.duration(&content, "interval", INTERVAL);
        for name in ["until", "fail_if"] {
            if let Some(attribute) = content.attr(name) {
                reader.only_self(&attribute.expr);
            }
        }
        let until = Arc::clone(&content.attr("until")?.expr);
        let fail_if = content.attr("fail_if").map(|attribute| Arc::clone(&attribute.expr));
        let text = |expr: &Expr| one_line(reader.map.text(expr.span));
        Some(Self {
            until_text: text(&until),
            fail_if_text: fail_if.as_deref().map(text),
            until,
            fail_if,
            timeout,
            interval,
        })
    }

    /// What an object, with its marks, says about it.
    pub fn judge(&self, object: &Value, around: &Surroundings<'_>) -> Verdict {
        let scope = WithSelf::new(around, object);
        let seen = |expr: &Expr| Seen(value_notes(expr, &scope, Cause::Confidential));
        match condition(&self.until, &scope) {
            Ok(Some(true)) => return Verdict::Holds,
            Ok(Some(false) | None) => {}
            Err(found) => return Verdict::Unclear(found),
        }
        match self.fail_if.as_deref().map(|fail_if| (fail_if, condition(fail_if, &scope))) {
            Some((fail_if, Ok(Some(true)))) => Verdict::Failed(seen(fail_if)),
            Some((_, Err(found))) => Verdict::Unclear(found),
            Some((_, Ok(_))) | None => Verdict::NotYet(seen(&self.until)),
        }
    }

    /// The attributes of the object that `until` is about, each once.
    pub fn awaited_attributes(&self) -> Vec<Str> {
        let first = |traversal: &&Traversal| match traversal.steps.first() {
            Some(Step::Attr { name, .. }) if traversal.root.name == *"self" => Some(name.clone()),
            _ => None,
        };
        let mut names: Vec<Str> = self.until.references().iter().filter_map(first).collect();
        names.sort();
        names.dedup();
        names
    }

    /// What is wrong with it, whatever the object: `object` is unknown, but for its type.
    pub(crate) fn check(&self, object: &Value, around: &Surroundings<'_>) -> Diagnostics {
        let scope = WithSelf::new(around, object);
        let conditions = [Some(&self.until), self.fail_if.as_ref()].into_iter().flatten();
        conditions.filter_map(|expr| condition(expr, &scope).err()).flatten().collect()
    }
}

/// Whether a condition holds. None if that cannot be known yet.
fn condition(expr: &Expr, scope: &WithSelf<'_>) -> Result<Option<bool>, Diagnostics> {
    let (value, found) = evaluate_as(expr, scope, &Type::Bool);
    if found.has_errors() {
        return Err(found);
    }
    let value = value.unmark_deep().0;
    if value.is_null() {
        let detail = "The condition of a rule must be true or false, and this one is null. Use \"try\" or \"coalesce\" where something may be \
                      missing.";
        return Err(Diagnostic::error("Invalid condition result", detail).at(expr.span).into());
    }
    Ok(value.as_bool())
}

fn one_line(text: &str) -> Str {
    Str::new(text.split_whitespace().collect::<Vec<_>>().join(" "))
}
