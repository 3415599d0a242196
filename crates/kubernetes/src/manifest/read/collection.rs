//! Collections while they are being read: what is in them so far, and what becomes of it at their end.

use std::collections::BTreeMap;

use serde_json::Map;

use super::{Node, Weight};
use crate::Json;
use crate::manifest::lines::{Inside, Lines};

/// A collection of which the end has not been seen.
pub(super) struct Collection {
    pub(super) anchor: usize,
    pub(super) line: usize,
    /// What had been read before it.
    pub(super) before: Weight,
    pub(super) contents: Contents,
}

pub(super) enum Contents {
    Sequence { items: Vec<Json>, lines: Vec<Lines> },
    Mapping(Mapping),
}

#[derive(Default)]
pub(super) struct Mapping {
    members: Map<String, Json>,
    pub(super) lines: BTreeMap<String, Lines>,
    /// What comes from merge keys: weaker than what is written here.
    merged: Vec<(String, Node)>,
    pub(super) key: Option<Key>,
}

/// What the next value in a mapping belongs to.
pub(super) enum Key {
    Name(String, usize),
    /// The value is to be merged into the mapping.
    Merge,
    /// A name that is there twice, or none at all.
    Useless,
}

impl Collection {
    /// Adds a value that has been read in full.
    pub(super) fn add(&mut self, node: Node) -> Result<(), &'static str> {
        match &mut self.contents {
            Contents::Sequence { items, lines } => {
                items.push(node.json);
                lines.push(node.lines);
            }
            Contents::Mapping(mapping) => match mapping.key.take() {
                Some(Key::Name(name, line)) => mapping.insert(name, line, node),
                Some(Key::Merge) => mapping.merge(node)?,
                Some(Key::Useless) | None => {}
            },
        }
        Ok(())
    }
}

impl Mapping {
    fn insert(&mut self, name: String, line: usize, node: Node) {
        self.lines.insert(name.clone(), Lines { line, inside: node.lines.inside });
        self.members.insert(name, node.json);
    }

    /// Takes in an object, or several. The first that has a name gives its value.
    fn merge(&mut self, node: Node) -> Result<(), &'static str> {
        match (node.json, node.lines.inside) {
            (Json::Object(members), Inside::Members(mut lines)) => {
                for (name, json) in members {
                    let lines = lines.remove(&name).unwrap_or_default();
                    self.merged.push((name, Node { json, lines }));
                }
                Ok(())
            }
            (Json::Array(items), Inside::Items(lines)) => {
                for (json, lines) in items.into_iter().zip(lines) {
                    if !json.is_object() {
                        return Err("only objects can be merged into an object with <<");
                    }
                    self.merge(Node { json, lines })?;
                }
                Ok(())
            }
            _ => Err("only objects can be merged into an object with <<"),
        }
    }
}

impl Contents {
    pub(super) fn finish(self, line: usize) -> Node {
        match self {
            Contents::Sequence { items, lines } => {
                Node { json: Json::Array(items), lines: Lines { line, inside: Inside::Items(lines) } }
            }
            Contents::Mapping(mut mapping) => {
                for (name, node) in std::mem::take(&mut mapping.merged) {
                    if !mapping.lines.contains_key(&name) {
                        let line = node.lines.line;
                        mapping.insert(name, line, node);
                    }
                }
                let lines = Lines { line, inside: Inside::Members(mapping.lines) };
                Node { json: Json::Object(mapping.members), lines }
            }
        }
    }
}
