//! A note: it exists in the state alone, and its id tells its text, so that every process knows all notes.

use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};
use groma_provider::api::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, ImportTarget, ImportedObject, ListEvent, ListRequest,
    ListSink, ListedObject, MoveRequest, MoveResponse, NotReady, Outcome, PlanRequest, PlanResponse, Private, RawState,
    ReadRequest, ReadResponse, UpgradeResponse,
};

use crate::provider::{Served, text};

/// The object with some attributes replaced.
fn with(object: &Value, changes: &[(&str, Value)]) -> Value {
    let entries = object.as_entries().into_iter().flat_map(Entries::iter);
    let changed = entries.map(|(name, value)| {
        let change = changes.iter().find(|(changed, _)| *changed == name.as_str());
        (name.clone(), change.map_or_else(|| value.clone(), |(_, value)| value.clone()))
    });
    Value::object(changed.collect::<Vec<(Str, Value)>>())
}

fn identity(object: &Value) -> Option<Value> {
    let id = object.as_entries()?.get("id")?.clone();
    Some(Value::object([("id", id)]))
}

fn note_type(served: &Served) -> Type {
    let schema = served.schema.resources["served_note"].get();
    schema.map_or_else(|_| Type::empty_object(), |schema| schema.block.implied_type())
}

fn size(text: &str) -> Value {
    Value::number(text.len() as i64)
}

/// The note that an id tells of.
fn from_id(served: &Served, id: &str) -> Option<Value> {
    let text = id.strip_prefix(&format!("note:{}", served.prefix()))?;
    let schema = served.schema.resources["served_note"].get().ok()?;
    let empty = schema.block.empty_value();
    Some(with(&empty, &[("id", Value::string(id)), ("text", Value::string(text)), ("size", size(text))]))
}

pub(crate) fn validate(config: &Value) -> Diagnostics {
    let mut found = Diagnostics::new();
    if text(config, "text") == Some("") {
        found.push(Diagnostic::error("Empty note", "It says nothing.").at_path(Path::root().attr("text")));
    }
    if text(config, "kind") == Some("odd") {
        found.push(Diagnostic::warning("Odd note", "It is odd.").at_path(Path::root().attr("kind")));
    }
    found
}

/// Version 0 called the text its body.
pub(crate) fn upgrade_from_0(served: &Served, state: &RawState) -> UpgradeResponse {
    let ty = note_type(served);
    let old = Type::object([("id", Type::String), ("body", Type::String)]);
    let RawState::Json(stored) = state else {
        return UpgradeResponse { value: Value::null(ty), diagnostics: Diagnostics::new() };
    };
    match json::decode(&String::from_utf8_lossy(stored), &old) {
        Ok(stored) => {
            let body = text(&stored, "body").unwrap_or_default().to_owned();
            let id = text(&stored, "id").unwrap_or_default().to_owned();
            let known = from_id(served, &format!("note:{}", served.prefix())).unwrap_or_else(|| Value::null(ty));
            let changes = [("size", size(&body)), ("text", Value::string(body)), ("id", Value::string(id))];
            UpgradeResponse { value: with(&known, &changes), diagnostics: Diagnostics::new() }
        }
        Err(error) => {
            let problem = Diagnostic::error("Bad old note", error.to_string());
            UpgradeResponse { value: Value::null(ty), diagnostics: std::iter::once(problem).collect() }
        }
    }
}

pub(crate) fn read(request: ReadRequest) -> ReadResponse {
    // A note can be made to vanish, to see what becomes of its state.
    let gone = text(&request.current, "text") == Some("vanish");
    let not_ready = text(&request.current, "text").and_then(lacking);
    ReadResponse {
        identity: identity(&request.current),
        object: if gone { Value::null(request.current.ty()) } else { request.current },
        private: request.private,
        not_ready,
        deferred: None,
        diagnostics: Diagnostics::new(),
    }
}

