//! The requests for one object: what its settings make of method, path, headers and body.

use groma_model::number::Number;
use reqwest::Method;
use serde_json::Value as Json;

use super::client::{Answered, Ask};
use super::document::{DocumentPath, Names, Tracking, document_of, filled, merged, path_step};
use crate::kit::Object;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Create,
    Read,
    Update,
    Delete,
    List,
}

impl Purpose {
    fn block(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::List => "list",
        }
    }
}

/// An object with everything that its requests are made of.
pub(super) struct Target<'a> {
    pub(super) object: &'a Object,
    /// The id, once there is one.
    pub(super) id: Option<String>,
    /// The body as a document.
    pub(super) body: Option<Json>,
    /// The secret parts of it.
    pub(super) secret: Option<Json>,
}

impl<'a> Target<'a> {
    /// From a planned or stored object; the configuration has the secrets.
    pub(super) fn new(object: &'a Object, config: Option<&Object>) -> Self {
        let id = object.text("id").or_else(|| object.text("object_id")).map(str::to_owned);
        let secret =
            config.and_then(|config| document_of(&config.get("secret_body_wo"))).filter(|json| !json.is_null());
        let body = Some(object.get("body")).filter(|body| !body.is_null()).and_then(|body| document_of(&body));
        Self { object, id, body, secret }
    }

    pub(super) fn block(&self, purpose: Purpose) -> Option<Object> {
        self.object.objects(purpose.block()).into_iter().next()
    }

    pub(super) fn own(&self, purpose: Purpose, name: &str) -> Option<String> {
        self.block(purpose).and_then(|block| block.text(name).map(str::to_owned))
    }

    /// Whether there is such a request at all.
    pub(super) fn has(&self, purpose: Purpose) -> bool {
        self.own(purpose, "method").is_none_or(|method| !method.eq_ignore_ascii_case("none"))
    }

    /// A part of a template: `id`, `path`, `body.x`, `output.x`.
    fn part(&self, name: &str) -> Option<String> {
        match name {
            "id" => self.id.clone(),
            "path" => self.object.text("path").map(|path| path.trim_end_matches('/').to_owned()),
            _ => {
                let (root, path) = name.split_once('.')?;
                let document = match root {
                    "body" => self.body.clone()?,
                    "output" => document_of(&self.object.get("output"))
                        .filter(|output| !output.is_null())
                        .or_else(|| document_of(&self.object.get("sensitive_output")))?,
                    _ => return None,
                };
                DocumentPath::parse(path).find_text(&document)
            }
        }
    }

    /// A template filled in, as it is.
    pub(super) fn filled(&self, template: &str) -> String {
        filled(template, &|name| self.part(name))
    }

    fn url_path(&self, template: &str) -> String {
        filled(template, &|name| {
            let part = self.part(name)?;
            Some(if name == "path" { part } else { path_step(&part) })
        })
    }

    fn json_text(&self, template: &str, body: Option<&Json>) -> String {
        filled(template, &|name| {
            if name == "body" {
                return Some(body.map_or_else(|| "null".to_owned(), Json::to_string));
            }
            let quoted = Json::String(self.part(name)?).to_string();
            Some(quoted[1..quoted.len() - 1].to_owned())
        })
    }

    /// The body as it is sent: with its secret parts.
    pub(super) fn whole_body(&self) -> Option<Json> {
        match (self.body.clone(), self.secret.clone()) {
            (Some(body), Some(secret)) => Some(merged(body, secret)),
            (body, secret) => body.or(secret),
        }
    }

