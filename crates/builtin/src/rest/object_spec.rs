//! The schema of `rest_object`.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::schema::Nesting;
use groma_model::ty::Type;
use groma_model::value::Value;
use regex::Regex;

use super::document::document_of;
use super::settings::is_duration;
use crate::combinations::together;
use crate::kit::checks::one_of;
use crate::kit::spec::{Attr, computed, optional, required};
use crate::kit::{Object, Spec};

fn text(doc: &str) -> Attr {
    optional(Type::String).doc(doc)
}

fn texts(doc: &str) -> Attr {
    optional(Type::list(Type::String)).doc(doc)
}

fn map(doc: &str) -> Attr {
    optional(Type::map(Type::String)).doc(doc)
}

/// What a request is made of, with the method and path that it has by default.
fn request(about: &str, method: &str, path: &str, none: bool) -> Spec {
    let more = if none { " `none`: there is no such request." } else { "" };
    Spec::new()
        .doc(about)
        .attr("method", text(&format!("Default: `{method}`.{more}")).check(is_method))
        .attr("path", text(&format!("Default: `{path}`. `{{id}}`, `{{path}}`, `{{body.x}}` and `{{output.x}}` are filled in.")))
        .attr("query", map("Query of the URL, besides that of all requests."))
        .attr("headers", map("Headers, besides those of all requests."))
        .attr(
            "body",
            text("A JSON text to send instead, for APIs that want an envelope: `{body}`, `{id}` and the others are filled in."),
        )
}

fn is_method(path: &Path, value: &Value) -> Option<Diagnostic> {
    let text = value.as_str()?;
    let fine = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let detail = format!("{text:?} is not a method of HTTP.");
    (!fine).then(|| Diagnostic::error("Invalid method", detail).at_path(path.clone()))
}

fn is_pattern(path: &Path, value: &Value) -> Option<Diagnostic> {
    let error = Regex::new(value.as_str()?).err()?;
    Some(Diagnostic::error("Invalid pattern", format!("{error}.")).at_path(path.clone()))
}

fn read() -> Spec {
    request("How the object is read.", "GET", "{path}/{id}", true)
        .attr(
            "items",
            text("Where in the answer the array is that the object is one of, if there is no request for one object."),
        )
        .attr("match_key", text("Which part of an element tells the object. Default: `id_path`."))
        .attr("match_value", text("What that part must be. Default: `{id}`."))
        .attr(
            "gone_path",
            text("Which part of the answer tells that the object is gone, for APIs that say so with status 200."),
        )
        .attr("gone_values", texts("What that part is then. Default: anything."))
}

fn delete() -> Spec {
    request("How the object is deleted.", "DELETE", "{path}/{id}", true).attr(
        "wait",
        text("How long to wait until the object is really gone. By default, not at all.").check(is_duration),
    )
}

pub(super) fn spec() -> Spec {
    let update = request("How the object is changed.", "PUT", "{path}/{id}", true).attr(
        "send",
        text("`all` (the default) or `changed`: the parts of the body that are other than before.")
            .check(one_of(&["all", "changed"])),
    );
    let ready = ready_when();
    let spec = Spec::new()
        .doc("An object behind an API that speaks JSON over HTTP.")
        .block("create", Nesting::Single, (0, 0), request("How the object is made.", "POST", "{path}", false))
        .block("read", Nesting::Single, (0, 0), read())
        .block("update", Nesting::Single, (0, 0), update)
        .block("delete", Nesting::Single, (0, 0), delete())
        .block("list", Nesting::Single, (0, 0), list())
        .block("ready_when", Nesting::List, (0, 0), ready);
    results(comparing(sending(arguments(spec))))
}

/// What objects are listed by: everything that a configuration says, but for what one object is like.
pub(super) fn list_spec() -> Spec {
    let spec = Spec::new()
        .block("create", Nesting::Single, (0, 0), request("How the object is made.", "POST", "{path}", false))
        .block("read", Nesting::Single, (0, 0), read())
        .block("update", Nesting::Single, (0, 0), request("", "PUT", "{path}/{id}", true).attr("send", text("")))
        .block("delete", Nesting::Single, (0, 0), delete())
        .block("list", Nesting::Single, (0, 0), list())
        .block("ready_when", Nesting::List, (0, 0), ready_when());
    comparing(arguments(spec))
}

fn list() -> Spec {
    request("How all objects of the collection are found, whoever has made them.", "GET", "{path}", false)
        .attr("items", text("Where in the answer the array of objects is. Default: the answer is the array."))
        .attr("id", text("Where the id is in an element. Default: `id_path`."))
        .attr("name", text("Where in an element is what people know it by. Default: `name`."))
}

