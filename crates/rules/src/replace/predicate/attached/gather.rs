//! What is attached to an object: objects that depend on it or that it refers to, or elements of its own blocks and collections.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_model::diag::Diagnostic;
use groma_model::schema::{Attribute, AttributeKind, Block, Nesting, Schema};
use groma_model::span::Span;
use groma_model::text::{Str, suggestion};
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind, go_quote};

use super::{conflict, located};
use crate::glob::Glob;
use crate::replace::case::{Attached, Case};
use crate::replace::path::{FieldPath, Reading};
use crate::replace::problem::Code;
use crate::replace::rule::Attachment;
use crate::replace::step::Step;
use crate::replace::truth::Truth;

/// What is said where nothing is known about other objects.
pub(in crate::replace::predicate) const UNAVAILABLE: &str = "attachment data unavailable";

/// So many are named, the others are counted.
const NAMED: usize = 10;

/// How something is attached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Via {
    /// As its name says: an element of the object, what an `attachment` block defines, or else a dependent.
    #[default]
    Auto,
    /// It depends on the object.
    Dependents,
    /// It is an element of the object.
    Embedded,
    /// The object refers to it.
    References,
    /// It is another instance of the same resource. Only to be counted.
    Siblings,
}

impl Via {
    /// By its name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "auto" => Via::Auto,
            "dependents" => Via::Dependents,
            "embedded" => Via::Embedded,
            "references" => Via::References,
            "siblings" => Via::Siblings,
            _ => return None,
        })
    }
}

/// One entry of `resource_types`.
#[derive(Debug, Clone)]
pub struct Kind {
    /// As it is written: a block, an alias, a resource type or a glob of those.
    pub name: Str,
    /// Where that stands.
    pub place: Option<Span>,
    /// How it is attached.
    pub via: Via,
    /// What the name can stand for: all `attachment` blocks with that name.
    pub aliases: Arc<[Attachment]>,
}

/// What a name stands for with objects of one type.
enum Meaning<'k> {
    /// Elements of the object at a place, and what two of them cannot both have.
    Elements(Option<&'k FieldPath>, &'k [FieldPath]),
    /// Other objects of these types, and the attributes that they hold the object by.
    Others(Vec<Glob>, &'k [Str]),
}

impl Kind {
    pub(super) fn needs_neighbours(&self) -> bool {
        self.via != Via::Embedded
    }

    /// Definitions that are for objects of a type.
    fn aliases_for<'k>(&'k self, ty: &'k str) -> impl Iterator<Item = &'k Attachment> {
        self.aliases.iter().filter(move |alias| alias.resource.as_ref().is_none_or(|resource| resource.matches(ty)))
    }

    fn meanings<'k>(&'k self, case: &Case<'k>) -> Vec<Meaning<'k>> {
        let embedded = match self.via {
            Via::Auto => is_embedded(&self.name, case),
            Via::Embedded => self.aliases_for(&case.address.instance.resource.ty).next().is_none(),
            Via::Dependents | Via::References | Via::Siblings => false,
        };
        if embedded {
            return vec![Meaning::Elements(None, &[])];
        }
        let mut found = Vec::new();
        for alias in self.aliases_for(&case.address.instance.resource.ty) {
            if let Some(block) = alias.block.as_ref().filter(|_| matches!(self.via, Via::Auto | Via::Embedded)) {
                found.push(Meaning::Elements(Some(block), &alias.exclusive));
            }
            if !alias.types.is_empty() && self.via != Via::Embedded {
                found.push(Meaning::Others(alias.types.clone(), &alias.identity));
            }
        }
        if found.is_empty() && self.via != Via::Embedded {
            found.push(Meaning::Others(vec![Glob::new(self.name.clone())], &[]));
        }
        found
    }

    /// What is wrong with it for objects of a type.
    pub(in crate::replace::predicate) fn check(
        &self,
        exclusive: &[FieldPath],
        ty: &str,
        schema: &Schema,
        knows: &dyn Fn(&Glob) -> bool,
    ) -> Option<Diagnostic> {
        let embedded = is_collection(&schema.block, &self.name).unwrap_or(false);
        let known = match self.via {
            Via::Siblings => true,
            Via::Auto => embedded || self.aliases_for(ty).next().is_some() || knows(&Glob::new(self.name.clone())),
            Via::Embedded => embedded || self.aliases_for(ty).any(|alias| alias.block.is_some()),
            Via::Dependents | Via::References => {
                self.aliases_for(ty).any(|alias| !alias.types.is_empty()) || knows(&Glob::new(self.name.clone()))
            }
        };
        if known {
            let own = (embedded && matches!(self.via, Via::Auto | Via::Embedded))
                .then(|| in_elements(&self.name, exclusive, schema))
                .flatten();
            let mut blocks = self.aliases_for(ty).filter_map(|alias| Some((alias.block.as_ref()?, &alias.exclusive)));
            return own.or_else(|| {
                blocks.find_map(|(block, exclusive)| {
                    let problem = block.check(schema).into_iter().next();
                    problem.or_else(|| in_elements(block.as_str(), exclusive, schema))
                })
            });
        }
        let blocks = collections(&schema.block);
        let names = blocks.iter().copied().chain(self.aliases.iter().map(|alias| alias.alias.as_str()));
        let meant = suggestion(&self.name, names).map_or(String::new(), |meant| format!(" Did you mean {meant:?}?"));
        let detail = format!(
            "{:?} is neither a block or collection of {ty}, nor an \"attachment\" for it, nor a resource type of a provider of this \
             configuration.{meant}",
            self.name.as_str()
        );
        Some(located(Code(1107).error("Unknown attachment type", detail), self.place))
    }
}

