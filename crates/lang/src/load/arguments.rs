//! Arguments of module calls: those that the called module has variables for, and all that it needs.

use groma_model::diag::Diagnostics;
use groma_syntax::body::BodySchema;

use super::ModuleNode;

/// Checks the calls in a module and in everything below it.
pub(super) fn check(node: &ModuleNode, diagnostics: &mut Diagnostics) {
    for (name, child) in &node.children {
        check(child, diagnostics);
        let Some(call) = node.module.module_calls.get(name) else { continue };
        let schema = child.module.variables.values().fold(BodySchema::new(), |schema, variable| {
            if variable.is_required() { schema.required(&variable.name) } else { schema.optional(&variable.name) }
        });
        diagnostics.extend(call.config.content(&schema).1);
    }
}