fn ready_when() -> Spec {
    Spec::new()
        .doc("When the object works. All of these must hold; until then what depends on it waits.")
        .attr("path", required(Type::String).doc("Which part of the object tells."))
        .attr("values", texts("What that part must be: one of these. By default, anything but null."))
        .attr("fail_values", texts("What that part is when waiting longer is useless."))
}

fn arguments(spec: Spec) -> Spec {
    spec.attr(
        "path",
        required(Type::String).replace().doc("Path of the collection that the object is in, below `base_url`."),
    )
    .attr("object_id", text("The id, if the API takes it from the client; the object is then made by PUT.").replace())
    .attr("headers", map("Headers of all requests for this object."))
    .attr("query", map("Query of all requests for this object."))
    .attr("id_path", text("Where the id is in the answer to the request that makes the object. Default: `id`."))
    .attr("id_header", text("The header of that answer whose last path step is the id, such as `Location`."))
    .attr(
        "id_member",
        text("The member of the body that the id is put into when the object is read, changed or deleted by POST, PUT or PATCH."),
    )
    .attr("object_path", text("Where the object is in answers, if there is something around it, such as `data`."))
    .attr(
        "gone_status",
        optional(Type::set(Type::Number)).doc("Which status means that there is no object. Default: 404, 410."),
    )
    .attr("ready_timeout", text("How long to wait for `ready_when`. Default: `10m`.").check(is_duration))
    .attr("ready_interval", text("How often to look. Default: `5s`.").check(is_duration))
    .attr("hide_output", optional(Type::Bool).doc("Whether what the API answers is kept in `sensitive_output` only."))
}

/// What is sent of an object.
fn sending(spec: Spec) -> Spec {
    spec.attr("body", optional(Type::Dynamic).doc("The object, sent as JSON. A text that is JSON is sent as it is."))
        .attr(
            "secret_body_wo",
            optional(Type::Dynamic).sensitive().write_only().doc(
                "Parts of the body that are secret: merged over it when it is sent, never stored, never compared.",
            ),
        )
        .attr(
            "secret_body_wo_version",
            optional(Type::Number).doc("The version of `secret_body_wo`: a change sends it again."),
        )
}

fn comparing(spec: Spec) -> Spec {
    spec.attr("ignore_paths", texts("Parts of the body that are sent but not compared with what the API has. `*` is any step."))
        .attr("masked_paths", texts("Parts of the body that the API does not show: the value that was sent is kept."))
        .attr(
            "mask_pattern",
            text("What a text looks like that the API shows instead of a secret (a regular expression). Default: `^[*•]{3,}$`.")
                .check(is_pattern),
        )
        .attr("unordered_paths", texts("Arrays whose order does not matter."))
        .attr("array_keys", map("Arrays whose elements are known by a part of them: path of the array to path of that part in an element."))
        .attr(
            "loose_names",
            optional(Type::Bool)
                .doc("Whether names of members are the same if they differ only in case, underscores and hyphens."),
        )
        .attr("replace_on", texts("Parts of the body whose change needs a new object."))
}

fn results(spec: Spec) -> Spec {
    spec.attr("id", computed(Type::String).keep().doc("The id."))
        .attr("output", computed(Type::Dynamic).doc("The object as the API shows it."))
        .attr("sensitive_output", computed(Type::Dynamic).sensitive().doc("The same, if `hide_output` is true."))
        .attr("ready", computed(Type::Bool).doc("Whether everything in `ready_when` holds."))
}

pub(super) fn validate(config: &Object) -> Diagnostics {
    let mut found = Diagnostics::new();
    let secret = ["secret_body_wo", "secret_body_wo_version"];
    if !config.is_null(secret[0]) {
        found.extend(together(config, &secret));
    }
    if !config.is_null("secret_body_wo")
        && config.get("body").as_str().is_some_and(|text| serde_json::from_str::<serde_json::Value>(text).is_err())
    {
        let detail = "Secret parts can be merged into a body that is JSON only.";
        found.push(Diagnostic::error("Invalid body", detail).at_path(Path::root().attr("body")));
    }
    for name in ["body", "secret_body_wo"] {
        let value = config.get(name);
        if value.is_wholly_known() && value.as_str().is_none() && document_of(&value).is_none() {
            let detail = "It cannot be written as JSON: it is nested too deeply, or has a number without an end.";
            found.push(Diagnostic::error("Invalid body", detail).at_path(Path::root().attr(name)));
        }
    }
    found
}