/// What is wrong with paths in the elements of a block or collection.
fn in_elements(elements: &str, paths: &[FieldPath], schema: &Schema) -> Option<Diagnostic> {
    paths.iter().find_map(|path| {
        let whole = FieldPath::parse(&format!("{elements}.{path}"), None).ok()?;
        let problem = whole.check(schema).into_iter().next()?;
        Some(located(problem, path.place))
    })
}

/// Whether a name is a block or collection of an object. Without a schema, its value tells.
fn is_embedded(name: &str, case: &Case<'_>) -> bool {
    let by_value = || {
        let value = case.old.as_entries().and_then(|entries| entries.get(name));
        value.is_some_and(|value| is_many(&value.ty()))
    };
    is_collection(&case.schema.block, name).unwrap_or_else(by_value)
}

/// Whether a name is a block or collection. None if nothing is known about the type.
fn is_collection(block: &Block, name: &str) -> Option<bool> {
    if block.attributes.is_empty() && block.block_types.is_empty() {
        return None;
    }
    Some(block.block_types.contains_key(name) || block.attributes.get(name).is_some_and(holds_many))
}

fn collections(block: &Block) -> Vec<&str> {
    let attributes = block.attributes.iter().filter(|(_, attribute)| holds_many(attribute));
    block.block_types.keys().chain(attributes.map(|(name, _)| name)).map(Str::as_str).collect()
}

fn holds_many(attribute: &Attribute) -> bool {
    match &attribute.ty {
        AttributeKind::Type(ty) => is_many(ty),
        AttributeKind::Nested(nested) => matches!(nested.nesting, Nesting::List | Nesting::Set | Nesting::Map),
    }
}

fn is_many(ty: &Type) -> bool {
    ty.is_collection() || matches!(ty, Type::Tuple(_))
}

/// What is attached to an object.
pub(in crate::replace::predicate) struct Gathered<'k> {
    others: Vec<Attached>,
    elements: Vec<Elements<'k>>,
}

/// Elements of the object itself.
struct Elements<'k> {
    /// Where they are.
    name: String,
    old: Reading,
    new: Reading,
    /// What two of them cannot both have; all that is configured if that is empty.
    exclusive: &'k [FieldPath],
    /// Their schema, if they have one.
    block: Option<&'k Block>,
    /// How the first of them are called.
    labels: Vec<String>,
    secret: bool,
}

impl<'k> Gathered<'k> {
    /// None if it takes other objects to know and nothing is known about them.
    pub(in crate::replace::predicate) fn of(
        kinds: &'k [Kind],
        exclusive: &'k [FieldPath],
        case: &Case<'k>,
    ) -> Option<Self> {
        let mut gathered = Self { others: Vec::new(), elements: Vec::new() };
        let mut known: BTreeSet<String> = BTreeSet::new();
        for kind in kinds {
            for meaning in kind.meanings(case) {
                match meaning {
                    Meaning::Elements(block, own) => {
                        let exclusive = if exclusive.is_empty() { own } else { exclusive };
                        gathered.elements.push(Elements::of(kind, block, exclusive, case));
                    }
                    Meaning::Others(types, identity) => {
                        let neighbours = case.neighbours?;
                        let found = match kind.via {
                            Via::References => neighbours.references(&types, identity),
                            _ => neighbours.dependents(&types, identity),
                        };
                        gathered.others.extend(found.into_iter().filter(|other| known.insert(other.address.clone())));
                    }
                }
            }
        }
        Some(gathered)
    }

    pub(in crate::replace::predicate) fn count(&self) -> u64 {
        let elements: usize = self.elements.iter().map(|elements| elements.all().count()).sum();
        (self.others.len() + elements) as u64
    }

