//! What is going on, for those who show it.

pub(crate) mod trace;

use std::time::Duration;

use groma_model::address::{AbsInstance, DeposedKey};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};

use crate::change::Action;

/// What an object is called outside, where that can be shown: the name of an attribute and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownId {
    /// `id`, or another attribute that tells objects apart.
    pub key: Str,
    /// Its value.
    pub value: String,
}

/// What an object is called outside: its `id`, or its `name` if it has no such attribute. None if that is no text that may be shown.
pub fn shown_id(object: &Value) -> Option<ShownId> {
    let id = attribute(object, "id").map(|value| ("id", value));
    let (key, value) = id.or_else(|| attribute(object, "name").map(|value| ("name", value)))?;
    shown(key, value)
}

/// As [`shown_id`], or else the name that it has, at least among its tags.
pub fn shown_id_or_name(object: &Value) -> Option<ShownId> {
    let name = || match attribute(object, "name") {
        Some(value) => shown("name", value),
        None => tagged_name(object),
    };
    shown_id(object).or_else(name)
}

fn tagged_name(object: &Value) -> Option<ShownId> {
    let tags = object.as_entries()?.get("tags").filter(|tags| may_be_shown(tags) && tags.is_wholly_known())?;
    let ValueKind::Map(entries) = tags.kind() else { return None };
    ["name", "Name"]
        .into_iter()
        .find_map(|name| entries.get(name).map(|value| (name, value)))
        .and_then(|(name, value)| shown(&format!("tags.{name}"), value))
}

/// An attribute that holds text, whether there is any or not.
fn attribute<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    object.as_entries()?.get(name).filter(|value| value.ty() == Type::String)
}

fn shown(key: &str, value: &Value) -> Option<ShownId> {
    let text = value.as_str().filter(|text| may_be_shown(value) && !text.is_empty())?;
    Some(ShownId { key: key.into(), value: text.to_owned() })
}

fn may_be_shown(value: &Value) -> bool {
    !value.marks().is_sensitive() && !value.marks().is_ephemeral()
}

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// An object is being read.
    RefreshStarted(AbsInstance, Option<ShownId>),
    /// It was read. What is not there any more has no id.
    RefreshDone(AbsInstance, Option<ShownId>),
    /// It could not be read.
    RefreshFailed(AbsInstance),
    /// An object that exists already is being looked up, by that id.
    ImportStarted(AbsInstance, String),
    /// It was found.
    ImportDone(AbsInstance, String),
    /// A data source is being read, or a change is being carried out.
    ApplyStarted {
        /// Of which instance.
        address: AbsInstance,
        /// Of which of its objects, if not the current one.
        deposed: Option<DeposedKey>,
        /// What.
        action: Action,
        /// The object, if it is there already.
        id: Option<ShownId>,
    },
    /// It was carried out.
    ApplyDone {
        /// Of which instance.
        address: AbsInstance,
        /// Of which of its objects, if not the current one.
        deposed: Option<DeposedKey>,
        /// What.
        action: Action,
        /// The object.
        id: Option<ShownId>,
    },
    /// It was carried out in part, and what was made is kept: a rule says so.
    ApplyKept {
        /// Of which instance.
        address: AbsInstance,
        /// What.
        action: Action,
        /// The object.
        id: Option<ShownId>,
    },
    /// It failed.
    ApplyFailed {
        /// Of which instance.
        address: AbsInstance,
        /// Of which of its objects, if not the current one.
        deposed: Option<DeposedKey>,
        /// What.
        action: Action,
    },
    /// A planned change is not carried out because something that it needs failed.
    Skipped(Skipped),
    /// A provisioner starts.
    ProvisionStarted(AbsInstance, Str),
    /// It printed a line.
    ProvisionOutput(AbsInstance, Str, String),
    /// It is done.
    ProvisionDone(AbsInstance, Str),
    /// It failed.
    ProvisionFailed(AbsInstance, Str),
    /// An ephemeral resource is opened, renewed or closed.
    EphemeralStarted(AbsInstance, EphemeralAction),
    /// That is done.
    EphemeralDone(AbsInstance, EphemeralAction),
    /// An object that is there and not ready is waited for.
    WaitStarted(WaitProgress),
    /// It was looked at, and is still waited for.
    Waiting(WaitProgress),
    /// It is ready.
    WaitDone(WaitProgress),
    /// It did not become ready.
    WaitFailed(WaitProgress),
    /// The order to stop was taken in: nothing new begins.
    Stopping,
}

/// How a wait goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitProgress {
    /// For which object.
    pub address: AbsInstance,
    /// What is waited for.
    pub waiting_for: String,
    /// What was seen last, never a secret.
    pub last_seen: Option<String>,
    /// For how long.
    pub elapsed: Duration,
    /// For how long at most.
    pub timeout: Duration,
}

impl WaitProgress {
    /// The first line of what was seen.
    pub fn seen_in_brief(&self) -> Option<&str> {
        self.last_seen.as_deref().and_then(|seen| seen.lines().next())
    }
}

/// A planned change that is not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Of which instance.
    pub address: AbsInstance,
    /// What.
    pub action: Action,
    /// What failed, if that is an object.
    pub because_of: Option<AbsInstance>,
}

/// What is done with an ephemeral resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EphemeralAction {
    /// Its value is fetched.
    Open,
    /// It is kept alive.
    Renew,
    /// It is let go.
    Close,
}

/// Is told what happens. Called from many tasks; must not wait.
pub trait Events: Send + Sync {
    /// Something happened.
    fn tell(&self, event: Event);
}

/// Nobody listens.
pub struct Silence;

impl Events for Silence {
    fn tell(&self, _: Event) {}
}

#[cfg(test)]
mod tests {
    use groma_model::mark::Mark;

    use super::*;

    fn told(shown: Option<ShownId>) -> String {
        shown.map(|shown| format!("{}={}", shown.key, shown.value)).unwrap_or_default()
    }

    type Case<'c> = (&'c [(&'c str, Value)], &'c str, &'c str);

    #[test]
    fn objects_are_called_by_what_tells_them_apart() {
        let tags = |name: &str| Value::map(Type::String, [(name, Value::from("t"))].into_iter().collect());
        let hidden = Value::from("x").mark(Mark::Sensitive);
        let cases: [Case<'_>; 7] = [
            (&[("id", "x".into()), ("name", "n".into())], "id=x", "id=x"),
            (&[("id", Value::null(Type::String)), ("name", "n".into())], "", "name=n"),
            (&[("id", 7.into()), ("name", "n".into())], "name=n", "name=n"),
            (&[("id", hidden), ("tags", tags("Name"))], "", "tags.Name=t"),
            (&[("tags", tags("name"))], "", "tags.name=t"),
            (&[("tags", tags("name").mark(Mark::Sensitive))], "", ""),
            (&[("id", Value::unknown(Type::String))], "", ""),
        ];
        for (attributes, id, name) in cases {
            let object = Value::object(attributes.iter().cloned());
            assert_eq!((told(shown_id(&object)), told(shown_id_or_name(&object))), (id.to_owned(), name.to_owned()));
        }
        assert_eq!(shown_id(&Value::null(Type::Dynamic)), None);
    }
}
