//! Configuration that is ready to paste: the resource that waits, for tools that cannot wait inside of an object.

use groma_kit::Object;
use groma_model::diag::Diagnostic;
use groma_model::value::Value;

use crate::manifest::ObjectRef;

/// Why `wait_for` is refused, and what to write instead.
pub(super) fn wait_elsewhere(config: &Object, reference: Option<&ObjectRef>) -> Diagnostic {
    let detail = format!(
        "A resource that complains while it is made is tainted by this tool, and replaced by the next apply. So nothing is waited \
         for inside of an object here. Take wait_for out and write a resource of its own:\n\n{}",
        block(config, reference)
    );
    Diagnostic::error("wait_for needs a resource of its own", detail).at_path(groma_kit::at("wait_for"))
}

fn block(config: &Object, reference: Option<&ObjectRef>) -> String {
    let label = reference.map_or_else(|| "ready".to_owned(), |reference| label(&reference.name));
    let mut lines = vec![format!("resource \"k8sconnect_wait\" {} {{", quoted(&label))];
    match reference {
        Some(reference) => {
            lines.push("  object_ref = {".to_owned());
            lines.push(format!("    api_version = {}", quoted(&reference.api_version)));
            lines.push(format!("    kind        = {}", quoted(&reference.kind)));
            lines.push(format!("    name        = {}", quoted(&reference.name)));
            if let Some(namespace) = &reference.namespace {
                lines.push(format!("    namespace   = {}", quoted(namespace)));
            }
            lines.push("  }".to_owned());
        }
        None => lines.push("  object_ref = k8sconnect_object.<this resource>.object_ref".to_owned()),
    }
    if !config.is_null("cluster") {
        lines.push("  cluster = <as in this resource>".to_owned());
    }
    lines.push("  wait_for = {".to_owned());
    let kind = reference.map_or("", |reference| reference.kind.as_str());
    lines.extend(conditions(&Object::of(&config.get("wait_for")), kind).iter().map(|line| format!("    {line}")));
    lines.push("  }".to_owned());
    lines.push("}".to_owned());
    lines.join("\n")
}

fn conditions(wait: &Object, kind: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in wait.iter() {
        if value.is_null() {
            continue;
        }
        if name.as_str() == "ready" {
            lines.push(when_ready(kind).to_owned());
        } else {
            lines.push(format!("{name} = {}", expression(value)));
        }
    }
    lines
}

/// What "ready" means for a kind, in the words that `k8sconnect_wait` has.
fn when_ready(kind: &str) -> &'static str {
    match kind {
        "Deployment" | "StatefulSet" | "DaemonSet" => "rollout = true",
        "Job" => "condition = \"Complete\"",
        "PersistentVolumeClaim" | "PersistentVolume" => "field_value = { \"status.phase\" = \"Bound\" }",
        "Namespace" => "field_value = { \"status.phase\" = \"Active\" }",
        "CustomResourceDefinition" => "condition = \"Established\"",
        "APIService" => "condition = \"Available\"",
        "Service" | "Ingress" => "field = \"status.loadBalancer.ingress\"",
        _ => "condition = \"Ready\"",
    }
}

fn expression(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return quoted(text);
    }
    if let Some(flag) = value.as_bool() {
        return flag.to_string();
    }
    if let Some(entries) = value.as_entries() {
        let entries: Vec<String> =
            entries.iter().map(|(key, value)| format!("{} = {}", quoted(key), expression(value))).collect();
        return format!("{{ {} }}", entries.join(", "));
    }
    "<as in this resource>".to_owned()
}

/// A text as configuration writes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for (at, character) in text.char_indices() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '$' | '%' if text[at + 1..].starts_with('{') => {
                quoted.push(character);
                quoted.push(character);
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// A name that a resource can have.
fn label(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("wait_{plain}") }
}

#[cfg(test)]
mod tests {
    use groma_model::ty::Type;
    use groma_model::value::Entries;

    use super::*;

    fn deployment() -> ObjectRef {
        ObjectRef {
            api_version: "apps/v1".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: Some("prod".to_owned()),
            name: "nginx".to_owned(),
        }
    }

    fn config(wait_for: Value) -> Object {
        Object::of(&Value::object([("wait_for", wait_for), ("cluster", Value::null(Type::String))]))
    }

    #[test]
    fn the_block_can_be_pasted() {
        let wait = Value::object([
            ("condition", Value::null(Type::String)),
            ("ready", Value::bool(true)),
            ("timeout", Value::string("5m")),
        ]);
        let expected = r#"resource "k8sconnect_wait" "nginx" {
  object_ref = {
    api_version = "apps/v1"
    kind        = "Deployment"
    name        = "nginx"
    namespace   = "prod"
  }
  wait_for = {
    rollout = true
    timeout = "5m"
  }
}"#;
        assert_eq!(block(&config(wait), Some(&deployment())), expected);
    }

    #[test]
    fn values_are_written_as_configuration_writes_them() {
        let values: Entries = [("status['${a}']", Value::string("b\"c"))].into_iter().collect();
        let wait = Value::object([("field_value", Value::map(Type::String, values))]);
        let text = block(&config(wait), None);
        assert!(text.contains(r#"field_value = { "status['$${a}']" = "b\"c" }"#), "{text}");
    }

    #[test]
    fn a_label_begins_with_a_letter() {
        assert_eq!(label("system:x.y"), "system_x_y");
        assert_eq!(label("1st"), "wait_1st");
    }
}
