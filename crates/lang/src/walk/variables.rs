//! Input variables: from a given value to the value that expressions see.

use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::Deprecation;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::{InstanceIndex, ModuleScope, RepetitionData, Walk};
use crate::config::Variable;
use crate::config::ignored::ignored_attributes;
use crate::eval::evaluate;
use crate::graph::NodeKind;

const INVALID_VALUE: &str = "Invalid value for input variable";
const NOT_SET: &str = "Required variable not set";

/// A value given from outside.
#[derive(Debug, Clone)]
pub struct InputValue {
    /// The value.
    pub value: Value,
    /// Who gave it.
    pub source: InputSource,
}

/// Who gave a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputSource {
    /// `-var`
    CommandLine,
    /// `TF_VAR_…`
    EnvironmentVariable,
    /// The answer to a question.
    Prompt,
    /// A variable file, or the configuration itself.
    File(Span),
    /// Someone else, such as the caller of a library.
    Outside,
}

impl InputSource {
    /// Finishes "Unsuitable value for var.x …"; none where a place in a file says it.
    fn describe(&self, name: &str) -> Option<String> {
        match self {
            InputSource::CommandLine => Some(format!("set using -var=\"{name}=...\"")),
            InputSource::EnvironmentVariable => Some(format!("set using the TF_VAR_{name} environment variable")),
            InputSource::Prompt => Some("set using an interactive prompt".into()),
            InputSource::Outside => Some("set from outside of the configuration".into()),
            InputSource::File(_) => None,
        }
    }
}

impl Walk<'_> {
    pub(super) fn visit_variable(&mut self, instance: InstanceIndex, name: &Str) -> Diagnostics {
        let Some(variable) = self.module_of(instance).variables.get(name) else { return Diagnostics::new() };
        let mut diagnostics = Diagnostics::new();
        let given = match self.arena[instance].parent {
            None if self.is_validating() => {
                let value = Value::unknown(variable.constraint().without_optional());
                Some(InputValue { value, source: InputSource::Outside })
            }
            None => self.inputs.get(name).cloned(),
            Some(parent) => self.argument(instance, parent, name, &mut diagnostics),
        };
        if diagnostics.has_errors() {
            return diagnostics;
        }
        let address = self.address_in(instance, &format!("var.{name}"));
        match final_value(variable, given, &address) {
            Ok(value) => {
                self.arena[instance].variables.insert(name.clone(), value);
                diagnostics.extend(self.check_validations(instance, variable));
                diagnostics.extend(self.check_deprecation(instance, variable));
                if let Some(argument) = self.graph.modules[self.arena[instance].module].arguments.get(name) {
                    let what = format!("input variable {:?}", name.as_str());
                    diagnostics.extend(ignored_attributes(&argument.expr, &variable.constraint(), &what));
                }
            }
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
        diagnostics
    }

    /// The value that a module call gives, evaluated in the caller. None if the call does not mention the variable.
    fn argument(
        &self,
        instance: InstanceIndex,
        parent: InstanceIndex,
        name: &Str,
        diagnostics: &mut Diagnostics,
    ) -> Option<InputValue> {
        let argument = self.graph.modules[self.arena[instance].module].arguments.get(name)?;
        let repetition =
            if self.is_validating() { RepetitionData::unknown() } else { self.arena[instance].repetition.clone() };
        let scope = ModuleScope::new(self, parent).repeated(repetition);
        let (value, found) = evaluate(&argument.expr, &scope);
        diagnostics.extend(found);
        Some(InputValue { value, source: InputSource::File(argument.expr.span) })
    }

    /// Who sets a variable that its author discourages is told so.
    fn check_deprecation(&self, instance: InstanceIndex, variable: &Variable) -> Diagnostics {
        let argument = self.graph.modules[self.arena[instance].module].arguments.get(&variable.name);
        let (Some(message), Some(argument)) = (&variable.deprecated, argument) else { return Diagnostics::new() };
        let summary = "Variable marked as deprecated by the module author";
        let detail =
            format!("Variable \"{}\" is marked as deprecated with the following message:\n{message}", variable.name);
        // The same variable of several calls is told once.
        let origin = format!("var.{}", variable.name).into();
        let deprecation = Deprecation { origin, message: message.clone(), remote: self.is_remote(instance) };
        Diagnostic::warning(summary, detail).at(argument.expr.span).about(Arc::new(deprecation)).into()
    }

    fn check_validations(&self, instance: InstanceIndex, variable: &Variable) -> Diagnostics {
        let scope = ModuleScope::new(self, instance).judging(variable.name.clone());
        let argument = self.graph.modules[self.arena[instance].module].arguments.get(&variable.name);
        let blame = argument.map_or(variable.declared.header, |argument| argument.expr.span);
        let judge = |rule| super::conditions::check_validation(rule, &scope, blame);
        let results = variable.validations.iter().map(judge).collect();
        self.judged(instance, NodeKind::Variable(variable.name.clone()), results)
    }
}

impl RepetitionData {
    /// Of something that may be repeated, in no instance in particular.
    pub(super) fn unknown() -> Self {
        Self {
            count_index: Some(Value::unknown(Type::Number)),
            each_key: Some(Value::unknown(Type::String)),
            each_value: Some(Value::dynamic()),
        }
    }
}

/// The value of a variable: given or default, with defaults of optional attributes, converted, and not null where it must not be.
fn final_value(variable: &Variable, given: Option<InputValue>, address: &str) -> Result<Value, Diagnostic> {
    let header = variable.declared.header;
    let Some(given) = given else {
        return variable.default.clone().ok_or_else(|| {
            let detail = format!("The variable \"{}\" is required, but is not set.", variable.name);
            Diagnostic::error(NOT_SET, detail).at(header)
        });
    };
    let InputValue { value, source } = given;
    let place = match &source {
        InputSource::File(span) => *span,
        _ => header,
    };
    if value.marks_deep().is_ephemeral() && !variable.is_ephemeral() {
        let detail = format!(
            "The value used for the variable \"{}\" is ephemeral, but it is not configured to allow one.",
            variable.name
        );
        return Err(Diagnostic::error("Variable does not allow ephemeral value", detail).at(place));
    }
    let origin = source.describe(&variable.name);
    let value = variable.accept(&value).map_err(|error| {
        let detail = match &origin {
            Some(origin) => format!("Unsuitable value for {address} {origin}: {error}."),
            None => format!("The given value is not suitable for {address}: {error}."),
        };
        Diagnostic::error(INVALID_VALUE, detail).at(header)
    })?;
    if !value.is_null() || variable.is_nullable() {
        return Ok(value);
    }
    variable.default.clone().ok_or_else(|| {
        let reason = "required variable may not be set to null";
        match &origin {
            Some(origin) => {
                Diagnostic::error(NOT_SET, format!("Unsuitable value for {address} {origin}: {reason}.")).at(header)
            }
            None => Diagnostic::error(NOT_SET, format!("The given value is not suitable for {address}: {reason}."))
                .at(place),
        }
    })
}
