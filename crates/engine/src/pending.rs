//! Objects that are there and not ready yet: what rules and providers say about them, and what becomes of the mark that they carry in
//! their private data. Waiting is the business of the apply.

use groma_lang::walk::Settings;
use groma_model::address::AbsInstance;
use groma_model::diag::Diagnostics;
use groma_model::schema::{Block, Schema};
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{Private, ReadResponse};
use groma_rules::{Rule, Seen, Surroundings, Verdict, Wait};
use groma_state::{ObjectState, State};

use crate::object::legacy;
use crate::stored::Object;

pub use groma_provider::api::{Pending, SaidBy};

/// What a stored object lacks, if it is not ready.
pub fn of_stored(object: &ObjectState) -> Option<Pending> {
    Pending::split(Private(object.private.clone())).1
}

/// The objects of a state that are not ready, in the order of their addresses.
pub fn of_state(state: &State) -> Vec<(AbsInstance, Pending)> {
    let mut found = Vec::new();
    for (address, resource) in &state.resources {
        for (key, instance) in &resource.instances {
            let pending = instance.current.as_ref().and_then(of_stored);
            found.extend(pending.map(|pending| (address.instance(key.clone()), pending)));
        }
    }
    found
}

/// The rule about an instance.
pub(crate) type WaitRule = Rule<Wait>;

/// What an object lacks.
pub(crate) enum Lack {
    /// Nothing: it is ready.
    Nothing,
    /// Something that may still come.
    Something(Pending),
    /// Something that will not come.
    ForGood(Pending),
    /// The rule about it cannot be evaluated.
    Unclear(Pending, Diagnostics),
}

impl Lack {
    /// What is written down about it.
    pub(crate) fn pending(&self) -> Option<&Pending> {
        match self {
            Lack::Nothing => None,
            Lack::Something(pending) | Lack::ForGood(pending) | Lack::Unclear(pending, _) => Some(pending),
        }
    }
}

/// What an object lacks, that was just read or written. What its provider has said about that is in it already.
pub(crate) fn lack(rule: Option<&WaitRule>, object: &Object, schema: &Schema, settings: &Settings<'_>) -> Lack {
    let known = object.pending.as_ref();
    let Some(rule) = rule else {
        // Without a rule, only the provider can say that something is missing: what it did not say anew is over.
        let said = known.filter(|pending| pending.by == SaidBy::Provider);
        return said.map_or(Lack::Nothing, |pending| Lack::Something(pending.clone()));
    };
    let pending = |seen: Option<String>| Pending {
        waiting_for: rule.says.until_text.to_string(),
        last_seen: seen.filter(|seen| !seen.is_empty()),
        since: known.and_then(|pending| pending.since).or(Some(settings.environment.now().0)),
        by: SaidBy::Rule,
        patience: None,
    };
    let seen = |seen: Seen| pending(Some(seen.to_string()));
    match rule.says.judge(&object.marked(schema), &Surroundings::of(rule, settings)) {
        Verdict::Holds => Lack::Nothing,
        Verdict::NotYet(last) => Lack::Something(seen(last)),
        Verdict::Failed(last) => Lack::ForGood(seen(last)),
        Verdict::Unclear(found) => {
            let said = found.iter().next().map(|found| format!("{}: {}", found.summary, found.detail));
            Lack::Unclear(pending(said), found)
        }
    }
}

impl Object {
    /// The object as it was read again. What providers said about it before is out of date.
    pub(crate) fn read_again(&self, response: ReadResponse, block: &Block) -> Object {
        let (private, in_private) = Pending::split(response.private);
        let since = self.pending.as_ref().and_then(|pending| pending.since);
        let said = response.not_ready.map(|said| Pending::said(said, since)).or(in_private);
        let pending = said.or_else(|| self.pending.clone().filter(|pending| pending.by != SaidBy::Provider));
        Object {
            value: legacy::normalised(&response.object, block),
            private,
            identity: response.identity.or_else(|| self.identity.clone()),
            pending,
            ..self.clone()
        }
    }
}

/// What expressions see of an object that is waited for: what its provider has not said yet, and what the wait is about, will be
/// known when it is ready.
pub(crate) fn still_open(object: &Value, block: &Block, rule: Option<&WaitRule>) -> Value {
    let Some(entries) = object.as_entries().filter(|_| object.is_known()) else { return object.clone() };
    let awaited: Vec<Str> = rule.map(|rule| rule.says.awaited_attributes()).unwrap_or_default();
    let open = |name: &Str, value: &Value| {
        let computed = block.attributes.get(name).is_some_and(|attribute| attribute.computed);
        if !computed || !(value.is_null() || awaited.contains(name)) {
            return value.clone();
        }
        Value::unknown(value.ty()).with_marks(value.marks())
    };
    let opened = Value::object(entries.iter().map(|(name, value)| (name.clone(), open(name, value))));
    opened.with_marks(object.marks())
}
