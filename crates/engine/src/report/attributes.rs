//! What differs between two objects, and which of it needs a new object. Values that must not be shown are never in here.

use std::collections::BTreeSet;

use groma_model::path::{Path, PathKey, PathStep};
use groma_model::value::{Value, ValueKind, WalkControl};

use crate::change::Change;

/// How many characters of a value are shown.
const SHOWN: usize = 60;

/// Shorter secrets are looked for in nothing else: they occur everywhere.
const SHORTEST_SECRET: usize = 3;

/// An attribute that will be different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeChange {
    /// Where in the object.
    pub path: Path,
    /// How it differs.
    pub difference: Difference,
    /// Whether the provider cannot change it in place.
    pub forces_replacement: bool,
    /// Whether its values must not be shown.
    pub sensitive: bool,
    /// What it is, if that can be shown.
    pub before: Option<String>,
    /// What it will be, if that is known and can be shown.
    pub after: Option<String>,
}

/// How an attribute differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// It is not there yet.
    Added,
    /// It will not be there any more.
    Removed,
    /// Its value changes.
    Changed,
    /// Its value will be known only when the plan is carried out.
    Unknown,
    /// Only whether it may be shown changes.
    Sensitivity,
}

/// All attributes that differ. None for objects that are made or deleted: there everything does.
pub(super) fn changed(change: &Change) -> Vec<AttributeChange> {
    if change.before.is_null() || change.after.is_null() {
        return Vec::new();
    }
    let mut secrets = BTreeSet::new();
    add_secrets(&change.before, false, &mut secrets);
    add_secrets(&change.after, false, &mut secrets);
    let mut walk = Walk { change, secrets, path: Path::root(), found: Vec::new() };
    walk.compare(&change.before, &change.after, false);
    walk.found
}

/// The texts of an object that must not be shown. Providers copy them to where nobody has marked them.
fn add_secrets(value: &Value, hidden: bool, secrets: &mut BTreeSet<String>) {
    let hidden = hidden || value.marks().is_sensitive();
    if let (true, Some(text)) = (hidden, value.as_str())
        && text.chars().count() >= SHORTEST_SECRET
    {
        secrets.insert(text.to_owned());
    }
    for (_, part) in value.children() {
        add_secrets(part, hidden, secrets);
    }
}

struct Walk<'c> {
    change: &'c Change,
    secrets: BTreeSet<String>,
    path: Path,
    found: Vec<AttributeChange>,
}

impl Walk<'_> {
    /// `hidden` if something around it must not be shown.
    fn compare(&mut self, before: &Value, after: &Value, hidden: bool) {
        if before == after {
            return;
        }
        let hidden = hidden || before.marks().is_sensitive() || after.marks().is_sensitive();
        match (before.kind(), after.kind()) {
            (ValueKind::Object(a), ValueKind::Object(b)) | (ValueKind::Map(a), ValueKind::Map(b)) => {
                let is_map = matches!(before.kind(), ValueKind::Map(_));
                let names = a.names().iter().chain(b.names().iter().filter(|name| !a.contains(name)));
                for name in names {
                    let key = PathKey::String(name.clone());
                    let step = if is_map { PathStep::Index(key) } else { PathStep::Attr(name.clone()) };
                    self.enter(step, a.get(name), b.get(name), hidden);
                }
            }
            (ValueKind::List(a), ValueKind::List(b)) | (ValueKind::Tuple(a), ValueKind::Tuple(b)) => {
                for at in 0..a.len().max(b.len()) {
                    let step = PathStep::Index(PathKey::Number((at as u64).into()));
                    self.enter(step, a.get(at), b.get(at), hidden);
                }
            }
            _ => self.leaf(Some(before), Some(after), hidden),
        }
    }

    fn enter(&mut self, step: PathStep, before: Option<&Value>, after: Option<&Value>, hidden: bool) {
        self.path.push(step);
        match (before, after) {
            (Some(before), Some(after)) => self.compare(before, after, hidden),
            (before, after) => self.leaf(before, after, hidden),
        }
        self.path.pop();
    }

    fn holds_secret(&self, value: &Value) -> bool {
        if self.secrets.is_empty() {
            return false;
        }
        let mut found = false;
        value.walk(&mut |_, part| {
            found = part.as_str().is_some_and(|text| self.secrets.iter().any(|secret| text.contains(secret)));
            if found { WalkControl::Stop } else { WalkControl::Enter }
        });
        found
    }

    fn leaf(&mut self, before: Option<&Value>, after: Option<&Value>, hidden: bool) {
        let there = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
        let marked = |value: Option<&Value>| value.is_some_and(|value| value.marks_deep().is_sensitive());
        let plain = |value: Option<&Value>| value.map(|value| value.clone().unmark_deep().0);
        let (known_before, known_after) = (plain(before), plain(after));
        let difference = match (there(before), there(after)) {
            _ if after.is_some_and(|after| !after.is_wholly_known()) => Difference::Unknown,
            (false, false) => return,
            (false, true) => Difference::Added,
            (true, false) => Difference::Removed,
            _ if known_before == known_after => Difference::Sensitivity,
            _ => Difference::Changed,
        };
        let copied = |value: Option<&Value>| value.is_some_and(|value| self.holds_secret(value));
        let sensitive = hidden || marked(before) || marked(after) || copied(before) || copied(after);
        let show =
            |value: Option<Value>| value.filter(|value| !sensitive && !value.is_null()).and_then(|value| shown(&value));
        let forces = |path: &Path| path.starts_with(&self.path) || self.path.starts_with(path);
        self.found.push(AttributeChange {
            path: self.path.clone(),
            difference,
            forces_replacement: self.change.action.is_replace() && self.change.replace_paths.iter().any(forces),
            sensitive,
            before: show(known_before),
            after: show(known_after),
        });
    }
}

/// A value in one short line. None if it is not known.
fn shown(value: &Value) -> Option<String> {
    if !value.is_wholly_known() {
        return None;
    }
    let text = groma_lang::display::console(value);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= SHOWN {
        return Some(text);
    }
    let start: String = text.chars().take(SHOWN - 1).collect();
    Some(format!("{start}\u{2026}"))
}
