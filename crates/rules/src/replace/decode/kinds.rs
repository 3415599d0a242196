//! The kinds of predicates: what their parameters are called, and how each is made of them. What the predicates do is their own business.

mod fields;
mod neighbours;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::body::{Block, Label};

use super::Reader;
use super::arguments::{Arguments, Names, did_you_mean, one_of, snake_case};
use super::words::clean;
use crate::replace::predicate::Predicate;
use crate::replace::problem::Code;
use crate::replace::rule::Question;

/// A kind of predicate.
struct Kind {
    name: &'static str,
    /// What its block may have, with what every predicate may have.
    names: Names,
    make: fn(&mut Reader<'_>, &Arguments) -> Option<Box<dyn Predicate>>,
}

/// Every kind of predicate.
const KINDS: &[Kind] = &[
    Kind {
        name: "field_changed",
        names: Names {
            known: &[
                "field",
                "ignore_order",
                "threshold",
                "against",
                "null_equals_empty",
                "match",
                "description",
                "allow_sensitive",
            ],
            expression: None,
        },
        make: fields::field_changed,
    },
    Kind {
        name: "has_attached_resources",
        names: Names {
            known: &[
                "resource_types",
                "check_conflicts",
                "minimum_count",
                "maximum_count",
                "via",
                "exclusive",
                "description",
                "allow_sensitive",
            ],
            expression: None,
        },
        make: neighbours::has_attached_resources,
    },
    Kind {
        name: "field_equals",
        names: Names {
            known: &["field", "value", "values", "on", "match", "description", "allow_sensitive"],
            expression: None,
        },
        make: fields::field_equals,
    },
    Kind {
        name: "field_matches",
        names: Names {
            known: &["field", "pattern", "glob", "case_insensitive", "on", "match", "description", "allow_sensitive"],
            expression: None,
        },
        make: fields::field_matches,
    },
    Kind {
        name: "resource_count",
        names: Names {
            known: &["resource_type", "operator", "count", "via", "description", "allow_sensitive"],
            expression: None,
        },
        make: neighbours::resource_count,
    },
    Kind {
        name: "state_check",
        names: Names { known: &["condition", "description", "allow_sensitive"], expression: Some("condition") },
        make: fields::state_check,
    },
];

/// Reads a predicate. None if something is wrong with it, which has been told.
pub(super) fn question(reader: &mut Reader<'_>, block: &Block, id: &Str, place: Span) -> Option<Question> {
    let label = block.labels.first()?;
    let name = snake_case(&label.text);
    let Some(kind) = KINDS.iter().find(|kind| name == *kind.name) else {
        unknown_kind(reader, label, &name);
        return None;
    };
    let arguments = reader.arguments_of(block, kind.names);
    let description = reader.words(&arguments, "description").map(|text| clean(&text));
    let allow_sensitive = reader.bool(&arguments, "allow_sensitive").unwrap_or_default();
    let predicate = (kind.make)(reader, &arguments)?;
    Some(Question { id: id.clone(), description, place: Some(place), allow_sensitive, predicate })
}

fn unknown_kind(reader: &mut Reader<'_>, label: &Label, name: &str) {
    let known: Vec<String> = KINDS.iter().map(|kind| format!("{:?}", kind.name)).collect();
    let advice = did_you_mean(name, KINDS.iter().map(|kind| kind.name));
    let detail = format!("There is no predicate {:?}. It can be {}.{advice}", &*label.text, one_of(&known));
    reader.diagnostics.push(Code(1102).error("Unknown kind of predicate", detail).at(label.span));
}
