//! Rules about replacements as documentation: for each resource type which fields matter, which order they want, when and why. Text only;
//! where it goes is decided elsewhere.

mod plain;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;
use std::fmt::Write;

use groma_model::schema::{AttributeKind, Block, Schema};
use serde_json::{Map, Value as Json, json};

use super::catalogue::{Catalogue, VERSION};
use super::eval::clean;
use super::path::{FieldPath, FieldStep};
use super::rule::{Behavior, Order, Origin, ReplaceRule};

pub use plain::plain;
pub use words::condition;

/// A rule, and what is known about it beside what it says.
#[derive(Debug, Clone, Copy)]
pub struct Documented<'a> {
    /// The rule.
    pub rule: &'a ReplaceRule,
    /// Arguments whose changes have shown that it is needed, if the rule itself names none.
    pub triggers: &'a [&'a str],
    /// Where people have met the trouble.
    pub threads: &'a [&'a str],
}

impl<'a> Documented<'a> {
    /// A rule of a user.
    pub fn by_user(rule: &'a ReplaceRule) -> Self {
        Self { rule, triggers: &[], threads: &[] }
    }

    /// All rules that come with groma.
    pub fn catalogue() -> Vec<Documented<'static>> {
        let entries = Catalogue::shared().entries().iter();
        entries
            .map(|entry| Documented { rule: &entry.rule, triggers: entry.row.triggers, threads: entry.row.threads })
            .collect()
    }

    fn fields(&self) -> Vec<String> {
        if self.rule.fields.is_empty() {
            let name = |text: &&str| text.trim_end_matches('?').to_owned();
            return self.triggers.iter().map(name).collect();
        }
        self.rule.fields.iter().map(ToString::to_string).collect()
    }

    fn origin(&self) -> &'static str {
        match self.rule.origin {
            Origin::Catalogue => "catalogue",
            Origin::Module => "module_rule",
            Origin::Root => "root_rule",
        }
    }

    fn when(&self) -> String {
        self.rule.logic.as_ref().map_or_else(|| "always".to_owned(), condition)
    }

    fn reason(&self) -> String {
        self.rule.reasoning.as_deref().map(clean).unwrap_or_default()
    }
}

/// The schema of a resource type, if it can be had.
pub type Schemas<'a> = dyn Fn(&str) -> Option<&'a Schema> + 'a;

/// What is documented, and with what.
#[derive(Default, Clone, Copy)]
pub struct Options<'a> {
    /// Only rules about this resource type.
    pub ty: Option<&'a str>,
    /// The schemas of resource types: then fields are described as their provider describes them.
    pub schemas: Option<&'a Schemas<'a>>,
}

impl<'a> Options<'a> {
    fn schema(&self, ty: &str) -> Option<&'a Schema> {
        self.schemas.and_then(|schemas| schemas(self.ty.unwrap_or(ty)))
    }

    /// The rules that are wanted, by what they are about.
    fn by_type<'d>(&self, rules: &'d [Documented<'d>]) -> BTreeMap<&'d str, Vec<&'d Documented<'d>>> {
        let mut types: BTreeMap<&str, Vec<&Documented<'_>>> = BTreeMap::new();
        for documented in rules {
            if self.ty.is_none_or(|ty| documented.rule.resource.matches(ty)) {
                types.entry(documented.rule.resource.as_str()).or_default().push(documented);
            }
        }
        types
    }
}

fn order_words(order: Order) -> &'static str {
    match order {
        Order::DeleteFirst => "delete-first",
        Order::CreateFirst => "create-first",
    }
}

fn behavior(rule: &ReplaceRule) -> &'static str {
    match rule.behavior {
        Behavior::Warn => "warn",
        Behavior::Auto => "auto",
    }
}

