//! Resources, as far as they can be judged without their provider: repetition, configuration against the schema, conditions,
//! lifecycle and provisioners.

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Block;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::Expr;
use groma_syntax::body::Body;

use super::expansion::{Strictness, check_repetition};
use super::{InstanceIndex, ModuleScope, RepetitionData, Walk, check_depends_on, conditions};
use crate::builtin_schema;
use crate::config::{IgnoreChanges, Provisioner, Repetition, Resource, ResourceKey, ResourceMode};
use crate::decode;
use crate::eval::{EmptyScope, evaluate};
use crate::provisioners;
use crate::refs::{Reference, Subject};

impl Walk<'_> {
    pub(super) fn visit_resource(&mut self, instance: InstanceIndex, key: &ResourceKey) -> Diagnostics {
        let Some(resource) = self.module_of(instance).resources.get(key) else { return Diagnostics::new() };
        if !self.is_validating() {
            return Diagnostics::new();
        }
        let mut diagnostics = self.validate_resource(instance, resource);
        diagnostics.extend(self.validate_conditions(instance, resource));
        if let Some(expr) = &resource.managed.prevent_destroy {
            diagnostics.extend(check_prevent_destroy(&self.address_in(instance, &key.to_string()), expr));
        }
        for provisioner in &resource.managed.provisioners {
            diagnostics.extend(self.validate_provisioner(instance, resource, provisioner));
            if diagnostics.has_errors() {
                return diagnostics;
            }
        }
        diagnostics.extend(self.validate_imports(instance, key));
        diagnostics
    }

    /// The configuration of a resource of the root module, evaluated against a schema.
    pub fn root_config(&self, resource: &Resource, schema: &Block) -> (Value, Diagnostics) {
        let scope = ModuleScope::new(self, 0).inside(resource);
        decode::decode_block(&resource.config, schema, &scope)
    }

    fn validate_resource(&self, instance: InstanceIndex, resource: &Resource) -> Diagnostics {
        let plain = ModuleScope::new(self, instance);
        let mut diagnostics = check_repetition(&resource.repetition, &plain, Strictness::KnownValues);
        diagnostics.extend(check_depends_on(&plain, &resource.depends_on));
        let Some(schema) = plain.schema_of(resource) else {
            diagnostics.push(unsupported_type(resource));
            return diagnostics;
        };
        // That a resource refers to itself is found when it is planned.
        let scope = ModuleScope::new(self, instance).repeated(stub_repetition(resource));
        let (value, mut found) = decode::decode_block(&resource.config, &schema.block, &scope);
        if !found.has_errors() {
            found.extend(self.check_config(resource, &schema.block, &value));
        }
        let failed = found.has_errors();
        let address = self.address_in(instance, &resource.key.to_string());
        diagnostics.extend(found.into_iter().map(|diagnostic| with_address(diagnostic, &address)));
        if failed {
            return diagnostics;
        }
        diagnostics.extend(check_ignore_changes(resource, &schema.block));
        for expr in &resource.managed.replace_triggered_by {
            diagnostics.extend(self.check_trigger(instance, resource, expr));
        }
        diagnostics
    }

    /// What neither the schema nor an expression says: ephemeral values where they would be stored, and the provider's own
    /// rules.
    fn check_config(&self, resource: &Resource, schema: &Block, value: &Value) -> Diagnostics {
        let key = &resource.key;
        if key.mode != ResourceMode::Ephemeral {
            let diagnostics = decode::refuse_ephemeral(value, schema, &resource.config);
            if diagnostics.has_errors() {
                return diagnostics;
            }
        }
        let (plain, _) = value.clone().unmark_deep();
        let own = if resource.provider.is_builtin() {
            builtin_schema::validate_config(key.mode, &key.ty, &plain)
        } else {
            let found = self.settings.oracle.check_resource(&resource.provider, key.mode, &key.ty, &plain);
            let whole = resource.config.missing_item_span();
            let placed = |found: Diagnostic| if found.path.is_some() { found } else { found.or_at(whole) };
            found.into_iter().map(placed).collect()
        };
        own.into_iter().map(|found| located(found, &resource.config)).collect()
    }

    fn validate_conditions(&self, instance: InstanceIndex, resource: &Resource) -> Diagnostics {
        let scope = || ModuleScope::new(self, instance).repeated(stub_repetition(resource));
        let mut diagnostics = Diagnostics::new();
        for rule in &resource.preconditions {
            diagnostics.extend(conditions::check_evaluates(rule, &scope()));
        }
        for rule in &resource.postconditions {
            diagnostics.extend(conditions::check_evaluates(rule, &scope().with_self(resource)));
        }
        diagnostics
    }

    fn validate_provisioner(
        &self,
        instance: InstanceIndex,
        resource: &Resource,
        provisioner: &Provisioner,
    ) -> Diagnostics {
        let scope = ModuleScope::new(self, instance).repeated(stub_repetition(resource)).with_self(resource);
        let Some(schema) = provisioners::schema(&provisioner.kind) else { return Diagnostics::new() };
        let (value, mut diagnostics) = decode::decode_block(&provisioner.config, schema, &scope);
        diagnostics.extend(provisioners::check_config(&provisioner.kind, &value));
        let default = resource.managed.connection.as_ref().map(|connection| &connection.config);
        let own = provisioner.connection.as_ref().map(|connection| &connection.config);
        let merged: Option<Body> = match (default, own) {
            (Some(default), Some(own)) => Some(default.overridden_by(own)),
            (default, own) => own.or(default).cloned(),
        };
        if let Some(connection) = merged {
            let (value, found) = decode::decode_block(&connection, provisioners::connection_schema(), &scope);
            diagnostics.extend(found);
            let found = provisioners::check_connection(&value);
            diagnostics.extend(found.into_iter().map(|found| located(found, &connection)));
        }
        diagnostics
    }

    /// `replace_triggered_by` names resources of the same module, and attributes that they have.
    fn check_trigger(&self, instance: InstanceIndex, resource: &Resource, expr: &Expr) -> Diagnostics {
        let Some(traversal) = crate::config::resource::trigger_target(expr) else { return Diagnostics::new() };
        let Ok(reference) = Reference::parse(&traversal) else { return Diagnostics::new() };
        let Subject::Resource { resource: target, .. } = &reference.subject else { return Diagnostics::new() };
        let Some(found) = self.module_of(instance).resources.get(target) else {
            let address = self.address_in(instance, &resource.key.to_string());
            let detail = format!(
                "Resource {address} refers to {target} in replace_triggered_by, but it is not declared in this module."
            );
            return Diagnostic::error("Undeclared resource in replace_triggered_by", detail).at(expr.span).into();
        };
        let scope = ModuleScope::new(self, instance).repeated(stub_repetition(resource));
        let mut diagnostics = Diagnostics::new();
        for key in crate::config::resource::trigger_keys(expr) {
            diagnostics.extend(evaluate(key, &scope).1);
        }
        if let Some(schema) = scope.schema_of(found) {
            diagnostics.extend(decode::check_traversal(&schema.block, reference.remaining(&traversal)));
        }
        diagnostics
    }
}

