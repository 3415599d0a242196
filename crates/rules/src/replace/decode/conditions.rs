//! Conditions of a directory: those that use each other in a circle are found, the others are given their meanings, the used ones first.

use std::collections::{BTreeMap, BTreeSet};

use groma_model::text::Str;
use groma_syntax::body::{Block, Label};

use super::Reader;
use super::literal::Text;
use super::logic::{Conditions, Written};
use super::words::clean;
use crate::replace::problem::Code;

/// A condition that is read, and not yet looked up.
struct Condition<'b> {
    label: &'b Label,
    description: Option<Str>,
    written: Written,
}

/// A condition on the way to those that it uses.
struct Visit {
    id: Str,
    uses: Vec<Text>,
    next: usize,
}

impl Reader<'_> {
    /// What the conditions of a directory mean.
    pub(super) fn conditions(&mut self, blocks: &[&Block]) -> Conditions {
        let mut written: BTreeMap<Str, Condition<'_>> = BTreeMap::new();
        let mut order = Vec::new();
        for block in blocks {
            let Some(label) = block.labels.first() else { continue };
            self.check_name(label, "condition");
            let (arguments, condition) = self.condition_in(block, &["description"], 1);
            let description = self.words(&arguments, "description").map(|text| clean(&text));
            order.push(label.text.clone());
            written.insert(label.text.clone(), Condition { label, description, written: condition });
        }
        let mut meanings = Conditions::new();
        let mut faulty: BTreeSet<Str> = BTreeSet::new();
        for id in order {
            self.visit(id, &written, &mut meanings, &mut faulty);
        }
        meanings
    }

    /// Gives a condition its meaning, after those that it uses. Without recursion: chains can be long.
    fn visit(
        &mut self,
        id: Str,
        written: &BTreeMap<Str, Condition<'_>>,
        meanings: &mut Conditions,
        faulty: &mut BTreeSet<Str>,
    ) {
        let begin = |id: Str| {
            let uses = written.get(&id).map(|condition| condition.written.uses()).unwrap_or_default();
            Visit { id, uses, next: 0 }
        };
        if meanings.contains_key(&id) {
            return;
        }
        let mut on_the_way: BTreeSet<Str> = BTreeSet::from([id.clone()]);
        let mut way = vec![begin(id)];
        while let Some(visit) = way.last_mut() {
            let Some(used) = visit.uses.get(visit.next).cloned() else {
                let id = visit.id.clone();
                way.pop();
                on_the_way.remove(&id);
                let meaning = match written.get(&id) {
                    Some(condition) if !faulty.contains(&id) => self.condition_meaning(condition, meanings),
                    _ => None,
                };
                meanings.insert(id, meaning);
                continue;
            };
            visit.next += 1;
            if on_the_way.contains(&used.says) {
                self.circle(&way, &used, faulty);
            } else if written.contains_key(&used.says) && !meanings.contains_key(&used.says) {
                on_the_way.insert(used.says.clone());
                way.push(begin(used.says));
            }
        }
    }

    fn condition_meaning(&mut self, condition: &Condition<'_>, meanings: &Conditions) -> Option<super::logic::Meaning> {
        if condition.written.is_empty() {
            return None;
        }
        // Names that exist and that are not read yet are in a circle, which has been told; so all that are used are known here.
        let meaning = self.meaning(&condition.written, meanings)?;
        let meaning = self.within_limits(meaning, &condition.written, condition.label)?;
        Some(meaning.named(condition.label.text.clone(), condition.description.clone()))
    }

    fn circle(&mut self, way: &[Visit], closing: &Text, faulty: &mut BTreeSet<Str>) {
        let from = way.iter().position(|visit| visit.id == closing.says).unwrap_or(0);
        let mut ids: Vec<&str> = way[from..].iter().map(|visit| visit.id.as_str()).collect();
        faulty.extend(way[from..].iter().map(|visit| visit.id.clone()));
        ids.push(&closing.says);
        let detail = format!("Conditions must not use each other in a circle: {}.", ids.join(" -> "));
        self.diagnostics.push(Code(1114).error("Condition uses itself", detail).at(closing.span));
    }
}
