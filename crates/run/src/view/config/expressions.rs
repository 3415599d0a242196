//! Expressions as machines are told: their value if they are constant, and what they refer to.

use std::collections::BTreeMap;

use groma_lang::config::{Expr, Step, StepKey, Traversal, constant_value};
use groma_lang::decode::{decode_block, takes_blocks_as_attributes, written_as_blocks};
use groma_lang::eval::EmptyScope;
use groma_lang::refs::{Reference, Subject};
use groma_model::address::InstanceKey;
use groma_model::schema::{Block, Nesting};
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::value::go_quote;
use groma_syntax::body::{Block as BlockSyntax, Body, BodySchema};
use serde_json::{Map, Value};

use super::super::value::Plain;

/// The value of an expression that refers to nothing, and what it refers to, both as far as there is any.
pub(super) fn expression(expr: &Expr, sources: &SourceMap) -> Map<String, Value> {
    let mut json = Map::new();
    let (value, problems) = constant_value(sources, expr);
    if !problems.has_errors() && value.is_wholly_known() {
        constant(&mut json, &value);
    }
    let mut found = References::default();
    found.add(expr);
    found.into_json(&mut json);
    json
}

fn constant(json: &mut Map<String, Value>, value: &groma_model::value::Value) {
    if let Ok(value) = serde_json::to_value(Plain(value)) {
        json.insert("constant_value".into(), value);
    }
}

#[derive(Default)]
struct References {
    names: Vec<String>,
    functions: Vec<String>,
}

impl References {
    fn add(&mut self, expr: &Expr) {
        for traversal in expr.references() {
            if let Ok(reference) = Reference::parse(traversal) {
                self.add_reference(&reference, traversal);
            }
        }
        let provided = expr.calls().into_iter().filter(|call| call.name.starts_with("provider::"));
        self.functions.extend(provided.map(|call| call.name.to_string()));
    }

    /// The whole of a reference, then shorter and shorter down to what can be referred to at all.
    fn add_reference(&mut self, reference: &Reference, traversal: &Traversal) {
        let base = subject(&reference.subject);
        let steps = reference.remaining(traversal);
        for length in (1..=steps.len()).rev() {
            let path: String = steps[..length].iter().map(step).collect();
            self.names.push(format!("{base}{path}"));
        }
        self.names.push(base);
        match &reference.subject {
            Subject::Module { name, key, output: Some(_) } => self.names.push(format!("module.{name}{key}")),
            Subject::Module { name, key, output: None } if !key.is_none() => self.names.push(format!("module.{name}")),
            Subject::Resource { resource, key } if !key.is_none() => self.names.push(resource.to_string()),
            _ => {}
        }
    }

    fn into_json(self, json: &mut Map<String, Value>) {
        let all: Vec<String> = self.names.into_iter().chain(self.functions).collect();
        if !all.is_empty() {
            json.insert("references".into(), all.into());
        }
    }
}

/// What a reference is about, with its key.
pub(super) fn subject(subject: &Subject) -> String {
    match subject {
        Subject::Module { name, key, output: Some(output) } => format!("module.{name}{key}.{output}"),
        Subject::Module { name, key, output: None } => format!("module.{name}{key}"),
        Subject::Resource { resource, key } => format!("{resource}{}", display_key(key)),
        other => other.to_string(),
    }
}

fn display_key(key: &InstanceKey) -> String {
    if key.is_none() { String::new() } else { key.to_string() }
}

fn step(step: &Step) -> String {
    match step {
        Step::Attr { name, .. } => format!(".{name}"),
        Step::Index { key: StepKey::String(text), .. } => format!("[{}]", go_quote(text)),
        Step::Index { key: StepKey::Number(number), .. } => format!("[{}]", number.format_g(Some(10))),
    }
}

/// The expressions of a body, by argument and block. What a schema does not know is left out, `dynamic` blocks as well.
pub(super) fn body_expressions(body: &Body, schema: &Block, sources: &SourceMap) -> Map<String, Value> {
    let reader = Reader { sources, blocks_as_attributes: takes_blocks_as_attributes(schema) };
    reader.body(body, schema)
}

struct Reader<'a> {
    sources: &'a SourceMap,
    blocks_as_attributes: bool,
}

impl Reader<'_> {
    fn body(&self, body: &Body, schema: &Block) -> Map<String, Value> {
        let as_blocks = if self.blocks_as_attributes { written_as_blocks(body, schema) } else { BTreeMap::new() };
        let mut wanted = BodySchema::new();
        for name in schema.attributes.keys() {
            wanted = if as_blocks.contains_key(name) { wanted.block(name, &[]) } else { wanted.optional(name) };
        }
        for (kind, nested) in &schema.block_types {
            wanted = wanted.block(kind, if nested.nesting == Nesting::Map { &["key"] } else { &[] });
        }
        let (content, _, _) = body.partial_content(&wanted);
        let mut found = BTreeMap::new();
        for attribute in &content.attributes {
            let json = expression(&attribute.expr, self.sources);
            found.insert(attribute.name.name.to_string(), Value::from(json));
        }
        for (name, schema) in &as_blocks {
            let blocks: Vec<&BlockSyntax> = content.blocks_of(name).collect();
            if !blocks.is_empty() {
                found.insert(name.to_string(), list_of_blocks(&blocks, schema).into());
            }
        }
        for block in &content.blocks {
            let Some(nested) = schema.block_types.get(&block.kind.name) else { continue };
            let inner = self.body(&block.body, &nested.block);
            add_block(&mut found, &block.kind.name, nested.nesting, label(block), inner);
        }
        found.into_iter().collect()
    }
}

fn label(block: &BlockSyntax) -> Option<&Str> {
    block.labels.first().map(|label| &label.text)
}

fn add_block(
    found: &mut BTreeMap<String, Value>,
    kind: &str,
    nesting: Nesting,
    key: Option<&Str>,
    inner: Map<String, Value>,
) {
    match (nesting, key) {
        (Nesting::Single | Nesting::Group, _) => {
            found.insert(kind.to_owned(), inner.into());
        }
        (Nesting::Map, Some(key)) => {
            let entries = found.entry(kind.to_owned()).or_insert_with(|| Map::new().into());
            if let Value::Object(entries) = entries {
                entries.insert(key.to_string(), inner.into());
            }
        }
        _ => {
            let items = found.entry(kind.to_owned()).or_insert_with(|| Vec::<Value>::new().into());
            if let Value::Array(items) = items {
                items.push(inner.into());
            }
        }
    }
}

/// Blocks that stand for an attribute are one expression together.
fn list_of_blocks(blocks: &[&BlockSyntax], schema: &Block) -> Map<String, Value> {
    let mut json = Map::new();
    let mut references = References::default();
    let mut values = Vec::new();
    for block in blocks {
        let (value, problems) = decode_block(&block.body, schema, &EmptyScope);
        if !problems.has_errors() && value.is_wholly_known() {
            values.push(value);
        }
        let wanted = schema.attributes.keys().fold(BodySchema::new(), |wanted, name| wanted.optional(name));
        let (content, _, _) = block.body.partial_content(&wanted);
        content.attributes.iter().for_each(|attribute| references.add(&attribute.expr));
    }
    if values.len() == blocks.len() {
        constant(&mut json, &groma_model::value::Value::tuple(values));
    }
    references.into_json(&mut json);
    json
}
