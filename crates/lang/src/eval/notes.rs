//! What a diagnostic says about the values that took part: `var.x is "a"`. Nothing of a sensitive value is ever shown.

use groma_model::diag::{CallNote, Diagnostic, ValueNote};
use groma_model::secrets::Secrets;
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value, ValueKind, go_quote};
use groma_syntax::ast::{Expr, Step, StepKey, Traversal};

use super::interpreter::Interpreter;
use super::{Scope, traverse};

/// Longest length bound that is worth showing.
const MAX_SHOWN_LENGTH: u64 = 1024;

/// Adds a note for each reference in the expression that failed.
pub(super) fn explain(diagnostic: &mut Diagnostic, expr: &Expr, interpreter: &Interpreter<'_>) {
    diagnostic.values = notes(expr, Cause::Other, &|traversal| interpreter.lookup(traversal).ok());
}

/// Adds a note for each reference in the expression that failed, as the scope resolves it.
pub(super) fn explain_in_scope(diagnostic: &mut Diagnostic, expr: &Expr, scope: &dyn Scope) {
    diagnostic.values = value_notes(expr, scope, Cause::Other);
}

/// What made an expression unacceptable; decides which values are mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// That something is not known yet.
    Unknown,
    /// That something is sensitive or ephemeral.
    Confidential,
    /// Anything else. Unknown and sensitive values are not mentioned: readers would take them for the reason.
    Other,
}

/// What is worth saying about the references in an expression.
pub fn value_notes(expr: &Expr, scope: &dyn Scope, cause: Cause) -> Vec<ValueNote> {
    notes(expr, cause, &|traversal| {
        let resolved = scope.resolve(traversal).ok()?;
        traverse::walk_steps(&resolved.value, traversal.steps.get(resolved.steps_used..)?).ok()
    })
}

fn notes(expr: &Expr, cause: Cause, lookup: &dyn Fn(&Traversal) -> Option<Value>) -> Vec<ValueNote> {
    let mut notes: Vec<ValueNote> = Vec::new();
    for reference in expr.references() {
        let mut traversal = reference.clone();
        // The end of the reference may be what is wrong; then what is before it is described.
        let value = loop {
            if let Some(value) = lookup(&traversal) {
                break Some(value);
            }
            if traversal.steps.pop().is_none() {
                break None;
            }
        };
        let Some(value) = value else { continue };
        let text = traversal_text(&traversal);
        if notes.iter().any(|note| note.traversal == text) {
            continue;
        }
        if repeats_secret(&traversal, &value, lookup) {
            continue;
        }
        if let Some(statement) = describe(&value, cause) {
            notes.push(ValueNote { traversal: text, statement });
        }
    }
    notes.sort_by(|a, b| a.traversal.cmp(&b.traversal));
    notes
}

/// Whether what is referred to repeats what is hidden in the object that it belongs to, as providers do with what they are given.
fn repeats_secret(traversal: &Traversal, value: &Value, lookup: &dyn Fn(&Traversal) -> Option<Value>) -> bool {
    let mut around = traversal.clone();
    while around.steps.pop().is_some() {
        let Some(object) = lookup(&around) else { return false };
        if object.contains_marks() {
            let mut secrets = Secrets::default();
            secrets.learn_marked(&object);
            return secrets.are_in(value);
        }
    }
    false
}

/// A reference as written in the configuration.
pub(super) fn traversal_text(traversal: &Traversal) -> String {
    let mut text = traversal.root.name.to_string();
    for step in &traversal.steps {
        match step {
            Step::Attr { name, .. } => {
                text.push('.');
                text.push_str(name);
            }
            Step::Index { key: StepKey::Number(number), .. } => {
                text.extend(["[", &number.format_g(Some(10)), "]"]);
            }
            Step::Index { key: StepKey::String(key), .. } => text.extend(["[", &go_quote(key), "]"]),
        }
    }
    text
}

/// What a diagnostic says about a value, behind its name: `is "a"`.
pub fn describe(value: &Value, cause: Cause) -> Option<String> {
    if value.marks().is_sensitive() {
        return (cause == Cause::Confidential).then(|| "has a sensitive value".into());
    }
    if value.marks().is_ephemeral() {
        return (cause == Cause::Confidential).then(|| "has an ephemeral value".into());
    }
    match value.kind() {
        ValueKind::Unknown(refinement) => describe_unknown(&value.ty(), refinement, cause),
        _ => Some(format!("is {}", crate::display::compact(value))),
    }
}

fn describe_unknown(ty: &Type, refinement: &Refinement, cause: Cause) -> Option<String> {
    let name = ty.friendly_name();
    if cause != Cause::Unknown {
        return (*ty != Type::Dynamic).then(|| format!("is a {name}"));
    }
    if *ty == Type::Dynamic {
        return Some("will be known only after apply".into());
    }
    let (min, max) = (refinement.min_length, refinement.max_length);
    let length = match max {
        _ if !ty.is_collection() => String::new(),
        Some(max) if min == max => format!(" of length {min}"),
        Some(max) if min != 0 && max <= MAX_SHOWN_LENGTH => format!(" with between {min} and {max} elements"),
        _ if min != 0 => format!(" with at least {min} elements"),
        Some(max) if max <= MAX_SHOWN_LENGTH => format!(" with up to {max} elements"),
        _ => String::new(),
    };
    Some(format!("is a {name}{length}, known only after apply"))
}

/// The note about the call that failed.
pub(super) fn call_note<'n>(
    called_as: &str,
    params: impl Iterator<Item = &'n str>,
    variadic: Option<&str>,
) -> CallNote {
    let base = called_as.rsplit("::").next().unwrap_or(called_as);
    let mut names: Vec<String> = params.map(str::to_owned).collect();
    names.extend(variadic.map(|name| format!("{name}...")));
    CallNote { called_as: called_as.to_owned(), signature: Some(format!("{base}({})", names.join(", "))) }
}
