//! What names mean inside a module instance.

use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::{Deprecation, Mark};
use groma_model::span::{SourceMap, Span};
use groma_model::text::{Str, suggestion};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::Traversal;

use super::{CallInstances, InstanceIndex, RepetitionData, Walk};
use crate::config::{Output, ProviderSource, Repetition, Resource};
use crate::eval::{CallSettings, FunctionLookup, Resolved, Scope};
use crate::func::ExternalFunction;
use crate::func::registry::{self, Place};
use crate::places::Places;
use crate::refs::{Reference, Subject};

/// The scope of an expression in a module instance.
pub struct ModuleScope<'w> {
    walk: &'w Walk<'w>,
    instance: InstanceIndex,
    repetition: Option<RepetitionData>,
    /// The resource that `self` stands for.
    itself: Option<&'w Resource>,
    /// What `self` is, where that is known better than from the resource as a whole.
    itself_value: Option<Value>,
    /// The check block that the expression stands in; only it sees its data source.
    check: Option<Str>,
    /// The resource whose own configuration this is; it may not refer to itself.
    own: Option<&'w Resource>,
    /// The variable that the expression judges: its value is what was given, even while validating.
    judged: Option<Str>,
    /// Which functions there are.
    place: Place,
    /// The texts that the expression and what it refers to stand in.
    sources: &'w SourceMap,
}

impl<'w> ModuleScope<'w> {
    /// Plain expressions of a module: no `count`, no `each`, no `self`.
    pub(super) fn new(walk: &'w Walk<'w>, instance: InstanceIndex) -> Self {
        Self {
            walk,
            instance,
            repetition: None,
            itself: None,
            itself_value: None,
            check: None,
            own: None,
            judged: None,
            place: Place::Module,
            sources: walk.settings.sources,
        }
    }

    /// With the functions of the console, for an expression that stands in texts of its own.
    pub(super) fn at_console(mut self, sources: &'w SourceMap) -> Self {
        self.place = Place::Console;
        self.sources = sources;
        self
    }

    /// With `count` and `each`.
    pub(super) fn repeated(mut self, repetition: RepetitionData) -> Self {
        self.repetition = Some(repetition);
        self
    }

    /// With `self`.
    pub(super) fn with_self(mut self, resource: &'w Resource) -> Self {
        self.itself = Some(resource);
        self
    }

    /// With `self`, whose value is known.
    pub(super) fn being(mut self, resource: &'w Resource, value: Value) -> Self {
        self.itself = Some(resource);
        self.itself_value = Some(value);
        self
    }

    /// Inside a check block.
    pub(super) fn in_check(mut self, name: Str) -> Self {
        self.check = Some(name);
        self
    }

    /// In a condition that a variable must meet.
    pub(super) fn judging(mut self, variable: Str) -> Self {
        self.judged = Some(variable);
        self
    }

    /// In the configuration of a resource itself.
    pub(super) fn inside(mut self, resource: &'w Resource) -> Self {
        self.own = Some(resource);
        self
    }

    fn variable(&self, name: &Str, reference: &Reference) -> Result<Value, Diagnostics> {
        let module = self.walk.module_of(self.instance);
        let Some(variable) = module.variables.get(name) else {
            let advice = match suggestion(name, module.variables.keys().map(Str::as_str)) {
                Some(meant) => format!(" Did you mean \"{meant}\"?"),
                None => format!(" This variable can be declared with a variable \"{name}\" {{}} block."),
            };
            let detail = format!("An input variable with the name \"{name}\" has not been declared.{advice}");
            return Err(undeclared("Reference to undeclared input variable", detail, reference));
        };
        let ty = variable.constraint().without_optional();
        let value = match self.walk.arena[self.instance].variables.get(name) {
            Some(value) if !self.walk.is_validating() || self.judged.as_ref() == Some(name) => value.clone(),
            _ => Value::unknown(ty),
        };
        Ok(variable.marked(value))
    }

    fn local(&self, name: &Str, reference: &Reference) -> Result<Value, Diagnostics> {
        let module = self.walk.module_of(self.instance);
        if !module.locals.contains_key(name) {
            let advice = match suggestion(name, module.locals.keys().map(Str::as_str)) {
                Some(meant) => format!(" Did you mean \"{meant}\"?"),
                None => String::new(),
            };
            let detail = format!("A local value with the name \"{name}\" has not been declared.{advice}");
            return Err(undeclared("Reference to undeclared local value", detail, reference));
        }
        Ok(self.walk.arena[self.instance].locals.get(name).cloned().unwrap_or_else(Value::dynamic))
    }

