//! Conditions made at random: however much is asked, the verdict is the same (T-57h).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use groma_model::text::Str;
use groma_model::value::Value;

use super::tests::{Fixture, rule, says};
use super::{Answer, Care, Panel, Tree, judge};
use crate::replace::rule::{Logic, Named};
use crate::replace::truth::Truth;

/// Numbers that follow from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

fn leaf(numbers: &mut Numbers) -> Logic {
    let answer = match numbers.below(4) {
        0 => Answer::Truth(Truth::True),
        1 => Answer::Truth(Truth::False),
        2 => Answer::Truth(Truth::Unknown),
        _ => Answer::Error,
    };
    let id = format!("p{}", numbers.below(1000));
    says(&id, answer, numbers.below(3) == 0)
}

fn logic(numbers: &mut Numbers, depth: usize, seen: &mut Vec<Logic>) -> Logic {
    if depth == 0 || numbers.below(4) == 0 {
        return match numbers.below(8) {
            0 => Logic::Constant(numbers.below(2) == 0),
            1..=2 if !seen.is_empty() => seen[numbers.below(seen.len())].clone(),
            _ => leaf(numbers),
        };
    }
    let count = numbers.below(4);
    let parts: Vec<Logic> = (0..count).map(|_| logic(numbers, depth - 1, seen)).collect();
    let made = match numbers.below(3) {
        0 => Logic::All(parts),
        1 => Logic::Any(parts),
        _ => Logic::NoneOf(parts),
    };
    if numbers.below(4) != 0 {
        return made;
    }
    let id = Str::from(format!("g{}", numbers.below(1000)));
    let named = Logic::Named(Arc::new(Named { id, description: None, logic: made }));
    seen.push(named.clone());
    named
}

fn skipped(tree: &Tree) -> usize {
    usize::from(tree.result == Answer::Skipped) + tree.children.iter().map(skipped).sum::<usize>()
}

#[test]
fn the_verdict_does_not_depend_on_how_much_is_asked() {
    let numbers = &mut Numbers(20_261_116);
    let object = Value::object([("name", Value::from("a"))]);
    let fixture = Fixture::new("sim_box.a", object.clone(), object);
    let schema = Arc::new(fixture.case().schema.clone());
    let mut skips = 0;
    for _ in 0..10_000 {
        let rule = Arc::new(rule("sim_box", Some(logic(numbers, 5, &mut Vec::new()))));
        let [bare, quick, full] =
            [Care::Verdict, Care::Quick, Care::Full].map(|care| judge(&rule, &fixture.case(), care));
        assert_eq!(quick.verdict, full.verdict, "{rule:?}");
        assert_eq!(bare.verdict, full.verdict, "{rule:?}");
        assert_eq!(bare.diagnostics.is_empty(), full.diagnostics.is_empty());
        assert!(bare.tree.is_none());
        let case = fixture.case();
        let panel = Panel::new(Arc::from([Arc::clone(&rule)]), &schema);
        let brief = panel.briefs(&case, false).next().unwrap().of(&rule);
        assert_eq!((brief.verdict, brief.field), (full.verdict, full.field), "{rule:?}");
        assert_eq!(brief.diagnostics, bare.diagnostics, "{rule:?}");
        assert_eq!(skipped(&full.tree.unwrap()), 0);
        skips += skipped(&quick.tree.unwrap());
    }
    assert!(skips > 1000, "{skips}");
}
