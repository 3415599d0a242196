//! What a webhook answers: whether a plan may pass, and why not.

use serde_json::Value as Json;

use crate::api::webhook::Webhook;

/// Where it stands, if nothing is said about it.
const PASS: &str = "allowed";
/// What is said, if nothing is said about it.
const MESSAGE: &str = "message";
/// No more of it is repeated.
const MOST_CHARACTERS: usize = 500;

/// What it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Passes,
    /// Because of this.
    Refuses(String),
}

/// Reads an answer. What says neither is none.
pub(super) fn read(webhook: &Webhook, body: &[u8]) -> Result<Answer, String> {
    let answer: Json = serde_json::from_slice(body).map_err(|_| "its answer is not JSON".to_owned())?;
    let path = webhook.pass.as_deref().unwrap_or(PASS);
    match at(&answer, path) {
        Some(Json::Bool(true)) => Ok(Answer::Passes),
        Some(Json::Bool(false)) => Ok(Answer::Refuses(message(webhook, &answer))),
        _ => Err(format!("its answer has no {path:?} that is true or false")),
    }
}

fn message(webhook: &Webhook, answer: &Json) -> String {
    let said = match &webhook.message {
        Some(template) => filled(template, answer),
        None => at(answer, MESSAGE).map(text).unwrap_or_default(),
    };
    let said: String = said.chars().map(|at| if at.is_control() { ' ' } else { at }).take(MOST_CHARACTERS).collect();
    if said.trim().is_empty() { "it did not let the plan pass".to_owned() } else { said }
}

/// `a.b` of `{"a": {"b": 1}}`.
fn at<'a>(answer: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.').try_fold(answer, |value, name| match value {
        Json::Array(items) => items.get(name.parse::<usize>().ok()?),
        other => other.get(name),
    })
}

fn text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// With fields of the answer. What is not there is left out.
fn filled(template: &str, answer: &Json) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((path, after)) = after.split_once('}') else { break };
        filled.push_str(before);
        filled.push_str(&at(answer, path.trim()).map(text).unwrap_or_default());
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(more: &Json, body: &str) -> Result<Answer, String> {
        let mut webhook = json!({"name": "policy", "url": "https://policy.example"});
        webhook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        super::read(&serde_json::from_value(webhook).unwrap(), body.as_bytes())
    }

    #[test]
    fn an_answer_is_yes_or_no_with_a_reason() {
        let plain = json!({});
        assert_eq!(read(&plain, r#"{"allowed": true}"#), Ok(Answer::Passes));
        assert_eq!(read(&plain, r#"{"allowed": false, "message": "no"}"#), Ok(Answer::Refuses("no".to_owned())));
        let said = read(&plain, r#"{"allowed": false}"#);
        assert_eq!(said, Ok(Answer::Refuses("it did not let the plan pass".to_owned())));
        let own = json!({"pass": "result.ok", "message": "cost: ${result.cost} (${result.why.0})${gone}"});
        let body = r#"{"result": {"ok": false, "cost": 12, "why": ["much"]}}"#;
        assert_eq!(read(&own, body), Ok(Answer::Refuses("cost: 12 (much)".to_owned())));
    }

    #[test]
    fn everything_else_is_no_answer() {
        for body in ["", "yes", "{}", r#"{"allowed": "true"}"#, r#"{"allowed": 1}"#, "[]"] {
            assert!(read(&json!({}), body).is_err(), "{body}");
        }
        let long = format!(r#"{{"allowed": false, "message": "{}"}}"#, "x".repeat(9_000));
        let Ok(Answer::Refuses(why)) = read(&json!({}), &long) else { panic!("it refuses") };
        assert_eq!(why.len(), MOST_CHARACTERS);
    }
}