    fn module(&self, name: &Str, reference: &Reference) -> Result<Value, Diagnostics> {
        let module = self.walk.module_of(self.instance);
        let entry = &self.walk.graph.modules[self.walk.arena[self.instance].module];
        let Some(call) = module.module_calls.get(name) else {
            let advice = match suggestion(name, module.module_calls.keys().map(Str::as_str)) {
                Some(meant) => format!(" Did you mean \"{meant}\"?"),
                None => String::new(),
            };
            let detail = format!("No module call named \"{name}\" is declared in {}.{advice}", entry.display());
            return Err(undeclared("Reference to undeclared module", detail, reference));
        };
        let Some(child) = entry.children.get(name) else { return Ok(Value::dynamic()) };
        let outputs = &self.walk.graph.modules[*child].node.module.outputs;
        if self.walk.is_validating() {
            let ty = Type::object(outputs.keys().map(|name| (name.clone(), Type::Dynamic)));
            return Ok(Value::unknown(match call.repetition {
                Repetition::Count(_) => Type::list(ty),
                Repetition::ForEach(_) => Type::map(ty),
                Repetition::Once | Repetition::Enabled(_) => ty,
            }));
        }
        let asked = (self.instance, name.clone());
        if let Some(value) = self.walk.module_values.borrow().get(&asked) {
            return Ok(value.clone());
        }
        let is_remote = self.walk.graph.modules[*child].node.remote;
        let object = |instance: &InstanceIndex| {
            let made = &self.walk.arena[*instance];
            let value = |(name, output): (&Str, &Output)| {
                let value = made.outputs.get(name).cloned().unwrap_or_else(Value::dynamic);
                let value = match &output.deprecated {
                    Some(message) => value.mark(Mark::Deprecated(Arc::new(Deprecation {
                        origin: format!("{}.{name}", made.called_as()).into(),
                        message: message.clone(),
                        remote: is_remote,
                    }))),
                    None => value,
                };
                (name.clone(), value)
            };
            Value::object(outputs.iter().map(value))
        };
        let value = match self.walk.arena[self.instance].calls.get(name) {
            None => Value::dynamic(),
            Some(CallInstances::Disabled) => Value::null(Type::Dynamic),
            Some(CallInstances::Single(instance)) => object(instance),
            Some(CallInstances::Counted(instances)) => Value::tuple(instances.iter().map(object).collect()),
            Some(CallInstances::Keyed(instances)) => {
                Value::object(instances.iter().map(|(key, instance)| (key.clone(), object(instance))))
            }
        };
        self.walk.module_values.borrow_mut().insert(asked, value.clone());
        Ok(value)
    }

    fn places(&self) -> Places<'_> {
        let settings = &self.walk.settings;
        Places {
            environment: settings.environment,
            module_dir: &self.walk.module_of(self.instance).source_dir,
            root_dir: settings.root_dir,
            workspace: settings.workspace,
        }
    }

    fn tool(&self, root: &str, name: &Str, reference: &Reference) -> Result<Value, Diagnostics> {
        if name.as_str() == "applying" {
            return Ok(Value::bool(false).mark(Mark::Ephemeral));
        }
        self.places().tool(root, name, reference)
    }

    fn count(&self, name: &Str, reference: &Reference) -> Result<Value, Diagnostics> {
        if name.as_str() != "index" {
            let detail = format!(
                "The \"count\" object does not have an attribute named \"{name}\". The only supported attribute is \
                 count.index, which is the index of each instance of a resource block that has the \"count\" argument set."
            );
            return Err(undeclared("Invalid \"count\" attribute", detail, reference));
        }
        let found = self.repetition.as_ref().and_then(|repetition| repetition.count_index.clone());
        found.ok_or_else(|| {
            let detail = "The \"count\" object can only be used in \"module\", \"resource\", and \"data\" blocks, and \
                          only when the \"count\" argument is set.";
            undeclared("Reference to \"count\" in non-counted context", detail, reference)
        })
    }

    fn each(&self, name: &Str, reference: &Reference) -> Result<Value, Diagnostics> {
        let data = self.repetition.clone().unwrap_or_default();
        let found = match name.as_str() {
            "key" => data.each_key,
            "value" => data.each_value,
            _ => {
                let detail = format!(
                    "The \"each\" object does not have an attribute named \"{name}\". The supported attributes are \
                     each.key and each.value, the current key and value pair of the \"for_each\" attribute set."
                );
                return Err(undeclared("Invalid \"each\" attribute", detail, reference));
            }
        };
        if name.as_str() == "value" && found.is_none() {
            let detail = "A reference to \"each.value\" has been used in a context in which it is unavailable, such as when \
                          the configuration no longer contains the value in its \"for_each\" expression. Remove this \
                          reference to each.value in your configuration to work around this error.";
            return Err(undeclared("each.value cannot be used in this context", detail, reference));
        }
        found.ok_or_else(|| {
            let detail = "The \"each\" object can be used only in \"module\" or \"resource\" blocks, and only when the \
                          \"for_each\" argument is set.";
            undeclared("Reference to \"each\" in context without for_each", detail, reference)
        })
    }

    fn resource(&self, resource: &Resource) -> Value {
        self.walk.settings.oracle.value(&self.walk.arena[self.instance].address, resource)
    }

    /// The value of `self`: one instance, whatever the repetition.
    fn instance_of(&self, resource: &Resource) -> Value {
        let value = self.resource(resource);
        match resource.repetition {
            Repetition::Once | Repetition::Enabled(_) => value,
            Repetition::Count(_) | Repetition::ForEach(_) => Value::dynamic().with_marks(value.marks()),
        }
    }
}

