//! Checks of resource references that need no values: does it exist, may it be seen from here, is the instance key right,
//! does the schema have that attribute.

use groma_model::address::InstanceKey;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_syntax::ast::{Step, Traversal};

use super::scope::{ModuleScope, undeclared};
use crate::config::{Repetition, Resource, ResourceKey, ResourceMode};
use crate::decode;
use crate::refs::Reference;

impl ModuleScope<'_> {
    /// The resource that a reference names, if the reference is right.
    pub(super) fn check_resource(
        &self,
        key: &ResourceKey,
        instance: &InstanceKey,
        traversal: &Traversal,
        reference: &Reference,
    ) -> Result<&Resource, Diagnostics> {
        let mut diagnostics = Diagnostics::new();
        let module = self.walk().module_of(self.instance());
        let Some(resource) = module.resources.get(key) else {
            return Err(self.no_such_resource(key, reference));
        };
        if self.own_resource().is_some_and(|own| own.key == *key) {
            let detail = format!("Configuration for {key} may not refer to itself.");
            return Err(undeclared("Self-referential block", detail, reference));
        }
        let remaining = reference.remaining(traversal);
        diagnostics.extend(check_instance_key(resource, instance, remaining, reference));
        if resource.check.is_some() && resource.check.as_ref() != self.check_block() {
            let detail = format!(
                "The referenced {} resource \"{}\" \"{}\" is not available from this context.",
                adjective(key.mode),
                key.ty,
                key.name
            );
            diagnostics.extend(undeclared("Reference to scoped resource", detail, reference));
        }
        diagnostics.extend(self.check_attributes(resource, remaining, reference).err().unwrap_or_default());
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(resource) }
    }

    /// Whether the schema of a resource has what the steps name.
    pub(super) fn check_attributes(
        &self,
        resource: &Resource,
        steps: &[Step],
        reference: &Reference,
    ) -> Result<(), Diagnostics> {
        let Some(schema) = self.schema_of(resource) else {
            let detail = format!(
                "The {} resource type \"{}\" is not supported by provider \"{}\".",
                adjective(resource.key.mode),
                resource.key.ty,
                resource.provider
            );
            return Err(undeclared("Invalid resource type", detail, reference));
        };
        if let Some(Step::Attr { name, .. }) = steps.first()
            && name.as_str() == "count"
        {
            let detail = format!(
                "The special \"count\" attribute is no longer supported after v0.12. Instead, use length({}) to count \
                 resource instances.",
                resource.key
            );
            return Err(undeclared("Invalid resource count attribute", detail, reference));
        }
        let diagnostics = decode::check_traversal(&schema.block, steps);
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
    }

    fn no_such_resource(&self, key: &ResourceKey, reference: &Reference) -> Diagnostics {
        let walk = self.walk();
        let module = walk.module_of(self.instance());
        let elsewhere = [ResourceMode::Managed, ResourceMode::Data, ResourceMode::Ephemeral]
            .into_iter()
            .map(|mode| ResourceKey { mode, ..key.clone() })
            .find(|other| module.resources.contains_key(other));
        let advice = elsewhere.map_or(String::new(), |other| {
            let block = match other.mode {
                ResourceMode::Managed => "resource",
                ResourceMode::Data => "data",
                ResourceMode::Ephemeral => "ephemeral",
            };
            format!("\n\nDid you mean the {block} resource {other}?")
        });
        let place = walk.graph.modules[walk.arena[self.instance()].module].display();
        let detail = format!(
            "There is no {} resource \"{}\" \"{}\" definition in {place}.{advice}",
            adjective(key.mode),
            key.ty,
            key.name
        );
        // The place in JSON diagnostics is the reference itself.
        Diagnostic::error("Reference to undeclared resource", detail).at(reference.span).into()
    }
}

fn adjective(mode: ResourceMode) -> &'static str {
    match mode {
        ResourceMode::Managed => "managed",
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => "ephemeral",
    }
}

fn check_instance_key(
    resource: &Resource,
    instance: &InstanceKey,
    remaining: &[Step],
    reference: &Reference,
) -> Diagnostics {
    let key = &resource.key;
    let missing = |argument: &str, example: &str| {
        let detail = format!(
            "Because {key} has \"{argument}\" set, its attributes must be accessed on specific instances.\n\nFor example, \
             to correlate with indices of a referring resource, use:\n    {key}[{example}]"
        );
        undeclared("Missing resource instance key", detail, reference)
    };
    match (&resource.repetition, instance) {
        (Repetition::Count(_), InstanceKey::None) if !remaining.is_empty() => missing("count", "count.index"),
        (Repetition::ForEach(_), InstanceKey::None) if !remaining.is_empty() => missing("for_each", "each.key"),
        (Repetition::Once | Repetition::Enabled(_), InstanceKey::Int(_) | InstanceKey::String(_)) => {
            let detail = format!(
                "Because {key} does not have \"count\" or \"for_each\" set, references to it must not include an index \
                 key. Remove the bracketed index to refer to the single instance of this resource."
            );
            undeclared("Unexpected resource instance key", detail, reference)
        }
        _ => Diagnostics::new(),
    }
}
