//! Many changes that are alike, shown as a few: instances of one resource whose changes say the same but for their own key and
//! for what the provider chose.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use groma_model::address::{AbsInstance, ConfigResource, InstanceKey};
use groma_run::engine::change::Change;

use super::body;
use crate::render::diff::{Mode, Printer};
use crate::render::paint::Paint;

/// So many that are alike are worth folding.
const MANY: usize = 10;

/// So many of them are shown.
const SHOWN: usize = 3;

/// Changes that are left out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// One like them, which is shown.
    pub(super) first: usize,
    /// The last of them.
    pub(super) last: usize,
    /// How many there are.
    pub(super) count: usize,
}

/// What is left out, by place.
#[derive(Debug, Default)]
pub(super) struct Folded {
    hidden: Vec<bool>,
    /// By the change behind which it is said.
    groups: BTreeMap<usize, Group>,
}

impl Folded {
    /// Whether a change is left out.
    pub(super) fn is_hidden(&self, at: usize) -> bool {
        self.hidden.get(at).copied().unwrap_or_default()
    }

    /// What is to be said behind a change.
    pub(super) fn ends_with(&self, at: usize) -> Option<&Group> {
        self.groups.get(&at)
    }
}

/// Finds what can be left out.
pub(super) fn plan(changes: &[&Change]) -> Folded {
    let mut by_resource: BTreeMap<ConfigResource, Vec<usize>> = BTreeMap::new();
    for (at, change) in changes.iter().enumerate() {
        by_resource.entry(change.address.config()).or_default().push(at);
    }
    let mut folded = Folded { hidden: vec![false; changes.len()], groups: BTreeMap::new() };
    for members in by_resource.values().filter(|members| members.len() >= MANY) {
        let mut alike: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for &at in members {
            if let Some(likeness) = likeness(changes[at]) {
                alike.entry(likeness).or_default().push(at);
            }
        }
        for group in alike.values().filter(|group| group.len() >= MANY) {
            let (shown, hidden) = group.split_at(SHOWN);
            for &at in hidden {
                folded.hidden[at] = true;
            }
            if let (Some(&first), Some(&behind), Some(&last)) = (shown.first(), shown.last(), hidden.last()) {
                folded.groups.insert(behind, Group { first, last, count: hidden.len() });
            }
        }
    }
    folded
}

/// The same for changes that say the same. None for those that are always shown.
fn likeness(change: &Change) -> Option<u64> {
    if change.deposed.is_some() || change.importing.is_some() || super::is_moved(change) {
        return None;
    }
    let mut text = String::new();
    let mut printer = Printer::new(&mut text, Paint(false), false);
    printer.mask = Some(&change.schema.block);
    printer.diff(&body(&super::veil::veiled(change)), 0, Mode::default());
    for key in keys(&change.address) {
        text = without_key(&text, key);
    }
    let mut hasher = DefaultHasher::new();
    (change.action, change.reason, change.notes.len(), text).hash(&mut hasher);
    Some(hasher.finish())
}

fn keys(address: &AbsInstance) -> impl Iterator<Item = &InstanceKey> {
    address.module.steps().iter().map(|step| &step.key).chain([address.key()])
}

/// The text with a placeholder for a key.
fn without_key(text: &str, key: &InstanceKey) -> String {
    match key {
        InstanceKey::None => text.to_owned(),
        InstanceKey::String(key) if key.is_empty() => text.to_owned(),
        InstanceKey::String(key) => text.replace(key.as_str(), "\u{0}"),
        InstanceKey::Int(number) => without_number(text, &number.to_string()),
    }
}

/// Replaces a number, where it does not belong to a longer one.
fn without_number(text: &str, number: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, behind) = rest.split_at(end);
        out.push_str(if digits == number { "\u{0}" } else { digits });
        rest = behind;
    }
    out.push_str(rest);
    out
}