    /// The request for a purpose. `body` is what is to be sent, if anything.
    pub(super) fn ask(&self, purpose: Purpose, body: Option<&Json>) -> Ask {
        let chosen = !self.object.is_null("object_id");
        let (method, path) = match purpose {
            Purpose::Create if chosen => ("PUT", "{path}/{id}"),
            Purpose::Create => ("POST", "{path}"),
            Purpose::Read if self.own(purpose, "items").is_some() => ("GET", "{path}"),
            Purpose::Read => ("GET", "{path}/{id}"),
            Purpose::Update => ("PUT", "{path}/{id}"),
            Purpose::Delete => ("DELETE", "{path}/{id}"),
            Purpose::List => ("GET", "{path}"),
        };
        let method = self.own(purpose, "method").unwrap_or_else(|| method.to_owned()).to_uppercase();
        let path = self.own(purpose, "path").unwrap_or_else(|| path.to_owned());
        let pairs = |name: &str| {
            let mut all: Vec<(String, String)> = Vec::new();
            for object in [Some(self.object.clone()), self.block(purpose)].into_iter().flatten() {
                for (key, value) in object.text_map(name).unwrap_or_default() {
                    all.retain(|(known, _)| known != key);
                    all.push((key.to_owned(), self.filled(value)));
                }
            }
            all
        };
        let template = self.own(purpose, "body");
        let with_id = self.with_id(purpose, &method, body);
        let sent = match (template, with_id.as_ref().or(body), self.raw_text()) {
            (Some(template), body, _) => Some(self.json_text(&template, body)),
            (None, Some(body), _) => Some(body.to_string()),
            (None, None, Some(text)) if matches!(purpose, Purpose::Create | Purpose::Update) => Some(text),
            _ => None,
        };
        let mut secrets = Vec::new();
        self.secret.iter().for_each(|secret| texts_in(secret, &mut secrets));
        Ask {
            method: Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET),
            path: self.url_path(&path),
            query: pairs("query"),
            headers: pairs("headers"),
            body: sent,
            secrets,
            only_reads: matches!(purpose, Purpose::Read | Purpose::List),
        }
    }

    /// The body with the id in it, for APIs that have it there. Requests without a body have it in their path.
    fn with_id(&self, purpose: Purpose, method: &str, body: Option<&Json>) -> Option<Json> {
        let member = self.object.text("id_member")?;
        if purpose == Purpose::Create || !matches!(method, "POST" | "PUT" | "PATCH") {
            return None;
        }
        let id = serde_json::json!({ (member): self.id.as_ref()? });
        Some(merged(body.cloned().unwrap_or_else(|| serde_json::json!({})), id))
    }

    /// A body that is a text, but no document.
    fn raw_text(&self) -> Option<String> {
        if self.body.is_some() { None } else { self.object.text("body").map(str::to_owned) }
    }

    /// The object in an answer to a request that made, changed or read it.
    pub(super) fn found(&self, answer: &Answered) -> Option<Json> {
        let document = answer.json()?;
        match self.object.text("object_path") {
            Some(path) => DocumentPath::parse(path).find(&document).cloned(),
            None => Some(document),
        }
    }

    /// The object in an answer to a request that read it: possibly one of many. None if it is not there.
    pub(super) fn selected(&self, answer: &Answered) -> Option<Json> {
        if let Some(path) = self.own(Purpose::Read, "gone_path") {
            let values = self.block(Purpose::Read).and_then(|block| owned_texts(&block, "gone_values"));
            let found = answer.json().and_then(|document| DocumentPath::parse(&path).find(&document).cloned());
            let is_gone = match (found, values) {
                (Some(found), Some(values)) => {
                    super::document::text_of(&found).is_some_and(|text| values.contains(&text))
                }
                (Some(found), None) => !found.is_null(),
                (None, _) => false,
            };
            if is_gone {
                return None;
            }
        }
        let Some(items) = self.own(Purpose::Read, "items") else { return self.found(answer) };
        let document = answer.json()?;
        let items = DocumentPath::parse(&items).find(&document)?.as_array()?.clone();
        let key = self.own(Purpose::Read, "match_key").unwrap_or_else(|| self.id_path().to_owned());
        let wanted = self.filled(&self.own(Purpose::Read, "match_value").unwrap_or_else(|| "{id}".to_owned()));
        let key = DocumentPath::parse(&key);
        items.into_iter().find(|item| key.find_text(item).as_deref() == Some(wanted.as_str()))
    }

    pub(super) fn id_path(&self) -> &str {
        self.object.text("id_path").unwrap_or("id")
    }

    /// The id of an object that was just made.
    pub(super) fn new_id(&self, answer: &Answered) -> Option<String> {
        if let Some(id) = self.object.text("object_id") {
            return Some(id.to_owned());
        }
        if let Some(name) = self.object.text("id_header") {
            let value = answer.headers.get(name)?.to_str().ok()?;
            return value.trim_end_matches('/').rsplit('/').next().map(str::to_owned).filter(|id| !id.is_empty());
        }
        let path = DocumentPath::parse(self.id_path());
        let inside = self.found(answer).and_then(|found| path.find_text(&found));
        inside.or_else(|| path.find_text(&answer.json()?))
    }

    /// Whether a status means that there is no object.
    pub(super) fn is_gone(&self, status: u16) -> bool {
        let given = self.object.get("gone_status");
        match given.as_elements() {
            Some(codes) => codes.iter().any(|code| code.as_number().and_then(Number::to_u64) == Some(status.into())),
            None => matches!(status, 404 | 410),
        }
    }

    /// How the body is compared with what the API has.
    pub(super) fn tracking(&self) -> Tracking {
        let paths = |name: &str| {
            let texts = self.object.texts(name).unwrap_or_default();
            texts.into_iter().map(DocumentPath::parse).collect::<Vec<_>>()
        };
        let keyed = self.object.text_map("array_keys").unwrap_or_default();
        Tracking {
            ignored: paths("ignore_paths"),
            masked: paths("masked_paths"),
            mask: regex::Regex::new(self.object.text("mask_pattern").unwrap_or("^[*•]{3,}$")).ok(),
            keyed: keyed.into_iter().map(|(path, key)| (DocumentPath::parse(path), DocumentPath::parse(key))).collect(),
            unordered: paths("unordered_paths"),
            names: if self.object.flag("loose_names") == Some(true) { Names::Loose } else { Names::Exact },
        }
    }
}

/// Texts of a list, for keeping.
pub(super) fn owned_texts(object: &Object, name: &str) -> Option<Vec<String>> {
    Some(object.texts(name)?.into_iter().map(str::to_owned).collect())
}

fn texts_in(document: &Json, found: &mut Vec<String>) {
    match document {
        Json::String(text) if text.len() > 3 => found.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| texts_in(item, found)),
        Json::Object(members) => members.values().for_each(|item| texts_in(item, found)),
        _ => {}
    }
}
