//! `import` blocks, as far as they can be judged before planning.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};
use groma_syntax::ast::Expr;

use super::expansion::for_each_value;
use super::{InstanceIndex, ModuleScope, RepetitionData, Walk};
use crate::config::{Import, ResourceKey};
use crate::eval::evaluate_as;

impl Walk<'_> {
    /// Checks the imports into a resource. They are written in the root module, wherever the resource is.
    pub(super) fn validate_imports(&self, instance: InstanceIndex, key: &ResourceKey) -> Diagnostics {
        let path = &self.graph.modules[self.arena[instance].module].node.path;
        let mut diagnostics = Diagnostics::new();
        for import in self.module_of(0).imports.iter().filter(|import| leads_to(import, path, key)) {
            diagnostics.extend(self.check_import_provider(instance, import, key));
            diagnostics.extend(self.check_identity(instance, import, key));
            if !diagnostics.has_errors() {
                diagnostics.extend(self.validate_import(import));
            }
        }
        diagnostics
    }

    /// An import may name a provider only as the resource itself does.
    fn check_import_provider(&self, instance: InstanceIndex, import: &Import, key: &ResourceKey) -> Diagnostics {
        let (Some(wanted), Some(place)) = (&import.provider_ref, import.provider_span) else {
            return Diagnostics::new();
        };
        let Some(resource) = self.module_of(instance).resources.get(key) else { return Diagnostics::new() };
        let detail = match &resource.provider_ref {
            Some(reference) if reference.key == wanted.key => return Diagnostics::new(),
            Some(_) => "The provider argument in the target resource block must match the import block.",
            None => "The provider argument in the target resource block must be specified and match the import block.",
        };
        Diagnostic::error("Invalid import provider argument", detail).at(place).into()
    }

    /// The built-in resources cannot be found by an identity.
    fn check_identity(&self, instance: InstanceIndex, import: &Import, key: &ResourceKey) -> Diagnostics {
        let Some(identity) = &import.identity else { return Diagnostics::new() };
        let Some(resource) = self.module_of(instance).resources.get(key) else { return Diagnostics::new() };
        if !resource.provider.is_builtin() {
            return Diagnostics::new();
        }
        let detail = format!("Resources of type {} cannot be imported by identity, because they have none.", key.ty);
        Diagnostic::error("Unable to determine identity schema for import identity", detail).at(identity.span).into()
    }

    fn validate_import(&self, import: &Import) -> Diagnostics {
        let scope = |repetition| ModuleScope::new(self, 0).repeated(repetition);
        let mut diagnostics = Diagnostics::new();
        let Some(for_each) = &import.for_each else {
            return check_id(import, &scope(RepetitionData::default()));
        };
        let (value, found) = for_each_value(for_each, &ModuleScope::new(self, 0), true, true);
        diagnostics.extend(found);
        if diagnostics.has_errors() || !value.is_known() {
            return diagnostics;
        }
        for (key, value) in pairs(&value.unmark().0) {
            let repetition =
                RepetitionData { each_key: Some(key), each_value: Some(value), ..RepetitionData::default() };
            diagnostics.extend(check_id(import, &scope(repetition)));
        }
        diagnostics
    }
}

/// Whether an import is into that resource of the module at `path`.
pub(crate) fn leads_to(import: &Import, path: &[Str], key: &ResourceKey) -> bool {
    import.target.as_ref().is_some_and(|(modules, target)| modules == path && target == key)
}

/// Keys and values of what `for_each` of an import may be.
pub(super) fn pairs(collection: &Value) -> Vec<(Value, Value)> {
    match collection.kind() {
        ValueKind::Map(entries) | ValueKind::Object(entries) => {
            entries.iter().map(|(name, value)| (Value::string(name.clone()), value.clone())).collect()
        }
        ValueKind::Set(items) => items.iter().map(|item| (item.clone(), item.clone())).collect(),
        ValueKind::Tuple(items) | ValueKind::List(items) => {
            items.iter().enumerate().map(|(at, item)| (Value::number(at as u64), item.clone())).collect()
        }
        _ => Vec::new(),
    }
}

pub(super) fn check_id(import: &Import, scope: &ModuleScope<'_>) -> Diagnostics {
    match (&import.id, &import.identity) {
        (Some(id), _) => check_expression(id, scope, &Type::String, "id"),
        (None, Some(identity)) => check_expression(identity, scope, &Type::Dynamic, "identity"),
        (None, None) => Diagnostics::new(),
    }
}

fn check_expression(expr: &Expr, scope: &ModuleScope<'_>, ty: &Type, what: &str) -> Diagnostics {
    let (value, mut diagnostics) = evaluate_as(expr, scope, ty);
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let marks = value.marks_deep();
    let problem = if value.is_null() {
        "null"
    } else if !value.is_wholly_known() {
        return diagnostics;
    } else if marks.is_sensitive() {
        "sensitive"
    } else if marks.is_ephemeral() {
        "ephemeral"
    } else {
        return diagnostics;
    };
    let detail = format!("The import {what} cannot be {problem}.");
    diagnostics.push(Diagnostic::error(format!("Invalid import {what} argument"), detail).at(expr.span));
    diagnostics
}
