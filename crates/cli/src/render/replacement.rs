//! Why objects are replaced in the order that is planned, with everything that rules found out about it.

use std::fmt::Write as _;

use serde_json::Value;

use super::Style;
use super::paint::{Paint, Tone};

/// What was decided about some objects, as documents for machines have it.
pub(crate) fn decisions(found: &[(String, Value)], style: Style) -> String {
    let paint = Paint(style.color);
    let texts: Vec<String> = found.iter().map(|(address, decision)| text(address, decision, paint)).collect();
    texts.join("\n")
}

fn text(address: &str, decision: &Value, paint: Paint) -> String {
    let mut out = String::new();
    let order = words(&decision["order"]);
    // Writing to a string does not fail.
    let _ = writeln!(out, "{}", paint.text(Tone::Bold, &format!("{address} is replaced {order}.")));
    let _ = writeln!(out, "  Decided by {}.", decider(&decision["decided_by"]));
    for (key, name) in [("forced_by", "Required by"), ("demotes", "Decides the order of")] {
        let others: Vec<&str> = decision[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if !others.is_empty() {
            let _ = writeln!(out, "  {name} {}.", others.join(", "));
        }
    }
    let without = words(&decision["without_rules"]);
    if without != order {
        let _ = writeln!(out, "  Without rules it would be replaced {without}.");
    }
    for rule in decision["rules"].as_array().into_iter().flatten() {
        let _ = writeln!(out, "\n{}", paint.text(Tone::Bold, &headline(rule)));
        for line in rule["reasoning"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let _ = writeln!(out, "  {line}");
        }
        if !rule["tree"].is_null() {
            node(&mut out, &rule["tree"], 1);
        }
    }
    out
}

fn words(order: &Value) -> &'static str {
    if order == "create_first" { "create-first" } else { "delete-first" }
}

fn decider(by: &Value) -> String {
    let layer = match by["layer"].as_str() {
        Some("cli") => return "-replace-order".to_owned(),
        Some("lifecycle") => return "create_before_destroy".to_owned(),
        Some("root_rule") => "a rule of the root module",
        Some("module_rule") => "a rule of a module",
        Some("catalogue") => "a rule of the catalogue",
        _ => return "nobody: this is what happens if nothing else is said".to_owned(),
    };
    let name = by["rule"].as_str().unwrap_or_default();
    match (by["file"].as_str(), by["line"].as_u64()) {
        (Some(file), Some(line)) => format!("{layer}: {name}, {file}:{line}"),
        _ => format!("{layer}: {name}"),
    }
}

fn headline(rule: &Value) -> String {
    let text = |key: &str| rule[key].as_str().unwrap_or_default();
    format!(
        "Rule {} wants {} ({}): {}, {}",
        text("id"),
        words(&rule["order"]),
        text("behavior"),
        text("result"),
        text("status").replace('_', " ")
    )
}

/// A condition and everything that it is made of.
fn node(out: &mut String, tree: &Value, depth: usize) {
    let indent = "  ".repeat(depth);
    let text = |key: &str| tree[key].as_str().unwrap_or_default();
    let name = [text("op"), text("id")].into_iter().find(|name| !name.is_empty()).unwrap_or_default();
    let kind = if text("kind").is_empty() { String::new() } else { format!(" ({})", text("kind")) };
    let description =
        if text("description").is_empty() { String::new() } else { format!(" - {}", text("description")) };
    let _ = writeln!(out, "{indent}{name}{kind}: {}{description}", text("result"));
    for step in tree["steps"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(out, "{indent}  {step}");
    }
    for child in tree["children"].as_array().into_iter().flatten() {
        node(out, child, depth + 1);
    }
}
