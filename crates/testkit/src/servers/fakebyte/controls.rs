//! What tests say to the server, for those that are another process.

use std::time::Duration;

use serde_json::{Value, json};

use super::objects::Kind;
use super::{Effect, Inner};
use crate::servers::web::{Answer, Request};

pub(super) fn answer(request: &Request, inner: &mut Inner) -> Answer {
    if request.method == "GET" {
        return match request.path.as_str() {
            "/_log" => Answer::json(200, &log(inner)),
            "/_objects" => Answer::json(200, &objects(inner)),
            _ => Answer::status(404),
        };
    }
    let order: Value = match request.body.as_slice() {
        [] => json!({}),
        text => match serde_json::from_slice(text) {
            Ok(order) => order,
            Err(error) => return wrong(&error.to_string()),
        },
    };
    match obey(&request.path, &order, inner) {
        Ok(said) => Answer::json(200, &said),
        Err(why) => wrong(why),
    }
}

fn wrong(why: &str) -> Answer {
    Answer::json(400, &json!({ "message": why }))
}

fn log(inner: &Inner) -> Value {
    inner.log.iter().map(|call| json!({"path": call.path, "body": call.body, "status": call.status})).collect()
}

fn objects(inner: &Inner) -> Value {
    let of = |kind: &Kind| (kind.plural().to_owned(), Value::Array(inner.store.all(*kind)));
    let mut all: serde_json::Map<String, Value> = Kind::ALL.iter().map(of).collect();
    all.insert("jobs".to_owned(), Value::Array(inner.store.jobs()));
    Value::Object(all)
}

/// Does what was said: `{"path", "code", "times"}` for `/_fail`, `{"kind", "id", "set"}` for `/_mutate`, and so on.
fn obey(what: &str, order: &Value, inner: &mut Inner) -> Result<Value, &'static str> {
    let path = order["path"].as_str();
    let times = order["times"].as_u64().and_then(|times| u32::try_from(times).ok()).unwrap_or(1);
    let kind = || order["kind"].as_str().and_then(Kind::by_plural).ok_or("kind: sources, destinations or connections");
    let id = || order["id"].as_str().ok_or("id: the id of an object");
    let there = |found: bool| if found { Ok(json!({})) } else { Err("there is no such object") };
    match what {
        "/_fail" => {
            let code = order["code"].as_u64().and_then(|code| u16::try_from(code).ok()).ok_or("code: a status")?;
            inner.add_fault(path, Effect::Refuse(code), times);
        }
        "/_lose" => inner.add_fault(path, Effect::Lose, times),
        "/_latency" => {
            let length = order["milliseconds"].as_u64().ok_or("milliseconds: a number")?;
            inner.set_latency(path, Duration::from_millis(length));
        }
        "/_create" => {
            let kind = kind()?;
            let made = inner.store.create(kind, &order["body"]).map_err(|_| "it cannot be made")?;
            return Ok(json!({"id": made[kind.id_member()]}));
        }
        "/_mutate" => return there(inner.store.mutate(kind()?, id()?, &order["set"])),
        "/_remove" => return there(inner.store.remove(kind()?, id()?)),
        "/_finish" => inner.store.finish_jobs(),
        "/_clear" => inner.log.clear(),
        _ => return Err("there is no such control"),
    }
    Ok(json!({}))
}
