//! `rest_object`: making, reading, changing and deleting an object.

use std::sync::Arc;

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::NotReady;
use serde_json::Value as Json;

use super::client::{Answered, RestClient, UNANSWERED};
use super::document::{DocumentPath, changed, document_of, same, value_of};
use super::listing;
use super::object_spec;
use super::requests::{Purpose, Target};
use super::settings::{Settings, duration};
use super::waiting::{Looked, look, standing, until_gone, until_ready};
use crate::kit::{Call, Failed, Listed, Object, Planned, Resource, Spec};

/// The resource.
pub(super) struct RestObject(pub(super) Arc<Settings>);

#[async_trait]
impl Resource for RestObject {
    fn type_name(&self) -> &'static str {
        "rest_object"
    }

    fn spec(&self) -> Spec {
        object_spec::spec()
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        object_spec::validate(config)
    }

    async fn plan(&self, plan: &mut Planned, _: &mut Call) {
        let Some(prior) = plan.prior.clone() else { return };
        keep_equal_body(plan, &prior);
        let resend = ["body", "secret_body_wo_version"].into_iter().find(|name| plan.changes(name));
        if let Some(name) = resend {
            let target = Target::new(&plan.object, None);
            if !target.has(Purpose::Update) || changes_on(&plan.object, &prior) {
                plan.replace_for(name);
            }
            return;
        }
        if prior.flag("ready") == Some(false) {
            for name in ["ready", "output", "sensitive_output"] {
                let ty = if name == "ready" { Type::Bool } else { Type::Dynamic };
                plan.object.set(name, Value::unknown(ty));
            }
        } else {
            for name in ["ready", "output", "sensitive_output"] {
                plan.object.set(name, prior.get(name));
            }
            if plan.changes("hide_output") {
                plan.object.set("output", Value::unknown(Type::Dynamic));
                plan.object.set("sensitive_output", Value::unknown(Type::Dynamic));
            }
        }
    }

    async fn create(&self, mut planned: Object, config: &Object, call: &mut Call) -> Result<Object, Failed> {
        let client = self.0.client()?;
        planned.set("id", Value::null(Type::String));
        let target = Target::new(&planned, Some(config));
        let ask = target.ask(Purpose::Create, target.whole_body().as_ref());
        let answer = client.ask(&ask, call).await.inspect_err(|problem| {
            call.is_unanswered = problem.summary == UNANSWERED;
        })?;
        if !answer.is_success() {
            return Err(client.refused(&ask, &answer).into());
        }
        let Some(id) = target.new_id(&answer) else {
            return Err(no_id(planned, &answer));
        };
        planned.set("id", Value::string(id));
        let said = Target::new(&planned, None).found(&answer);
        Ok(settle(&client, planned, said, call).await)
    }

    async fn read(&self, mut object: Object, call: &mut Call) -> Result<Option<Object>, Diagnostics> {
        let client = self.0.client()?;
        let target = Target::new(&object, None);
        if !target.has(Purpose::Read) {
            return Ok(Some(object));
        }
        let found = match look(&client, &target, call).await? {
            Looked::Gone => return Ok(None),
            Looked::Found(found) => found,
        };
        if let Some(ours) = &target.body {
            let theirs = target.tracking().project(ours, &found);
            if !same(ours, &theirs) {
                let body = value_of(&theirs);
                // A text stays a text.
                let text = object.text("body").is_some().then(|| Value::string(theirs.to_string()));
                object.set("body", text.unwrap_or(body));
            }
        }
        call.not_ready = standing(&object, &found).lacking();
        object.set("ready", Value::bool(call.not_ready.is_none()));
        set_output(&mut object, Some(&found));
        Ok(Some(object))
    }

    async fn update(
        &self,
        prior: &Object,
        planned: Object,
        config: &Object,
        call: &mut Call,
    ) -> Result<Object, Failed> {
        let client = self.0.client()?;
        let target = Target::new(&planned, Some(config));
        let before = Target::new(prior, None);
        let same_body = match (&before.body, &target.body) {
            (Some(before), Some(after)) => same(before, after),
            (before, after) => before.is_none() && after.is_none() && prior.get("body") == planned.get("body"),
        };
        let same_secret = prior.get("secret_body_wo_version") == planned.get("secret_body_wo_version");
        let mut answer = None;
        if !(same_body && same_secret) {
            let changes_only = planned.objects("update").first().and_then(|u| u.text("send").map(str::to_owned));
            let body = match (changes_only.as_deref(), &before.body, target.whole_body()) {
                (Some("changed"), Some(before), Some(after)) => Some(changed(before, &after)),
                (_, _, whole) => whole,
            };
            let ask = target.ask(Purpose::Update, body.as_ref());
            let got = client.ask(&ask, call).await?;
            if !got.is_success() {
                return Err(client.refused(&ask, &got).into());
            }
            answer = Some(got);
        }
        let needs_look = answer.is_some() || prior.flag("ready") == Some(false) || planned.is_unknown("output");
        let said = answer.and_then(|answer| target.found(&answer)).or_else(|| shown_before(prior));
        if needs_look { Ok(settle(&client, planned, said, call).await) } else { Ok(planned) }
    }

    async fn delete(&self, prior: &Object, call: &mut Call) -> Result<(), Diagnostics> {
        let client = self.0.client()?;
        let target = Target::new(prior, None);
        if target.id.as_deref().is_none_or(str::is_empty) {
            let detail = "Its id was never known, so it cannot be deleted. If it exists, delete it by other means.";
            call.diagnostics.push(Diagnostic::warning("Object has no id", detail));
            return Ok(());
        }
        if !target.has(Purpose::Delete) {
            return Ok(());
        }
        let ask = target.ask(Purpose::Delete, None);
        let answer = client.ask(&ask, call).await?;
        if !answer.is_success() && !target.is_gone(answer.status) {
            return Err(client.refused(&ask, &answer).into());
        }
        let wait = prior.objects("delete").first().and_then(|block| block.text("wait").and_then(duration));
        match wait {
            Some(limit) if !target.is_gone(answer.status) && target.has(Purpose::Read) => {
                Ok(until_gone(&client, &target, limit, call).await?)
            }
            _ => Ok(()),
        }
    }

    async fn import(&self, id: &str, empty: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        Ok(imported(id, empty)?)
    }

    fn list_spec(&self) -> Option<Spec> {
        Some(object_spec::list_spec())
    }

    async fn list(
        &self,
        query: &Object,
        empty: Object,
        limit: u64,
        call: &mut Call,
    ) -> Result<Option<Vec<Listed>>, Diagnostics> {
        let client = self.0.client()?;
        Ok(listing::list(&client, query, &empty, limit, call).await?)
    }
}

