//! What predicates must not tell: whether they read something sensitive, and objects with everything marked that must not be shown.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::{Mark, Marks};
use groma_model::schema::Schema;
use groma_model::value::{PathMarks, Value};

use super::case::Case;
use super::path::FieldPath;
use super::predicate::Predicate;
use super::problem::Code;
use super::step::is_hidden;

/// The fields that a predicate reads and that are sensitive, by the schema or by a mark in any view of the object: its result would tell
/// something about them. To be asked of every predicate that [is an oracle](Predicate::is_oracle), before it is asked anything.
pub fn sensitive_reads<'p>(predicate: &'p dyn Predicate, case: &Case<'_>) -> Vec<&'p FieldPath> {
    predicate.reads().into_iter().filter(|path| is_secret(path, case)).collect()
}

/// Whether a field is sensitive, by the schema or by a mark in any view of the object.
pub fn is_secret(path: &FieldPath, case: &Case<'_>) -> bool {
    let views = [case.old, case.upd.value(), case.new, case.config.value()];
    let marked = |view: &&Value| view.contains_marks() && path.read(view).values().any(is_hidden);
    path.secrecy(case.schema).is_secret() || views.iter().any(marked)
}

/// What is said about a predicate that reads them without being allowed to.
pub fn refusals(paths: &[&FieldPath], kind: &str, case: &Case<'_>) -> Diagnostics {
    let refusal = |path: &&FieldPath| -> Diagnostic {
        let detail = format!(
            "{path} of {} is sensitive, and the result of {kind} would tell something about its value. If that is acceptable, set \
             allow_sensitive = true in this predicate.",
            case.address
        );
        let diagnostic = Code(2005).error("Sensitive field in a rule", detail).of(case.address.to_string());
        path.place.map_or(diagnostic.clone(), |place| diagnostic.at(place))
    };
    paths.iter().map(refusal).collect()
}

/// An object in which everything is marked that must not be shown, also what only the schema says so of.
pub(super) fn concealed(schema: &Schema, object: &Value) -> Value {
    if !schema.block.contains_sensitive() && !schema.block.contains_write_only() {
        return object.clone();
    }
    let mut marks = Vec::new();
    schema.block.visit_attributes(object, &mut |path, attribute, value| {
        let secret = attribute.hides(value) || attribute.write_only;
        if secret {
            marks.push(PathMarks { path: path.clone(), marks: Marks::one(Mark::Sensitive) });
        }
        !secret
    });
    object.clone().with_path_marks(&marks)
}
