//! The data sources `rest_object` and `rest_request`, and the ephemeral `rest_request`.

use std::sync::Arc;

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;
use reqwest::Method;

use super::client::Ask;
use super::document::{DocumentPath, document_of, value_of};
use super::settings::Settings;
use crate::kit::checks::one_of;
use crate::kit::spec::{computed, optional, required};
use crate::kit::{Call, DataSource, Ephemeral, Object, Opened, Spec};

fn with_pairs(spec: Spec) -> Spec {
    let map = |doc: &str| optional(Type::map(Type::String)).doc(doc);
    spec.attr("headers", map("Headers of the request.")).attr("query", map("Query of the URL."))
}

fn pairs(config: &Object, name: &str) -> Vec<(String, String)> {
    let given = config.text_map(name).unwrap_or_default();
    given.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// The data source `rest_object`.
pub(super) struct ObjectData(pub(super) Arc<Settings>);

#[async_trait]
impl DataSource for ObjectData {
    fn type_name(&self) -> &'static str {
        "rest_object"
    }

    fn spec(&self) -> Spec {
        let text = |doc: &str| optional(Type::String).doc(doc);
        let spec = Spec::new()
            .doc("An object behind an API, found by its path or among others.")
            .attr("path", required(Type::String).doc("Path of the object, or of the collection that it is in."))
            .attr("object_path", text("Where the object, or the array that it is one of, is in the answer."))
            .attr("match_key", text("Which part of an element of the array tells the object."))
            .attr("match_value", text("What that part must be."))
            .attr("id_path", text("Where the id is in the object. Default: `id`."))
            .attr("id", computed(Type::String).doc("The id of the object."))
            .attr("output", computed(Type::Dynamic).doc("The object."));
        with_pairs(spec)
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        crate::combinations::together(config, &["match_key", "match_value"])
    }

    async fn read(&self, mut config: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        let client = self.0.client()?;
        let ask = Ask {
            method: Method::GET,
            path: config.text("path").unwrap_or_default().to_owned(),
            query: pairs(&config, "query"),
            headers: pairs(&config, "headers"),
            body: None,
            secrets: Vec::new(),
            only_reads: true,
        };
        let answer = client.ask(&ask, call).await?;
        if !answer.is_success() {
            return Err(client.refused(&ask, &answer).into());
        }
        let missing =
            |what: String| Diagnostic::error("Object not found", format!("{what} in the answer to {}.", ask.path));
        let document = answer.json().ok_or_else(|| missing("There is no JSON".to_owned()))?;
        let path = config.text("object_path").unwrap_or_default();
        let found = DocumentPath::parse(path).find(&document).cloned();
        let mut found = found.ok_or_else(|| missing(format!("There is nothing under {path:?}")))?;
        if let (Some(key), Some(wanted)) = (config.text("match_key"), config.text("match_value")) {
            let key_path = DocumentPath::parse(key);
            let items = found.as_array().cloned().ok_or_else(|| missing("There is no array".to_owned()))?;
            let mut matching = items.into_iter().filter(|item| key_path.find_text(item).as_deref() == Some(wanted));
            let what = format!("elements whose {key} is {wanted:?}");
            found = matching.next().ok_or_else(|| missing(format!("There are no {what}")))?;
            if matching.next().is_some() {
                return Err(missing(format!("There are several {what}")).into());
            }
        }
        let id = DocumentPath::parse(config.text("id_path").unwrap_or("id")).find_text(&found);
        config.set_text("id", id.as_deref());
        config.set("output", value_of(&found));
        Ok(config)
    }
}

/// One request, as a data source and as an ephemeral resource.
pub(super) struct Request(pub(super) Arc<Settings>);

fn request_spec(methods: &'static [&'static str], about: &str) -> Spec {
    let spec = Spec::new()
        .doc(about)
        .attr("path", required(Type::String).doc("Path below `base_url`."))
        .attr("method", optional(Type::String).check(one_of(methods)).doc("Default: `GET`."))
        .attr("body", optional(Type::Dynamic).doc("What to send, as JSON."))
        .attr("any_status", optional(Type::Bool).doc("Whether every status is fine. By default, only 200 to 299 are."))
        .attr("status_code", computed(Type::Number).doc("Status of the answer."))
        .attr("response_body", computed(Type::String).doc("The answer as text."))
        .attr("output", computed(Type::Dynamic).doc("The answer, if it is JSON."));
    with_pairs(spec)
}

impl Request {
    async fn run(&self, mut config: Object, call: &Call) -> Result<Object, Diagnostics> {
        let client = self.0.client()?;
        let body = config.get("body");
        let body = match (body.is_null(), document_of(&body)) {
            (true, _) => None,
            (false, Some(document)) => Some(document.to_string()),
            (false, None) => body.as_str().map(str::to_owned),
        };
        let ask = Ask {
            method: Method::from_bytes(config.text("method").unwrap_or("GET").as_bytes()).unwrap_or(Method::GET),
            path: config.text("path").unwrap_or_default().to_owned(),
            query: pairs(&config, "query"),
            headers: pairs(&config, "headers"),
            body,
            secrets: Vec::new(),
            only_reads: false,
        };
        let answer = client.ask(&ask, call).await?;
        if !answer.is_success() && config.flag("any_status") != Some(true) {
            return Err(client.refused(&ask, &answer).into());
        }
        config.set_int("status_code", i64::from(answer.status));
        config.set("output", answer.json().map_or_else(|| Value::null(Type::Dynamic), |json| value_of(&json)));
        config.set("response_body", Value::string(answer.text));
        Ok(config)
    }
}

#[async_trait]
impl DataSource for Request {
    fn type_name(&self) -> &'static str {
        "rest_request"
    }

    fn spec(&self) -> Spec {
        request_spec(
            &["GET", "HEAD", "OPTIONS", "POST", "QUERY"],
            "What an API answers to a question. It must change nothing.",
        )
    }

    async fn read(&self, config: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        self.run(config, call).await
    }
}

#[async_trait]
impl Ephemeral for Request {
    fn type_name(&self) -> &'static str {
        "rest_request"
    }

    fn spec(&self) -> Spec {
        request_spec(
            &["GET", "HEAD", "OPTIONS", "POST", "QUERY", "PUT"],
            "What an API answers, in no plan and no state: for tokens and other secrets.",
        )
    }

    async fn open(&self, config: Object, call: &mut Call) -> Result<Opened, Diagnostics> {
        Ok(Opened { object: self.run(config, call).await?, renew_at: None })
    }
}