/// What `count` and `each` stand for in a resource that was not expanded.
fn stub_repetition(resource: &Resource) -> RepetitionData {
    match resource.repetition {
        Repetition::Count(_) => {
            RepetitionData { count_index: Some(Value::unknown(Type::Number)), ..RepetitionData::default() }
        }
        Repetition::ForEach(_) => RepetitionData {
            each_key: Some(Value::unknown(Type::String)),
            each_value: Some(Value::dynamic()),
            ..RepetitionData::default()
        },
        Repetition::Once | Repetition::Enabled(_) => RepetitionData::default(),
    }
}

/// A finding about a part of an object, at the place where that part is configured.
pub(super) fn located(diagnostic: Diagnostic, config: &Body) -> Diagnostic {
    match &diagnostic.path {
        Some(path) => {
            let span = decode::locate(config, path);
            diagnostic.at(span)
        }
        None => diagnostic,
    }
}

fn with_address(mut diagnostic: Diagnostic, address: &str) -> Diagnostic {
    diagnostic.address.get_or_insert_with(|| address.to_owned());
    diagnostic
}

fn unsupported_type(resource: &Resource) -> Diagnostic {
    let key = &resource.key;
    let (summary, what) = match key.mode {
        ResourceMode::Managed => ("Invalid resource type", "resource type"),
        ResourceMode::Data => ("Invalid data source", "data source"),
        ResourceMode::Ephemeral => ("Invalid ephemeral resource", "ephemeral resource"),
    };
    let provider = resource.provider.for_display();
    let detail = format!("The provider {provider} does not support {what} \"{}\".", key.ty);
    Diagnostic::error(summary, detail).at(resource.kind_span)
}

fn check_prevent_destroy(address: &str, expr: &Expr) -> Diagnostics {
    // Only a constant can be judged now.
    let (value, diagnostics) = evaluate(expr, &EmptyScope);
    if diagnostics.has_errors() {
        return Diagnostics::new();
    }
    match convert(&value, &Type::Bool) {
        Ok(_) => Diagnostics::new(),
        Err(error) => {
            let detail =
                format!("Resource instance {address} has an invalid value for its prevent_destroy argument: {error}.");
            Diagnostic::error("Invalid value for prevent_destroy", detail).at(expr.span).into()
        }
    }
}

fn check_ignore_changes(resource: &Resource, schema: &Block) -> Diagnostics {
    let IgnoreChanges::Paths(paths) = &resource.managed.ignore_changes else { return Diagnostics::new() };
    let mut diagnostics = Diagnostics::new();
    for path in paths {
        diagnostics.extend(decode::check_traversal(schema, &path.steps));
        if diagnostics.has_errors() {
            continue;
        }
        let Some(attribute) = decode::attribute_at(schema, &path.steps) else { continue };
        if attribute.computed && !attribute.optional {
            let detail = "Adding an attribute name to ignore_changes means that future changes to the argument in \
                          configuration are ignored after the object has been created.\n\nThis attribute is decided by \
                          the provider alone, so there can be no configured value to compare with, and naming it here \
                          has no effect. Remove it from ignore_changes to quiet this warning.";
            let diagnostic = Diagnostic::warning("Redundant ignore_changes element", detail);
            diagnostics.push(diagnostic.at(resource.kind_span));
        }
    }
    diagnostics
}
