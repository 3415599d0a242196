//! Predicates about other objects: `has_attached_resources` and `resource_count`.

use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::Str;

use crate::replace::decode::Reader;
use crate::replace::decode::arguments::Arguments;
use crate::replace::decode::literal::{Literal, LiteralKind, Text};
use crate::replace::predicate::Predicate;
use crate::replace::predicate::attached::{HasAttached, Kind, Parameters, Via};
use crate::replace::predicate::resource_count::ResourceCount;
use crate::replace::problem::Code;
use crate::replace::rule::Attachment;

/// How something can be attached.
const VIA: &[(&str, Via)] = &[
    ("auto", Via::Auto),
    ("dependents", Via::Dependents),
    ("embedded", Via::Embedded),
    ("references", Via::References),
];

/// How something can be counted.
const COUNTED_VIA: &[(&str, Via)] = &[
    ("auto", Via::Auto),
    ("dependents", Via::Dependents),
    ("embedded", Via::Embedded),
    ("references", Via::References),
    ("siblings", Via::Siblings),
];

pub(super) fn has_attached_resources(reader: &mut Reader<'_>, arguments: &Arguments) -> Option<Box<dyn Predicate>> {
    reader.required(arguments, "resource_types");
    let via = reader.choice(arguments, "via", VIA).unwrap_or_default();
    let types = reader.texts(arguments, "resource_types");
    if let Some(literal) = arguments.get("resource_types")
        && matches!(&literal.kind, LiteralKind::List(items) if items.is_empty())
    {
        reader.empty("resource_types", "a type", literal);
        return None;
    }
    let count = |name: &str, reader: &mut Reader<'_>| reader.count(arguments, name).unzip();
    let (minimum_count, minimum_place) = count("minimum_count", reader);
    let (maximum_count, maximum_place) = count("maximum_count", reader);
    let given = Parameters {
        resource_types: types.iter().map(|text| reader.attached_kind(text, via)).collect(),
        check_conflicts: reader.bool(arguments, "check_conflicts").unwrap_or_default(),
        minimum_count,
        minimum_place,
        maximum_count,
        maximum_place,
        exclusive: reader.fields(arguments, "exclusive"),
    };
    let made = reader.diagnostics.take(HasAttached::new(given))?;
    Some(Box::new(made))
}

pub(super) fn resource_count(reader: &mut Reader<'_>, arguments: &Arguments) -> Option<Box<dyn Predicate>> {
    let via = reader.choice(arguments, "via", COUNTED_VIA).unwrap_or_default();
    for name in ["resource_type", "operator", "count"] {
        // Instances of the same resource need no other name.
        if name != "resource_type" || via != Via::Siblings {
            reader.required(arguments, name);
        }
    }
    let kind = match reader.text(arguments, "resource_type") {
        Some(text) => reader.attached_kind(&text, via),
        None => Kind { name: Str::new(""), place: None, via, aliases: Arc::new([]) },
    };
    let operator = reader.text(arguments, "operator");
    let count = reader.count(arguments, "count");
    let (operator, (count, place)) = (operator?, count?);
    let made = ResourceCount::new(kind, (&operator.says, Some(operator.span)), (count, Some(place)));
    let made = reader.diagnostics.take(made)?;
    Some(Box::new(made))
}

impl Reader<'_> {
    fn attached_kind(&self, text: &Text, via: Via) -> Kind {
        let named = self.attachments.iter().filter(|attachment| attachment.alias == text.says);
        let aliases: Arc<[Attachment]> = named.map(|attachment| Attachment::clone(attachment)).collect();
        Kind { name: text.says.clone(), place: Some(text.span), via, aliases }
    }

    /// A whole number. Whether it may be negative is for others to say.
    fn count(&mut self, arguments: &Arguments, name: &str) -> Option<(i64, Span)> {
        let literal = arguments.get(name)?;
        let number = match &literal.kind {
            LiteralKind::Number(number) => number.to_i64(),
            _ => None,
        };
        if number.is_none() {
            self.not_a_count(name, literal);
        }
        Some((number?, literal.span))
    }

    fn not_a_count(&mut self, name: &str, literal: &Literal) {
        let detail = match literal.kind {
            LiteralKind::Number(_) => format!("{name} must be a whole number that is not negative."),
            _ => format!("{name} must be a whole number that is not negative, and this is {}.", literal.what()),
        };
        self.diagnostics.push(Code(1111).error("Invalid count", detail).at(literal.span));
    }
}