/// A body that says the same in other words is no change.
fn keep_equal_body(plan: &mut Planned, prior: &Object) {
    let (old, new) = (prior.get("body"), plan.object.get("body"));
    if old != new
        && let (Some(before), Some(after)) = (document_of(&old), document_of(&new))
        && same(&before, &after)
    {
        plan.object.set("body", old);
    }
}

/// Whether a part of the body changes that cannot be changed in place.
fn changes_on(planned: &Object, prior: &Object) -> bool {
    let paths = planned.texts("replace_on").unwrap_or_default();
    if paths.is_empty() || !planned.is_wholly_known("body") {
        return false;
    }
    let [before, after] = [prior, planned].map(|object| document_of(&object.get("body")).unwrap_or_default());
    paths.into_iter().map(DocumentPath::parse).any(|path| {
        let [before, after] = [path.find(&before), path.find(&after)].map(|part| part.unwrap_or(&Json::Null));
        !same(before, after)
    })
}

/// An object was made, but nobody knows which.
fn no_id(mut planned: Object, answer: &Answered) -> Failed {
    let path = planned.text("id_path").unwrap_or("id").to_owned();
    planned.set("id", Value::string(""));
    set_output(&mut planned, answer.json().as_ref());
    planned.set("ready", Value::bool(false));
    let detail = format!(
        "The object was made (status {}), but there is no id under {path:?} in the answer. Set id_path, id_header or \
         object_path; then import the object, or delete it by other means.",
        answer.status
    );
    Failed { diagnostics: Diagnostic::error("Answer has no id", detail).into(), object: Some(planned) }
}

