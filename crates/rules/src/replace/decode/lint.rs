//! Hints about rules that are correct, and probably not what was meant.

use std::sync::Arc;

use groma_model::span::Span;

use super::Reader;
use crate::replace::problem::Code;
use crate::replace::rule::{Logic, Question, ReplaceRule};

/// With more predicates than that, not every combination of answers is tried.
const MAX_TRIED: usize = 8;

impl Reader<'_> {
    /// Hints about a whole rule.
    pub(super) fn lint(&mut self, rule: &ReplaceRule, place: Span) {
        let Some(logic) = &rule.logic else { return };
        if can_never_hold(logic) {
            let detail = "Whatever its predicates find, the condition of this rule is false.";
            self.lints.push(Code(4004).warning("Rule can never fire", detail).at(place));
        }
    }
}

/// Whether a condition is false for all answers of its predicates.
fn can_never_hold(logic: &Logic) -> bool {
    let mut questions = Vec::new();
    collect(logic, &mut questions);
    let tried = questions.len().min(MAX_TRIED);
    // The answers of those beyond are taken for anything: then only constants can decide.
    if tried < questions.len() {
        return could_be(logic, &|_| None) == Some(false);
    }
    (0..1_u32 << tried).all(|row| {
        let answer = |question: &Arc<Question>| {
            questions.iter().position(|known| Arc::ptr_eq(known, question)).map(|at| row & (1 << at) != 0)
        };
        could_be(logic, &answer) == Some(false)
    })
}

fn collect<'l>(logic: &'l Logic, questions: &mut Vec<&'l Arc<Question>>) {
    match logic {
        Logic::All(parts) | Logic::Any(parts) | Logic::NoneOf(parts) => {
            for part in parts {
                collect(part, questions);
            }
        }
        Logic::Named(named) => collect(&named.logic, questions),
        Logic::Ask(question) if !questions.iter().any(|known| Arc::ptr_eq(known, question)) => questions.push(question),
        Logic::Ask(_) | Logic::Constant(_) => {}
    }
}

/// The result with these answers. None if it depends on answers that are not given.
fn could_be(logic: &Logic, answer: &dyn Fn(&Arc<Question>) -> Option<bool>) -> Option<bool> {
    let any = |parts: &[Logic]| {
        let results: Vec<Option<bool>> = parts.iter().map(|part| could_be(part, answer)).collect();
        if results.contains(&Some(true)) {
            Some(true)
        } else if results.contains(&None) {
            None
        } else {
            Some(false)
        }
    };
    match logic {
        Logic::All(parts) => {
            let results: Vec<Option<bool>> = parts.iter().map(|part| could_be(part, answer)).collect();
            if results.contains(&Some(false)) {
                Some(false)
            } else if results.contains(&None) {
                None
            } else {
                Some(true)
            }
        }
        Logic::Any(parts) => any(parts),
        Logic::NoneOf(parts) => any(parts).map(|result| !result),
        Logic::Constant(value) => Some(*value),
        Logic::Named(named) => could_be(&named.logic, answer),
        Logic::Ask(question) => answer(question),
    }
}
