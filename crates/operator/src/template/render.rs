//! From nodes and values to text.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::context::Context;
use super::parse::{Expr, Node};
use super::{MOST_BYTES, MOST_STEPS, TemplateError};

/// The text of a template.
pub(super) fn render(nodes: &[Node], data: &Json) -> Result<String, TemplateError> {
    let mut rendering = Rendering { text: String::new(), steps: 0, line: 1, context: Context::new() };
    let mut names = BTreeMap::from([("$".to_owned(), data.clone())]);
    rendering.nodes(nodes, data, &mut names)?;
    Ok(rendering.text)
}

type Names = BTreeMap<String, Json>;

struct Rendering {
    text: String,
    steps: usize,
    /// Where the last value stands.
    line: usize,
    context: Context,
}

impl Rendering {
    fn nodes(&mut self, nodes: &[Node], dot: &Json, names: &mut Names) -> Result<(), TemplateError> {
        for node in nodes {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(TemplateError::new(0, "the template does not come to an end: it repeats too much"));
            }
            self.node(node, dot, names)?;
        }
        Ok(())
    }

    fn push(&mut self, text: &str, line: usize) -> Result<(), TemplateError> {
        if self.text.len() + text.len() > MOST_BYTES {
            return Err(TemplateError::new(line, "the text becomes too long"));
        }
        self.text.push_str(text);
        Ok(())
    }

    fn node(&mut self, node: &Node, dot: &Json, names: &mut Names) -> Result<(), TemplateError> {
        match node {
            Node::Text(text) => {
                self.context.read(text).map_err(|problem| TemplateError::new(self.line, problem))?;
                self.push(text, 0)
            }
            Node::Value(expr, line) => {
                let value = evaluate(expr, dot, names).map_err(|problem| TemplateError::new(*line, problem))?;
                self.line = *line;
                let text = self.context.write(&value).map_err(|problem| TemplateError::new(*line, problem))?;
                self.push(&text, *line)
            }
            Node::Set(name, expr, line) => {
                let value = evaluate(expr, dot, names).map_err(|problem| TemplateError::new(*line, problem))?;
                names.insert(name.clone(), value);
                Ok(())
            }
            Node::If { condition, scoped, then, otherwise, line } => {
                let value = evaluate(condition, dot, names).map_err(|problem| TemplateError::new(*line, problem))?;
                let holds = is_true(&value);
                let dot = if *scoped && holds { &value } else { dot };
                self.nodes(if holds { then } else { otherwise }, dot, &mut names.clone())
            }
            Node::Range { names: variables, over, each, none, line } => {
                let value = evaluate(over, dot, names).map_err(|problem| TemplateError::new(*line, problem))?;
                let items = items(&value).map_err(|problem| TemplateError::new(*line, problem))?;
                if items.is_empty() {
                    return self.nodes(none, dot, &mut names.clone());
                }
                for (key, item) in items {
                    let mut names = names.clone();
                    match variables.as_slice() {
                        [] => {}
                        [one] => {
                            names.insert(one.clone(), item.clone());
                        }
                        [first, second, ..] => {
                            names.insert(first.clone(), key);
                            names.insert(second.clone(), item.clone());
                        }
                    }
                    self.nodes(each, &item, &mut names)?;
                }
                Ok(())
            }
        }
    }
}

/// What a range goes over. Keys of maps come in their order.
fn items(value: &Json) -> Result<Vec<(Json, Json)>, String> {
    match value {
        Json::Null => Ok(Vec::new()),
        Json::Array(items) => Ok(items.iter().enumerate().map(|(at, item)| (Json::from(at), item.clone())).collect()),
        Json::Object(entries) => {
            let sorted: BTreeMap<&String, &Json> = entries.iter().collect();
            Ok(sorted.into_iter().map(|(key, item)| (Json::String(key.clone()), item.clone())).collect())
        }
        _ => Err("range goes over lists and maps only".to_owned()),
    }
}

fn is_true(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(value) => *value,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(entries) => !entries.is_empty(),
    }
}