/// As Markdown: a table for each resource type.
pub fn markdown(rules: &[Documented<'_>], options: &Options<'_>) -> String {
    let mut out = String::new();
    for (ty, rules) in options.by_type(rules) {
        let _ = writeln!(out, "## `{ty}`\n");
        out.push_str("| rule | field | order | when | behavior | reason | threads |\n|---|---|---|---|---|---|---|\n");
        for documented in &rules {
            let rule = documented.rule;
            let fields = documented.fields().iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
            let cells = [
                format!("`{}`", rule.id),
                if fields.is_empty() { "any".to_owned() } else { fields },
                order_words(rule.order).to_owned(),
                documented.when(),
                behavior(rule).to_owned(),
                documented.reason(),
                documented.threads.join(", "),
            ];
            let _ = writeln!(out, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
        }
        suggestions(&mut out, &rules);
        if let Some(schema) = options.schema(ty) {
            annotations(&mut out, &rules, schema);
        }
        out.push('\n');
    }
    out
}

fn suggestions(out: &mut String, rules: &[&Documented<'_>]) {
    let mut seen: Vec<String> = Vec::new();
    for text in rules.iter().flat_map(|documented| &documented.rule.suggestions).map(|text| clean(text)) {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    if !seen.is_empty() {
        let _ = writeln!(out, "\nWhat else can be done: {}.", seen.join("; "));
    }
}

/// Fields as their provider describes them, with what the rules say about them.
fn annotations(out: &mut String, rules: &[&Documented<'_>], schema: &Schema) {
    let annotated = annotated(rules, schema);
    if !annotated.is_empty() {
        out.push('\n');
    }
    for (field, (description, notes)) in annotated {
        let description = if description.is_empty() { String::new() } else { format!(" {description}") };
        let _ = writeln!(out, "- `{field}`:{description} {}", notes.join(" "));
    }
}

/// By field: what its provider says, and what the rules say.
fn annotated(rules: &[&Documented<'_>], schema: &Schema) -> BTreeMap<String, (String, Vec<String>)> {
    let mut fields: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    for documented in rules {
        let note = format!("Replacement order: {} when {}.", order_words(documented.rule.order), documented.when());
        for field in documented.fields() {
            let text = FieldPath::parse(&field, None).ok().and_then(|path| description(&schema.block, path.steps()));
            fields.entry(field).or_insert_with(|| (text.unwrap_or_default(), Vec::new())).1.push(note.clone());
        }
    }
    fields
}

/// What a provider says about a field, in one line.
fn description(block: &Block, steps: &[FieldStep]) -> Option<String> {
    let mut names = steps.iter().filter_map(|step| match step {
        FieldStep::Name(name) => Some(name),
        FieldStep::Index(_) | FieldStep::Key(_) | FieldStep::Every => None,
    });
    let mut block = block;
    let mut name = names.next()?;
    loop {
        match (block.attributes.get(name), block.block_types.get(name)) {
            (Some(attribute), _) => {
                let mut attribute = attribute;
                for name in names {
                    let AttributeKind::Nested(nested) = &attribute.ty else { break };
                    attribute = nested.attributes.get(name)?;
                }
                return Some(clean(&attribute.description.text));
            }
            (None, Some(nested)) => block = &nested.block,
            (None, None) => return None,
        }
        match names.next() {
            Some(next) => name = next,
            None => return Some(clean(&block.description.text)),
        }
    }
}

/// For machines.
pub fn json(rules: &[Documented<'_>], options: &Options<'_>) -> Json {
    let mut types = Map::new();
    for (ty, rules) in options.by_type(rules) {
        let of_rule = |documented: &&Documented<'_>| {
            let rule = documented.rule;
            json!({
                "id": rule.id.as_str(),
                "origin": documented.origin(),
                "fields": documented.fields(),
                "order": rule.order.name(),
                "when": documented.when(),
                "behavior": behavior(rule),
                "reasoning": documented.reason(),
                "suggestions": rule.suggestions.iter().map(|text| clean(text)).collect::<Vec<_>>(),
                "learn_more": rule.learn_more(),
                "threads": documented.threads,
            })
        };
        let mut about = Map::new();
        about.insert("rules".to_owned(), rules.iter().map(of_rule).collect());
        if let Some(schema) = options.schema(ty) {
            let fields = annotated(&rules, schema).into_iter().map(|(field, (description, notes))| {
                let notes: Vec<Json> = notes.into_iter().map(Json::from).collect();
                (field, json!({ "description": description, "notes": notes }))
            });
            about.insert("fields".to_owned(), Json::Object(fields.collect()));
        }
        types.insert(ty.to_owned(), Json::Object(about));
    }
    json!({ "catalogue": VERSION, "resource_types": types })
}