pub(crate) fn plan(request: PlanRequest) -> PlanResponse {
    let mut requires_replace = Vec::new();
    let planned = if request.proposed.is_null() {
        request.proposed
    } else if request.prior.is_null() {
        let unknown = [("id", Value::unknown(Type::String)), ("size", Value::unknown(Type::Number))];
        with(&request.proposed, &unknown)
    } else {
        if text(&request.prior, "kind") != text(&request.proposed, "kind") {
            requires_replace.push(Path::root().attr("kind"));
        }
        if text(&request.prior, "text") == text(&request.proposed, "text") {
            request.proposed
        } else {
            with(&request.proposed, &[("size", Value::unknown(Type::Number))])
        }
    };
    PlanResponse {
        identity: identity(&planned),
        planned,
        requires_replace,
        private: Private(b"planned".to_vec()),
        legacy_type_system: false,
        deferred: None,
        diagnostics: Diagnostics::new(),
    }
}

/// Some notes are ready only when the environment says so.
fn lacking(text: &str) -> Option<NotReady> {
    let last_seen = Some("nothing".to_owned());
    (text == "slow" && crate::told("SERVED_READY").is_none()).then(|| NotReady {
        waiting_for: "its reader".to_owned(),
        last_seen,
        patience: None,
    })
}

pub(crate) fn apply(served: &Served, request: ApplyRequest) -> ApplyResponse {
    let body = text(&request.planned, "text").unwrap_or_default().to_owned();
    let mut diagnostics = Diagnostics::new();
    let mut outcome = Outcome::Done;
    let object = if request.planned.is_null() {
        request.planned
    } else if body == "refused" {
        diagnostics.push(Diagnostic::error("Refused", "Nothing was made.").at_path(Path::root().attr("text")));
        outcome = Outcome::NothingMade;
        request.prior
    } else {
        outcome = lacking(&body).map_or(Outcome::Done, Outcome::NotReady);
        let id = match text(&request.prior, "id") {
            Some(id) => id.to_owned(),
            None => format!("note:{}{body}", served.prefix()),
        };
        with(&request.planned, &[("id", Value::string(id)), ("size", size(&body))])
    };
    let private: &[u8] = if matches!(outcome, Outcome::NotReady(_)) { b"{\"theirs\":1}" } else { b"applied" };
    ApplyResponse {
        outcome,
        identity: identity(&object),
        object,
        private: Private(private.to_vec()),
        legacy_type_system: false,
        diagnostics,
    }
}

pub(crate) fn import(served: &Served, request: ImportRequest) -> ImportResponse {
    let id = match &request.target {
        ImportTarget::Id(id) => id.clone(),
        ImportTarget::Identity(identity) => text(identity, "id").unwrap_or_default().to_owned(),
    };
    let mut diagnostics = Diagnostics::new();
    let object = from_id(served, &id);
    if object.is_none() {
        diagnostics.push(Diagnostic::error("No such note", format!("There is no {id}.")));
    }
    let imported = object.map(|object| ImportedObject {
        type_name: request.type_name,
        identity: identity(&object),
        object,
        private: Private(b"imported".to_vec()),
    });
    ImportResponse { imported: imported.into_iter().collect(), deferred: None, diagnostics }
}

pub(crate) fn take_over(served: &Served, request: &MoveRequest) -> MoveResponse {
    let upgraded = upgrade_from_0(served, &request.source_state);
    MoveResponse {
        identity: identity(&upgraded.value),
        object: upgraded.value,
        private: request.source_private.clone(),
        diagnostics: upgraded.diagnostics,
    }
}

pub(crate) fn config_of(object: &Value) -> Value {
    with(object, &[("id", Value::null(Type::String)), ("size", Value::null(Type::Number))])
}

pub(crate) fn list(served: &Served, request: &ListRequest, sink: &mut dyn ListSink) {
    for word in ["one", "two", "three"] {
        let Some(object) = from_id(served, &format!("note:{}{word}", served.prefix())) else { continue };
        let Some(identity) = identity(&object) else { continue };
        let object = request.include_object.then_some(object);
        let found = ListedObject { identity, display_name: word.to_owned(), object };
        if !sink.found(ListEvent { object: Some(found), diagnostics: Diagnostics::new() }) {
            return;
        }
    }
    let last = Diagnostic::warning("That is all", "There are three.");
    sink.found(ListEvent { object: None, diagnostics: std::iter::once(last).collect() });
}