fn evaluate(expr: &Expr, dot: &Json, names: &Names) -> Result<Json, String> {
    match expr {
        Expr::Literal(value) => Ok(value.clone()),
        Expr::Field(steps) => field(dot, steps),
        Expr::Variable(name, steps) => {
            let value = names.get(name).ok_or_else(|| format!("there is no variable {name}"))?;
            field(value, steps)
        }
        Expr::Call(name, arguments) => {
            let values: Result<Vec<Json>, String> =
                arguments.iter().map(|argument| evaluate(argument, dot, names)).collect();
            call(name, &values?)
        }
    }
}

fn field(value: &Json, steps: &[String]) -> Result<Json, String> {
    let mut value = value;
    for step in steps {
        let entries = value.as_object().ok_or_else(|| format!("there is no field {step:?}: this is no object"))?;
        value = entries.get(step).ok_or_else(|| {
            let known: Vec<&str> = entries.keys().map(String::as_str).collect();
            format!("there is no field {step:?}; there are: {}", known.join(", "))
        })?;
    }
    Ok(value.clone())
}

fn call(name: &str, arguments: &[Json]) -> Result<Json, String> {
    let compared = |arguments: &[Json]| -> Result<std::cmp::Ordering, String> {
        match arguments {
            [Json::Number(one), Json::Number(other)] => {
                let order = one.as_f64().partial_cmp(&other.as_f64());
                order.ok_or_else(|| format!("{name}: these numbers cannot be compared"))
            }
            [Json::String(one), Json::String(other)] => Ok(one.cmp(other)),
            _ => Err(format!("{name} compares two numbers or two texts")),
        }
    };
    let boolean = |value: bool| Ok(Json::Bool(value));
    match (name, arguments) {
        ("eq", [first, others @ ..]) if !others.is_empty() => boolean(others.contains(first)),
        ("ne", [one, other]) => boolean(one != other),
        ("lt", _) => boolean(compared(arguments)?.is_lt()),
        ("le", _) => boolean(compared(arguments)?.is_le()),
        ("gt", _) => boolean(compared(arguments)?.is_gt()),
        ("ge", _) => boolean(compared(arguments)?.is_ge()),
        ("not", [value]) => boolean(!is_true(value)),
        ("and", [.., last]) => Ok(arguments.iter().find(|value| !is_true(value)).unwrap_or(last).clone()),
        ("or", [.., last]) => Ok(arguments.iter().find(|value| is_true(value)).unwrap_or(last).clone()),
        ("len", [Json::String(text)]) => Ok(Json::from(text.len())),
        ("len", [Json::Array(items)]) => Ok(Json::from(items.len())),
        ("len", [Json::Object(entries)]) => Ok(Json::from(entries.len())),
        ("index", [Json::Object(entries), Json::String(key)]) => Ok(entries.get(key).cloned().unwrap_or(Json::Null)),
        ("index", [Json::Array(items), Json::Number(at)]) => {
            let item = at.as_u64().and_then(|at| items.get(usize::try_from(at).ok()?));
            item.cloned().ok_or_else(|| format!("index: there is no element {at}"))
        }
        ("default", [usual, value]) => Ok(if is_true(value) { value } else { usual }.clone()),
        ("print", values) => Ok(Json::String(values.iter().map(shown).collect())),
        ("lower", [Json::String(text)]) => Ok(Json::String(text.to_lowercase())),
        ("upper", [Json::String(text)]) => Ok(Json::String(text.to_uppercase())),
        // Where it stands makes a literal of it.
        ("quote", [value]) => Ok(Json::String(shown(value))),
        ("toJson", [value]) => Ok(Json::String(value.to_string())),
        (
            "eq" | "ne" | "not" | "and" | "or" | "len" | "index" | "default" | "lower" | "upper" | "quote" | "toJson",
            _,
        ) => Err(format!("{name} does not take these arguments")),
        _ => Err(format!(
            "there is no function {name:?}; there are: and, default, eq, ge, gt, index, le, len, lower, lt, ne, not, or, print, \
             quote, toJson, upper"
        )),
    }
}

fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    }
}
