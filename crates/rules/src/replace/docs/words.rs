//! Conditions in words, made of the descriptions of their parts.

use std::sync::Arc;

use crate::replace::eval::clean;
use crate::replace::rule::{Logic, Question};

/// No condition is told deeper than this: it would not be read.
const DEPTH: usize = 8;

const KNOWN: &str = "it is known whether";

/// A condition in words.
pub fn condition(logic: &Logic) -> String {
    words(logic, 0)
}

fn words(logic: &Logic, depth: usize) -> String {
    if depth > DEPTH {
        return "…".to_owned();
    }
    match logic {
        Logic::All(parts) => joined(parts, " and ", "always", depth),
        Logic::Any(parts) => match parts.as_slice() {
            // Either or: what matters is that it is known.
            [part, Logic::NoneOf(none)] if matches!(none.as_slice(), [other] if is_same(part, other)) => {
                format!("{KNOWN} {}", nested(part, depth))
            }
            _ => joined(parts, " or ", "never", depth),
        },
        Logic::NoneOf(parts) => match parts.as_slice() {
            [part] => format!("not: {}", nested(part, depth)),
            _ => format!("none of: {}", joined(parts, "; ", "nothing", depth)),
        },
        Logic::Constant(true) => "always".to_owned(),
        Logic::Constant(false) => "never".to_owned(),
        Logic::Named(named) => match &named.description {
            Some(text) => sentence_part(text),
            None => words(&named.logic, depth + 1),
        },
        Logic::Ask(question) => asked(question),
    }
}

fn asked(question: &Question) -> String {
    if let Some(text) = &question.description {
        return sentence_part(text);
    }
    let fields: Vec<String> = question.predicate.reads().into_iter().map(ToString::to_string).collect();
    format!("{} {}", question.predicate.kind(), fields.join(", ")).trim_end().to_owned()
}

/// A description as a part of a sentence: without the full stop, and without the capital of its first word.
fn sentence_part(text: &str) -> String {
    let text = clean(text);
    let text = text.trim().trim_end_matches('.');
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && !second.is_uppercase() => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

fn joined(parts: &[Logic], glue: &str, empty: &str, depth: usize) -> String {
    match parts {
        [] => empty.to_owned(),
        [part] => words(part, depth + 1),
        _ => parts.iter().map(|part| nested(part, depth)).collect::<Vec<_>>().join(glue),
    }
}

/// In brackets, if it is made of several parts.
fn nested(part: &Logic, depth: usize) -> String {
    let text = words(part, depth + 1);
    let inner = match part {
        Logic::Named(named) if named.description.is_none() => &named.logic,
        other => other,
    };
    match inner {
        Logic::All(parts) | Logic::Any(parts) if parts.len() > 1 && !text.starts_with(KNOWN) => format!("({text})"),
        _ => text,
    }
}

fn is_same(a: &Logic, b: &Logic) -> bool {
    match (a, b) {
        (Logic::Ask(a), Logic::Ask(b)) => Arc::ptr_eq(a, b),
        (Logic::Any(a), Logic::Any(b)) | (Logic::All(a), Logic::All(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        _ => false,
    }
}
