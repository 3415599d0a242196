//! A row of a table, and the rules that are made of it.

use std::sync::Arc;

use groma_model::address::Module;
use groma_model::diag::Diagnostic;
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::value::Value;

use crate::glob::Glob;
use crate::replace::path::FieldPath;
use crate::replace::predicate::Predicate;
use crate::replace::predicate::attached::{HasAttached, Kind, Parameters, Via};
use crate::replace::predicate::claim::{Claim, ClaimReused, Part};
use crate::replace::problem::Code;
use crate::replace::rule::{Attachment, Behavior, Logic, OnUnknown, Order, Origin, Question, ReplaceRule};

/// What kind of trouble there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A link that has no identity of its own: made again first, it is gone afterwards.
    Link,
    /// Something that only one object can have.
    Claim,
    /// It cannot go while others use it.
    Held,
    /// Both: there is no safe order.
    Both,
    /// Its name stays taken for a while after it is gone.
    Quarantine,
}

impl Class {
    /// In documentation.
    pub fn name(self) -> &'static str {
        match self {
            Class::Link => "link",
            Class::Claim => "unique claim",
            Class::Held => "in use",
            Class::Both => "unique claim and in use",
            Class::Quarantine => "quarantined name",
        }
    }
}

/// What is known about a resource type.
///
/// Paths of claims and links may have `~` before them: ranges of addresses, which must not overlap; and `?` behind them: not every
/// version or every type has them. The first part of each is what is claimed, the others say where.
#[derive(Debug)]
pub struct Row {
    /// The name, which the names of its rules begin with.
    pub id: &'static str,
    /// The resource type, or a glob of some.
    pub resource: &'static str,
    /// What kinds of trouble there are.
    pub classes: &'static [Class],
    /// Arguments whose changes have brought that trouble to light.
    pub triggers: &'static [&'static str],
    /// What two objects cannot both have.
    pub claims: &'static [&'static [&'static str]],
    /// What a link is between: its identity.
    pub links: &'static [&'static [&'static str]],
    /// Types of objects that keep it from being deleted.
    pub held_by: &'static [&'static str],
    /// The attributes by which they hold it.
    pub identity: &'static [&'static str],
    /// Where the old object has this value, its name is free as soon as it is gone.
    pub unless: Option<(&'static str, i64)>,
    /// Whether the old object goes first even if it is not known whether the claims are the same.
    pub when_unknown: bool,
    /// Why, in a sentence, for what is claimed.
    pub because: &'static str,
    /// What happens otherwise.
    pub symptom: &'static str,
    /// What else could be done.
    pub suggestions: &'static [&'static str],
    /// Where people have met it.
    pub threads: &'static [&'static str],
}

/// A row about nothing, to begin with.
pub(super) const ROW: Row = Row {
    id: "",
    resource: "",
    classes: &[],
    triggers: &[],
    claims: &[],
    links: &[],
    held_by: &[],
    identity: &[],
    unless: None,
    when_unknown: false,
    because: "",
    symptom: "",
    suggestions: &[],
    threads: &[],
};

/// What is often suggested.
pub(super) const RENAME: &str =
    "Give the new object another name, for example with name_prefix or by making a changing value part of it";
pub(super) const WITH_DEPENDENT: &str =
    "Replace what uses it as well: replace_triggered_by in the lifecycle block of the dependent";

impl Row {
    /// The rules: one for what is claimed, one for what is held, or both.
    pub(super) fn rules(&'static self) -> Vec<ReplaceRule> {
        let ask = |question: Question| Logic::Ask(Arc::new(question));
        let claimed = self.claim_question(false).map(ask);
        let held = self.held_question().map(ask);
        if self.classes.contains(&Class::Quarantine) {
            let kept = self.claim_question(true).map(ask);
            return claimed.zip(kept).map(|(claimed, kept)| self.quarantined(claimed, kept)).unwrap_or_default();
        }
        match (claimed, held) {
            (Some(claimed), None) => vec![self.rule("", Order::DeleteFirst, claimed)],
            (None, Some(held)) => vec![self.rule("", Order::CreateFirst, held)],
            (Some(claimed), Some(held)) => {
                // Both hold if there is no safe order. If it is not known whether something is claimed again, it is not known either
                // whether the new object can come first: "A or not A" is unknown just then.
                let known = Logic::Any(vec![claimed.clone(), Logic::NoneOf(vec![claimed.clone()])]);
                let held = Logic::All(vec![held, known]);
                vec![self.rule(".reused", Order::DeleteFirst, claimed), self.rule(".held", Order::CreateFirst, held)]
            }
            (None, None) => Vec::new(),
        }
    }

    /// With the old object there its name is taken, and with it gone it is still taken, unless it lets go of it: then neither order is safe.
    fn quarantined(&'static self, claimed: Logic, kept: Logic) -> Vec<ReplaceRule> {
        vec![self.rule(".taken", Order::DeleteFirst, claimed), self.rule(".quarantined", Order::CreateFirst, kept)]
    }

