//! Small scopes: nothing at all, the names of one object, and one more name on top of another scope.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::{Str, suggestion};
use groma_model::value::Value;
use groma_syntax::ast::Traversal;

use crate::func::registry::{self, Place};

use super::{CallSettings, FunctionLookup, Resolved, Scope};

/// No names and no functions: values in variable files, defaults of optional attributes.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmptyScope;

impl Scope for EmptyScope {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        let detail = "Variables may not be used here.";
        Err(Diagnostic::error("Variables not allowed", detail).at(traversal.root.span).into())
    }

    fn checks_references_first(&self) -> bool {
        false
    }

    fn function(&self, _name: &str) -> FunctionLookup<'_> {
        FunctionLookup::NotAllowed
    }

    fn call_settings(&self) -> Option<CallSettings<'_>> {
        None
    }
}

/// The attributes of an object (or the elements of a map) as names, with the functions of another scope.
pub struct MapScope<'a> {
    variables: &'a Value,
    functions: &'a dyn Scope,
}

impl<'a> MapScope<'a> {
    /// Names are the attributes of `variables`; functions come from `functions`.
    pub fn new(variables: &'a Value, functions: &'a dyn Scope) -> Self {
        Self { variables, functions }
    }
}

impl Scope for MapScope<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        let name = &traversal.root.name;
        let entries = self.variables.as_entries();
        if let Some(value) = entries.and_then(|entries| entries.get(name)) {
            return Ok(Resolved { value: value.clone(), steps_used: 0 });
        }
        let names = entries.into_iter().flat_map(|entries| entries.names().iter().map(Str::as_str));
        let meant = match suggestion(name, names) {
            Some(meant) => format!(" Did you mean {meant:?}?"),
            None => String::new(),
        };
        let detail = format!("There is no variable named {:?}.{meant}", name.as_str());
        Err(Diagnostic::error("Unknown variable", detail).at(traversal.root.span).into())
    }

    fn checks_references_first(&self) -> bool {
        false
    }

    fn refuses_division_by_zero(&self) -> bool {
        self.functions.refuses_division_by_zero()
    }

    fn function(&self, name: &str) -> FunctionLookup<'_> {
        self.functions.function(name)
    }

    fn function_names(&self) -> Vec<String> {
        self.functions.function_names()
    }

    fn call_settings(&self) -> Option<CallSettings<'_>> {
        self.functions.call_settings()
    }
}

/// One more name on top of a scope: the iterator of a `dynamic` block, `self`.
pub struct Bound<'a> {
    parent: &'a dyn Scope,
    name: Str,
    value: Value,
}

impl<'a> Bound<'a> {
    /// `name` means `value`; all other names mean what they mean in `parent`.
    pub fn new(parent: &'a dyn Scope, name: impl Into<Str>, value: Value) -> Self {
        Self { parent, name: name.into(), value }
    }
}

impl Scope for Bound<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        if traversal.root.name == self.name {
            return Ok(Resolved { value: self.value.clone(), steps_used: 0 });
        }
        self.parent.resolve(traversal)
    }

    fn checks_references_first(&self) -> bool {
        self.parent.checks_references_first()
    }

    fn refuses_division_by_zero(&self) -> bool {
        self.parent.refuses_division_by_zero()
    }

    fn function(&self, name: &str) -> FunctionLookup<'_> {
        self.parent.function(name)
    }

    fn function_names(&self) -> Vec<String> {
        self.parent.function_names()
    }

    fn call_settings(&self) -> Option<CallSettings<'_>> {
        self.parent.call_settings()
    }
}

/// The functions of the language and no names. Put a [`MapScope`] on it to give it names.
pub struct FunctionScope<'a> {
    settings: CallSettings<'a>,
    place: Place,
}

impl<'a> FunctionScope<'a> {
    /// The functions that can be called in a place.
    pub fn new(settings: CallSettings<'a>, place: Place) -> Self {
        Self { settings, place }
    }
}

impl Scope for FunctionScope<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        EmptyScope.resolve(traversal)
    }

    fn checks_references_first(&self) -> bool {
        false
    }

    fn function(&self, name: &str) -> FunctionLookup<'_> {
        registry::find(name, self.place).map_or(FunctionLookup::Unknown, FunctionLookup::Core)
    }

    fn function_names(&self) -> Vec<String> {
        registry::names(self.place)
    }

    fn call_settings(&self) -> Option<CallSettings<'_>> {
        Some(self.settings)
    }
}
