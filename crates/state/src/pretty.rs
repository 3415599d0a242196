//! JSON with two spaces of indentation, as Go's encoder writes it.

use groma_model::codec::json::{Json, write_string};

/// The text of a document.
pub(crate) fn pretty(json: &Json<'_>) -> String {
    let mut out = String::new();
    write(json, 0, &mut out);
    out.push('\n');
    out
}

fn write(json: &Json<'_>, depth: usize, out: &mut String) {
    match json {
        Json::Null => out.push_str("null"),
        Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(text) => out.push_str(text),
        Json::String(text) => write_string(out, text),
        Json::Array(items) if items.is_empty() => out.push_str("[]"),
        Json::Object(members) if members.is_empty() => out.push_str("{}"),
        Json::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(at, depth + 1, out);
                write(item, depth + 1, out);
            }
            new_line(depth, out);
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                separate(at, depth + 1, out);
                write_string(out, name);
                out.push_str(": ");
                write(value, depth + 1, out);
            }
            new_line(depth, out);
            out.push('}');
        }
    }
}

fn separate(at: usize, depth: usize, out: &mut String) {
    if at > 0 {
        out.push(',');
    }
    new_line(depth, out);
}

fn new_line(depth: usize, out: &mut String) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_indented() {
        let json = Json::parse(r#"{"a":[1,{}],"b":[],"c":{"d":"<"}}"#).unwrap();
        let expected =
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": [],\n  \"c\": {\n    \"d\": \"\\u003c\"\n  }\n}\n";
        assert_eq!(pretty(&json), expected);
    }
}
