//! All references of a body, found without a schema.

use super::{Body, Repr};
use crate::ast::Traversal;

impl Body {
    /// The references in all expressions of the body and of the blocks in it. The iterators of `dynamic` blocks are among them.
    pub fn references(&self) -> Vec<Traversal> {
        let mut found = Vec::new();
        self.collect_references(&mut found);
        found
    }

    fn collect_references(&self, found: &mut Vec<Traversal>) {
        match &self.0 {
            Repr::Native { items, hidden } => {
                let shown = items.attributes.iter().filter(|a| !hidden.attributes.contains(&a.name.name));
                found.extend(shown.flat_map(|attribute| attribute.expr.references()).cloned());
                for block in items.blocks.iter().filter(|block| !hidden.blocks.contains(&block.kind.name)) {
                    block.body.collect_references(found);
                }
            }
            // Without a schema, blocks of the JSON syntax look like arguments, which is all the same here.
            Repr::Json { .. } => {
                let (attributes, _) = self.just_attributes();
                found.extend(attributes.iter().flat_map(|attribute| attribute.expr.references()).cloned());
            }
            Repr::Merged(pair) | Repr::Joined(pair) => {
                pair.0.collect_references(found);
                pair.1.collect_references(found);
            }
        }
    }
}
