//! A `backend` block that stands by itself, as text: which kind it is, and what stands in it. Nothing in it may refer to anything.

use std::collections::BTreeMap;

use groma_lang::config::constant_value;
use groma_model::codec::json::encode_plain;
use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::schema::Block as Schema;
use groma_model::span::SourceMap;
use groma_syntax::body::{Body, BodySchema};
use serde_json::Value as Json;

use super::settings::schema;

/// A `backend` block.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenBackend {
    /// Its label.
    pub kind: String,
    /// What stands in it, as the JSON syntax has it.
    pub config: BTreeMap<String, Json>,
}

/// Reads the text of one `backend` block; or says everything that is wrong, each with its line.
pub fn written_backend(text: &str) -> Result<WrittenBackend, Vec<String>> {
    let mut sources = SourceMap::new();
    let file = sources.add("backend", text);
    let parsed = groma_syntax::parse_native(&sources, file);
    let mut reader = Reader { sources: &sources, found: parsed.diagnostics };
    let read = reader.file(&parsed.value);
    let problems: Vec<String> = reader.found.iter().filter_map(|problem| told(problem, &sources)).collect();
    match read {
        Some(read) if problems.is_empty() => Ok(read),
        _ if problems.is_empty() => Err(vec!["give exactly one backend block".to_owned()]),
        _ => Err(problems),
    }
}

fn told(problem: &Diagnostic, sources: &SourceMap) -> Option<String> {
    if problem.severity != Severity::Error {
        return None;
    }
    let at = problem.subject.map(|span| format!("line {}: ", sources.start(span).line)).unwrap_or_default();
    let detail = if problem.detail.is_empty() { String::new() } else { format!(": {}", problem.detail) };
    Some(format!("{at}{}{detail}", problem.summary))
}

struct Reader<'a> {
    sources: &'a SourceMap,
    found: Diagnostics,
}

impl Reader<'_> {
    fn file(&mut self, body: &Body) -> Option<WrittenBackend> {
        let (content, found) = body.content(&BodySchema::new().block("backend", &["type"]));
        self.found.extend(found);
        let [block] = content.blocks.as_slice() else { return None };
        let kind = block.labels.first()?.text.to_string();
        let Some(schema) = schema(&kind) else {
            self.found.push(super::others::unknown(&kind).at(block.header_span));
            return None;
        };
        let config = self.block(&block.body, &schema);
        Some(WrittenBackend { kind, config })
    }

    fn block(&mut self, body: &Body, schema: &Schema) -> BTreeMap<String, Json> {
        let mut wanted = BodySchema::new();
        for name in schema.attributes.keys() {
            wanted = wanted.optional(name.as_str());
        }
        for name in schema.block_types.keys() {
            wanted = wanted.block(name.as_str(), &[]);
        }
        let (content, found) = body.content(&wanted);
        self.found.extend(found);
        let mut values = BTreeMap::new();
        for attribute in &content.attributes {
            let (value, found) = constant_value(self.sources, &attribute.expr);
            self.found.extend(found);
            let json = encode_plain(&value.unmark_deep().0).ok().and_then(|text| serde_json::from_str(&text).ok());
            values.extend(json.map(|json| (attribute.name.name.to_string(), json)));
        }
        for block in &content.blocks {
            let Some(nested) = schema.block_types.get(&block.kind.name) else { continue };
            let inside = self.block(&block.body, &nested.block);
            let all = values.entry(block.kind.name.to_string()).or_insert_with(|| Json::Array(Vec::new()));
            if let Json::Array(all) = all {
                all.push(Json::Object(inside.into_iter().collect()));
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_block_is_read_with_everything_in_it() {
        let read = written_backend(
            "backend \"s3\" {\n  bucket = \"states\"\n  key    = \"a/b\"\n  encrypt = true\n  endpoints = {\n    s3 = \"http://x\"\n  }\n}\n",
        )
        .unwrap();
        assert_eq!(read.kind, "s3");
        assert_eq!(json!(read.config)["bucket"], "states");
        assert_eq!(json!(read.config)["encrypt"], true);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let told = |text: &str| written_backend(text).unwrap_err().join("\n");
        assert_eq!(told(""), "give exactly one backend block");
        assert!(
            told("backend \"s3\" {\n  bucket = var.b\n}").starts_with("line 2: "),
            "{}",
            told("backend \"s3\" {\n  bucket = var.b\n}")
        );
        assert!(told("backend \"s3\" {\n  nope = 1\n}").contains("nope"));
        assert!(told("backend \"own\" {\n}").starts_with("line 1: "));
        assert!(told("}\nresource \"a\" \"b\" {\n").starts_with("line 1: "));
        assert!(told("backend \"s3\" {\n}\nresource \"a\" \"b\" {\n}\n").contains("line 3"));
    }
}