pub(super) fn set_output(object: &mut Object, found: Option<&Json>) {
    let value = found.map_or_else(|| Value::null(Type::Dynamic), value_of);
    let hidden = object.flag("hide_output").unwrap_or(false);
    let none = Value::null(Type::Dynamic);
    object.set("output", if hidden { none.clone() } else { value.clone() });
    object.set("sensitive_output", if hidden { value } else { none });
}

/// What the API has shown of an object before.
fn shown_before(prior: &Object) -> Option<Json> {
    let known = ["output", "sensitive_output"].map(|name| document_of(&prior.get(name)));
    known.into_iter().flatten().find(|output| !output.is_null())
}

/// Waits until the object works and takes down how it is then. What cannot be read is as the API has `said`.
async fn settle(client: &RestClient, mut object: Object, said: Option<Json>, call: &mut Call) -> Object {
    object.set("output", Value::null(Type::Dynamic));
    object.set("sensitive_output", Value::null(Type::Dynamic));
    let target = Target::new(&object, None);
    let (found, lacking): (_, Option<NotReady>) = if target.has(Purpose::Read) {
        until_ready(client, &target, call).await
    } else {
        (None, said.as_ref().and_then(|said| standing(&object, said).lacking()))
    };
    let found = found.or(said);
    object.set("ready", Value::bool(lacking.is_none()));
    call.not_ready = lacking;
    set_output(&mut object, found.as_ref());
    object
}

/// A block with null for what was not given.
fn completed(value: &Value, target: &Type) -> Value {
    let (Type::Object(wanted), Some(given)) = (target, value.as_entries()) else { return value.clone() };
    let missing = wanted.iter().filter(|(name, _)| given.get(name).is_none());
    let missing = missing.map(|(name, attribute)| (name.clone(), Value::null(attribute.ty.clone())));
    let given = given.iter().map(|(name, value)| (name.clone(), value.clone()));
    Value::object(given.chain(missing).collect::<Vec<_>>())
}

/// `{"path": "/users", "id": "7", "body": {"name": null}}`, `/users:7` or `/users/7`.
fn imported(id: &str, mut empty: Object) -> Result<Object, Diagnostic> {
    let invalid = |why: &str| {
        let detail = format!(
            "{why} Give the path of the object (/users/7), its collection and its id (/users:7), or a JSON object with \
             path, id, and what else the configuration gives, such as the body."
        );
        Diagnostic::error("Invalid import id", detail)
    };
    if id.trim_start().starts_with('{') {
        let document: Json = serde_json::from_str(id).map_err(|error| invalid(&format!("It is no JSON: {error}.")))?;
        let Json::Object(members) = &document else { return Err(invalid("It is no JSON object.")) };
        for (name, value) in members {
            let target = empty.get(name).ty();
            let value = completed(&value_of(value), &target);
            let known = empty.iter().any(|(own, _)| own.as_str() == name);
            let converted = groma_model::convert::convert(&value, &target).ok().filter(|_| known);
            empty
                .set(name, converted.ok_or_else(|| invalid(&format!("{name:?} is no argument, or not of its type.")))?);
        }
    } else {
        let (path, id) =
            id.rsplit_once(':').or_else(|| id.rsplit_once('/')).ok_or_else(|| invalid("There is no path in it."))?;
        empty.set("path", Value::string(path));
        empty.set("id", Value::string(id));
    }
    if empty.text("path").is_none() || empty.text("id").is_none_or(str::is_empty) {
        return Err(invalid("Path or id are missing."));
    }
    Ok(empty)
}