    fn rule(&'static self, suffix: &str, order: Order, logic: Logic) -> ReplaceRule {
        let certain = self.classes.iter().any(|class| matches!(class, Class::Link | Class::Claim));
        let auto = certain && order == Order::DeleteFirst;
        let because = match order {
            Order::CreateFirst if !self.classes.contains(&Class::Quarantine) => "Other objects still use the old one",
            _ => self.because,
        };
        ReplaceRule {
            id: Str::from(format!("{}{suffix}", self.id)),
            place: None,
            module: Module::root(),
            origin: Origin::Catalogue,
            resource: Glob::new(self.resource),
            provider: None,
            provider_version: None,
            targets: Vec::new(),
            fields: Vec::new(),
            order,
            behavior: if auto { Behavior::Auto } else { Behavior::Warn },
            on_unknown: self.when_unknown.then_some(OnUnknown::Match),
            on_error: None,
            replace_dependents: Vec::new(),
            is_about_links: order == Order::DeleteFirst && self.classes.contains(&Class::Link),
            logic: Some(logic),
            reasoning: Some(Str::from(format!("{because} (otherwise: {})", self.symptom))),
            suggestions: self.suggestions.iter().map(|text| Str::from(*text)).collect(),
            learn_more: None,
        }
    }

    /// Whether something is claimed again; of names that are kept, only if they are.
    fn claim_question(&'static self, only_kept: bool) -> Option<Question> {
        let tuples = self.claims.iter().chain(self.links);
        let claims: Vec<Claim> =
            tuples.map(|parts| Claim(parts.iter().filter_map(|part| Cell::of(part).part()).collect())).collect();
        if claims.is_empty() {
            return None;
        }
        let mut names: Vec<&str> = Vec::new();
        for parts in self.claims.iter().chain(self.links) {
            let name = Cell::of(parts[0]).path;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let unless = self.unless.iter().filter(|_| only_kept);
        let unless = unless.filter_map(|(path, value)| Some((path_of(path)?, Value::from(*value)))).collect();
        let description = match names.as_slice() {
            [name] => format!("The new object uses {name} of the old one again"),
            names => format!("The new object uses one of {} of the old one again", names.join(", ")),
        };
        Some(question("reused", &description, ClaimReused::new(claims, unless)))
    }

    fn held_question(&'static self) -> Option<Question> {
        if self.held_by.is_empty() {
            return None;
        }
        let alias = Attachment {
            alias: Str::from(self.id),
            place: None,
            resource: None,
            block: None,
            types: self.held_by.iter().map(|ty| Glob::new(*ty)).collect(),
            exclusive: Vec::new(),
            identity: self.identity.iter().map(|name| Str::from(*name)).collect(),
        };
        let kind = Kind { name: Str::from(self.id), place: None, via: Via::Dependents, aliases: Arc::from([alias]) };
        let parameters = Parameters { resource_types: vec![kind], check_conflicts: true, ..Parameters::default() };
        let held = HasAttached::new(parameters).ok()?;
        Some(question("held", "Other objects still use the old one", held))
    }

    /// Every path in it, and whether all types that it is about must have it.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell> {
        let tuples = self.claims.iter().chain(self.links).flat_map(|parts| parts.iter());
        let unless = self.unless.iter().map(|(path, _)| path);
        tuples.chain(self.triggers).chain(self.identity).chain(unless).map(|text| Cell::of(text))
    }

    /// What is wrong with it for types with this schema.
    pub(super) fn check(&self, schema: &Schema) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for cell in self.cells() {
            match path_of(cell.path) {
                Some(path) if !cell.optional => found.extend(path.check(schema)),
                Some(_) => {}
                None => found.push(Code(1103).error("No such field", format!("{:?} is no path.", cell.path))),
            }
        }
        found
    }
}

/// A path in a table.
pub(super) struct Cell {
    pub(super) path: &'static str,
    range: bool,
    optional: bool,
}

impl Cell {
    fn of(text: &'static str) -> Self {
        let (range, path) = match text.strip_prefix('~') {
            Some(path) => (true, path),
            None => (false, text),
        };
        match path.strip_suffix('?') {
            Some(path) => Self { path, range, optional: true },
            None => Self { path, range, optional: false },
        }
    }

    fn part(&self) -> Option<Part> {
        Some(Part { path: path_of(self.path)?, range: self.range })
    }
}

/// None if it is no path, which a test finds out.
pub(super) fn path_of(text: &str) -> Option<FieldPath> {
    FieldPath::parse(text, None).ok()
}

fn question(id: &str, description: &str, predicate: impl Predicate + 'static) -> Question {
    Question {
        id: Str::from(id),
        description: Some(Str::from(description)),
        place: None,
        allow_sensitive: false,
        predicate: Box::new(predicate),
    }
}
