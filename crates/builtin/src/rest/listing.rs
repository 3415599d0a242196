//! Listing the objects of a collection: with the `list` request, or with the one that an object is read by, if that answers with all of them.

use groma_model::diag::Diagnostic;
use groma_model::ty::Type;
use groma_model::value::Value;
use serde_json::Value as Json;

use super::client::RestClient;
use super::document::{DocumentPath, value_of};
use super::object::set_output;
use super::requests::{Purpose, Target};
use super::waiting::{Standing, standing};
use crate::kit::{Call, Listed, Object};

/// All objects, at most so many. None if nobody has said how they are listed.
pub(super) async fn list(
    client: &RestClient,
    query: &Object,
    empty: &Object,
    limit: u64,
    call: &mut Call,
) -> Result<Option<Vec<Listed>>, Diagnostic> {
    let target = Target::new(query, None);
    let purpose = match (target.block(Purpose::List), target.own(Purpose::Read, "items")) {
        (Some(_), _) => Purpose::List,
        (None, Some(_)) => Purpose::Read,
        (None, None) => return Ok(None),
    };
    let ask = target.ask(purpose, None);
    let answer = client.ask(&ask, call).await?;
    if !answer.is_success() {
        return Err(client.refused(&ask, &answer));
    }
    let missing = |what: String| {
        let detail = format!("{what} in the answer to {} {}.", ask.method, ask.path);
        Diagnostic::error("Objects not found", detail)
    };
    let document = answer.json().ok_or_else(|| missing("There is no JSON".to_owned()))?;
    let path = target.own(purpose, "items").unwrap_or_default();
    let items = DocumentPath::parse(&path).find(&document).and_then(Json::as_array);
    let items = items.ok_or_else(|| missing(format!("There is no array under {path:?}")))?;
    let key = match purpose {
        Purpose::List => target.own(purpose, "id"),
        _ => target.own(purpose, "match_key"),
    };
    let key = DocumentPath::parse(&key.unwrap_or_else(|| target.id_path().to_owned()));
    let name = DocumentPath::parse(&target.own(Purpose::List, "name").unwrap_or_else(|| "name".to_owned()));
    let mut listed = Vec::new();
    for item in items.iter().take(usize::try_from(limit).unwrap_or(usize::MAX)) {
        let id = key.find_text(item).ok_or_else(|| missing("There is an object without an id".to_owned()))?;
        let name = name.find_text(item).unwrap_or_default();
        listed.push(Listed { object: object_of(query, empty, &target, &id, item), name });
    }
    Ok(Some(listed))
}

/// An object as if it had been made with the query, and with what is told of it. What is masked is not told.
fn object_of(query: &Object, empty: &Object, target: &Target<'_>, id: &str, item: &Json) -> Object {
    let mut object = empty.clone();
    for (name, value) in query.iter() {
        object.set(name, value.clone());
    }
    object.set("id", Value::string(id));
    let mut body = item.clone();
    target.tracking().unmask(&mut body);
    object.set("body", value_of(&body));
    set_output(&mut object, Some(item));
    object.set("ready", Value::bool(standing(query, item) == Standing::Ready));
    for name in ["secret_body_wo", "secret_body_wo_version"] {
        let ty = if name == "secret_body_wo" { Type::Dynamic } else { Type::Number };
        object.set(name, Value::null(ty));
    }
    object
}
