//! Rules that every schema has to follow. A provider that breaks them has a bug.

use std::fmt;

use super::{Attribute, AttributeKind, Block, NestedBlock, Nesting, Schema};

/// A rule that a schema breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaProblem {
    /// Names of blocks and attributes that lead to it, with dots between.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl Schema {
    /// All rules that the schema breaks.
    pub fn problems(&self) -> Vec<SchemaProblem> {
        let mut checker = Checker { path: Vec::new(), problems: Vec::new() };
        checker.block(&self.block);
        checker.problems
    }
}

struct Checker<'s> {
    path: Vec<&'s str>,
    problems: Vec<SchemaProblem>,
}

impl<'s> Checker<'s> {
    fn problem(&mut self, message: impl Into<String>) {
        self.problems.push(SchemaProblem { path: self.path.join("."), message: message.into() });
    }

    fn block(&mut self, block: &'s Block) {
        for (name, attribute) in &block.attributes {
            self.path.push(name);
            self.attribute(attribute);
            self.path.pop();
        }
        for (name, nested) in &block.block_types {
            self.path.push(name);
            let valid = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')) && !name.is_empty();
            if block.attributes.contains_key(name) {
                self.problem("name defined as both attribute and child block type");
            } else if !valid {
                self.problem("name may contain only lowercase letters, digits and underscores");
            }
            self.nested_block(nested);
            self.path.pop();
        }
    }

    fn nested_block(&mut self, nested: &'s NestedBlock) {
        let (min, max) = (nested.min_items, nested.max_items);
        match nested.nesting {
            Nesting::Single if min != max || min > 1 => {
                self.problem("a single block must have limits of 0 and 0, or 1 and 1");
            }
            Nesting::Group | Nesting::Map if min != 0 || max != 0 => {
                self.problem("a group or map of blocks cannot have limits");
            }
            Nesting::List | Nesting::Set if min > max && max != 0 => {
                self.problem("the lower limit must not be above the upper one");
            }
            _ => {}
        }
        if nested.nesting == Nesting::Set && nested.block.implied_type().has_dynamic() {
            self.problem("a set of blocks may not contain attributes of any type");
        }
        self.block(&nested.block);
    }

    fn attribute(&mut self, attribute: &'s Attribute) {
        if !attribute.optional && !attribute.required && !attribute.computed {
            self.problem("must set Optional, Required or Computed");
        }
        if attribute.optional && attribute.required {
            self.problem("cannot set both Optional and Required");
        }
        if attribute.computed && attribute.required {
            self.problem("cannot set both Computed and Required");
        }
        let AttributeKind::Nested(nested) = &attribute.ty else { return };
        match nested.nesting {
            Nesting::Group => self.problem("invalid nesting mode for an attribute"),
            Nesting::Set if nested.object_type().has_dynamic() => {
                self.problem("a set of objects may not contain attributes of any type");
            }
            _ => {}
        }
        for (name, inner) in &nested.attributes {
            self.path.push(name);
            self.attribute(inner);
            self.path.pop();
        }
    }
}