    /// `2 attached: node_pool.a, node_pool.b`. How many elements a sensitive collection has is not told.
    pub(in crate::replace::predicate) fn step(&self, word: &str) -> Step {
        let shown = self.elements.iter().filter(|elements| !elements.secret);
        let mut names: Vec<String> = self.others.iter().take(NAMED + 1).map(label).collect();
        names.extend(shown.flat_map(|elements| elements.labels.iter().cloned()));
        let secret: Vec<&str> = self.elements.iter().filter(|one| one.secret).map(|one| one.name.as_str()).collect();
        if !secret.is_empty() {
            return Step::text(format!("{word}: (sensitive) {}", secret.join(", ")));
        }
        let count = self.count();
        let more = count.saturating_sub(NAMED as u64);
        names.truncate(NAMED);
        if more > 0 {
            names.push(format!("and {more} more"));
        }
        let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        Step::text(format!("{count} {word}{names}"))
    }

    /// Whether at least one of them gets in the way.
    pub(super) fn conflicts(&self, steps: &mut Option<Vec<Step>>) -> Truth {
        let (mut yes, mut maybe, mut secret) = (Vec::new(), Vec::new(), false);
        for other in &self.others {
            match other.holds {
                Truth::True => yes.push(label(other)),
                Truth::Unknown => maybe.push(label(other)),
                Truth::False => {}
            }
        }
        for elements in &self.elements {
            secret |= elements.secret;
            // One is enough, if nobody wants to know which.
            if steps.is_none() && !yes.is_empty() {
                break;
            }
            let new = conflict::New::of(&elements.new, elements.exclusive, elements.block);
            for (at, old) in elements.all().enumerate() {
                let label = || elements.labels.get(at).cloned().unwrap_or_else(|| elements.name.clone());
                match new.holds(old, elements.exclusive, elements.block) {
                    Truth::True if steps.is_none() => return Truth::True,
                    Truth::True => yes.push(label()),
                    Truth::Unknown => maybe.push(label()),
                    Truth::False => {}
                }
            }
        }
        let truth = match (yes.len(), maybe.len()) {
            (1.., _) => Truth::True,
            (0, 1..) => Truth::Unknown,
            (0, 0) => Truth::False,
        };
        if let Some(steps) = steps {
            steps.push(if secret {
                Step::text("conflicts: (sensitive)")
            } else {
                told(yes.len(), "conflicts", "conflict", &yes)
            });
            if !secret && yes.is_empty() && !maybe.is_empty() {
                steps.push(told(maybe.len(), "may conflict", "may conflict", &maybe));
            }
        }
        truth
    }
}

fn told(count: usize, one: &str, many: &str, names: &[String]) -> Step {
    let verb = if count == 1 { one } else { many };
    let more = if count > NAMED { format!(", and {} more", count - NAMED) } else { String::new() };
    let names: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let names = if names.is_empty() { String::new() } else { format!(": {}{more}", names.join(", ")) };
    Step::text(format!("{count} {verb}{names}"))
}

fn label(other: &Attached) -> String {
    let outside = if other.outside_plan { " (not part of this plan: as the state has it)" } else { "" };
    format!("{}{outside}", other.address)
}

impl<'k> Elements<'k> {
    fn of(kind: &Kind, path: Option<&FieldPath>, exclusive: &'k [FieldPath], case: &Case<'k>) -> Self {
        let read = |object: &Value| match path {
            Some(path) => path.read(object),
            None => Reading::One(attribute(object, &kind.name)),
        };
        let name = path.map_or_else(|| kind.name.to_string(), ToString::to_string);
        let (old, new) = (read(case.old), read(case.new));
        let secret = [&old, &new].iter().any(|reading| reading.values().any(|value| !value.marks().is_empty()));
        let mut labels = Vec::new();
        for value in old.values() {
            let keys = labels_of(&name, value, conflict::elements(value).len());
            labels.extend(keys.into_iter().take(NAMED.saturating_sub(labels.len())));
        }
        let block = match path {
            None => case.schema.block.block_types.get(&kind.name).map(|nested| &nested.block),
            Some(path) => conflict::block_at(&case.schema.block, path.steps()),
        };
        Self { name, old, new, exclusive, block, labels, secret }
    }

    /// What the old object has.
    fn all(&self) -> impl Iterator<Item = &Value> {
        self.old.values().flat_map(conflict::elements)
    }
}

fn attribute(object: &Value, name: &str) -> Value {
    match object.kind() {
        ValueKind::Object(entries) | ValueKind::Map(entries) => match entries.get(name) {
            Some(value) => value.clone().with_marks(object.marks()),
            None => Value::null(Type::Dynamic),
        },
        ValueKind::Unknown(_) => Value::dynamic(),
        _ => Value::null(Type::Dynamic),
    }
}

/// What the elements are called.
fn labels_of(name: &str, value: &Value, count: usize) -> Vec<String> {
    match value.kind() {
        ValueKind::List(_) | ValueKind::Tuple(_) => (0..count.min(NAMED)).map(|at| format!("{name}[{at}]")).collect(),
        ValueKind::Map(entries) => {
            entries.iter().take(NAMED).map(|(key, _)| format!("{name}[{}]", go_quote(key))).collect()
        }
        _ => vec![name.to_owned(); count.min(NAMED)],
    }
}