impl Scope for ModuleScope<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        let reference = Reference::parse(traversal)?;
        let mut steps_used = reference.steps_used;
        let value = match &reference.subject {
            Subject::Variable(name) => self.variable(name, &reference)?,
            Subject::Local(name) => self.local(name, &reference)?,
            Subject::Module { name, .. } => {
                steps_used = 1;
                self.module(name, &reference)?
            }
            Subject::Path(name) => self.places().path(name, &reference)?,
            Subject::Tool { root, name } => self.tool(root, name, &reference)?,
            Subject::Count(name) => self.count(name, &reference)?,
            Subject::Each(name) => self.each(name, &reference)?,
            Subject::Itself => {
                let Some(resource) = self.itself else {
                    let detail = "The \"self\" object is not available in this context. This object can be used only in \
                                  resource provisioner, connection, and postcondition blocks.";
                    return Err(undeclared("Invalid \"self\" reference", detail, &reference));
                };
                self.check_attributes(resource, reference.remaining(traversal), &reference)?;
                self.itself_value.clone().unwrap_or_else(|| self.instance_of(resource))
            }
            Subject::Resource { resource: key, key: instance_key } => {
                let resource = self.check_resource(key, instance_key, traversal, &reference)?;
                if !instance_key.is_none() {
                    steps_used -= 1;
                }
                self.resource(resource)
            }
        };
        Ok(Resolved { value, steps_used })
    }

    fn function(&self, name: &str) -> FunctionLookup<'_> {
        if let Some(local) = name.strip_prefix("provider::").and_then(|rest| rest.split("::").next()) {
            let module = self.walk.module_of(self.instance);
            if !module.required_providers.entries.contains_key(local) {
                let detail = format!("Provider {local:?} does not exist within the required_providers of this module");
                let refused = Diagnostic::error("Unknown function provider", detail);
                return FunctionLookup::Refused(Box::new(refused));
            }
            let provider = module.provider_of(local);
            if let Some(function) = self.provider_function(&provider, name) {
                return FunctionLookup::External(function);
            }
            if name.split("::").nth(2).is_some() && self.walk.settings.oracle.provider(&provider).is_some() {
                let detail = format!("Function {name:?} was not registered by provider");
                let refused = Diagnostic::error("Function not found in provider", detail);
                return FunctionLookup::Refused(Box::new(refused));
            }
        }
        registry::find(name, self.place).map_or(FunctionLookup::Unknown, FunctionLookup::Core)
    }

    fn function_names(&self) -> Vec<String> {
        registry::names(self.place)
    }

    fn place(&self, span: Span) -> Option<String> {
        Some(self.sources.place(span))
    }

    fn call_settings(&self) -> Option<CallSettings<'_>> {
        let settings = &self.walk.settings;
        Some(CallSettings {
            environment: settings.environment,
            base_dir: std::path::Path::new("."),
            plan_time: settings.plan_time,
            pure_only: settings.pure_only,
        })
    }
}

impl ModuleScope<'_> {
    pub(super) fn walk(&self) -> &Walk<'_> {
        self.walk
    }

    pub(super) fn instance(&self) -> InstanceIndex {
        self.instance
    }

    pub(super) fn own_resource(&self) -> Option<&Resource> {
        self.own
    }

    pub(super) fn check_block(&self) -> Option<&Str> {
        self.check.as_ref()
    }

    /// A function of a provider. A configured provider may have more than its schema tells, so while nothing is configured
    /// yet, every name may be one.
    fn provider_function(&self, provider: &ProviderSource, name: &str) -> Option<Arc<ExternalFunction>> {
        let [_, _, .., function] = name.split("::").collect::<Vec<_>>()[..] else { return None };
        let found = self.walk.settings.oracle.function(provider, function);
        let placeholder = || Arc::new(ExternalFunction::unknown());
        found.or_else(|| self.walk.is_validating().then(placeholder))
    }

    pub(super) fn schema_of(&self, resource: &Resource) -> Option<Arc<groma_model::schema::Schema>> {
        self.walk.settings.oracle.resource(&resource.provider, resource.key.mode, &resource.key.ty)
    }
}

pub(super) fn undeclared(summary: &str, detail: impl Into<String>, reference: &Reference) -> Diagnostics {
    Diagnostic::error(summary, detail).at(reference.span).into()
}
