//! Values that are needed before anything else: module sources and versions, backends, provider `for_each`.
//!
//! The same evaluator as everywhere, with a smaller scope: variables, locals, paths and the workspace name.

use std::collections::BTreeMap;
use std::path::Path;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Block;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_syntax::ast::{Expr, Traversal};
use groma_syntax::body::Body;

use crate::config::Variable;
use crate::decode::decode_block;
use crate::environment::Environment;
use crate::eval::{CallSettings, FunctionLookup, Resolved, Scope, evaluate};
use crate::func::registry::{self, Place};
use crate::load::{ModuleChain, StaticEvaluator};
use crate::places::Places;
use crate::refs::{Reference, Subject};
use crate::walk::InputValue;

/// How many locals may lead to each other.
const MAX_CHAIN: usize = 200;

/// What static values may be made of.
#[derive(Clone, Copy)]
pub struct StaticScope<'a> {
    /// Files, time, randomness.
    pub environment: &'a dyn Environment,
    /// The directory of the root module.
    pub root_dir: &'a Path,
    /// The name of the workspace.
    pub workspace: &'a str,
    /// Values for the variables of the root module.
    pub inputs: &'a BTreeMap<Str, InputValue>,
}

impl StaticScope<'_> {
    /// What stands in a block, by its schema. `subject` names what it is for.
    pub fn decode(&self, chain: &ModuleChain<'_>, body: &Body, schema: &Block, subject: &str) -> (Value, Diagnostics) {
        let frame = Frame { name: named(chain, subject), span: body.missing_item_span(), parent: None, depth: 0 };
        decode_block(body, schema, &StaticFrame { scope: self, chain, frame: &frame })
    }
}

impl StaticEvaluator for StaticScope<'_> {
    fn evaluate(&self, chain: &ModuleChain<'_>, expr: &Expr, subject: &str) -> (Value, Diagnostics) {
        let frame = Frame { name: named(chain, subject), span: expr.span, parent: None, depth: 0 };
        evaluate(expr, &StaticFrame { scope: self, chain, frame: &frame })
    }
}

/// What is being worked out, and what asked for it.
struct Frame<'f> {
    name: String,
    span: Span,
    parent: Option<&'f Frame<'f>>,
    depth: usize,
}

impl Frame<'_> {
    fn contains(&self, name: &str) -> bool {
        self.name == name || self.parent.is_some_and(|parent| parent.contains(name))
    }
}

/// `module.a:local.b`; without the prefix in the root.
fn named(chain: &ModuleChain<'_>, subject: &str) -> String {
    let mut path = Vec::new();
    let mut at = *chain;
    while let Some((name, parent)) = at.caller {
        path.push(format!("module.{name}"));
        at = *parent;
    }
    path.reverse();
    if path.is_empty() { subject.to_owned() } else { format!("{}:{subject}", path.join(".")) }
}

struct StaticFrame<'s, 'f> {
    scope: &'s StaticScope<'s>,
    chain: &'s ModuleChain<'s>,
    frame: &'f Frame<'f>,
}

impl StaticFrame<'_, '_> {
    fn local(&self, name: &Str, reference: &Reference) -> Result<Value, Diagnostics> {
        let Some(local) = self.chain.module.locals.get(name) else {
            let detail = format!("Undefined local local.{name}");
            return Err(Diagnostic::error("Undefined local", detail).at(reference.span).into());
        };
        let id = named(self.chain, &format!("local.{name}"));
        if self.frame.contains(&id) || self.frame.depth >= MAX_CHAIN {
            let detail = format!("{id} is self referential");
            return Err(Diagnostic::error("Circular reference", detail).at(local.span).into());
        }
        let frame = Frame { name: id.clone(), span: local.span, parent: Some(self.frame), depth: self.frame.depth + 1 };
        let inner = StaticFrame { scope: self.scope, chain: self.chain, frame: &frame };
        let (value, diagnostics) = evaluate(&local.expr, &inner);
        self.with_reason(value, diagnostics, &id)
    }

    fn variable(&self, name: &Str, reference: &Reference) -> Result<Value, Diagnostics> {
        let Some(variable) = self.chain.module.variables.get(name) else {
            let detail = format!("Undefined variable var.{name}");
            return Err(Diagnostic::error("Undefined variable", detail).at(reference.span).into());
        };
        if variable.constant == Some(false) {
            let detail = format!(
                "The variable \"{name}\" cannot be used in a static context, because it is declared as \"const = false\"."
            );
            let summary = "Unable to use variable in static context";
            return Err(Diagnostic::error(summary, detail).at(reference.span).into());
        }
        let id = named(self.chain, &format!("var.{name}"));
        let (given, diagnostics) = self.given(variable);
        let value = self.with_reason(given, diagnostics, &id)?;
        let value = variable.accept(&value).map_err(|error| {
            let detail = format!("The given value is not suitable for var.{name}: {error}.");
            Diagnostics::from(Diagnostic::error("Invalid value for input variable", detail))
        })?;
        let value =
            if value.is_null() && !variable.is_nullable() { variable.default.clone().unwrap_or(value) } else { value };
        Ok(variable.marked(value))
    }

    /// The value that the caller gives, or the default.
    fn given(&self, variable: &Variable) -> (Value, Diagnostics) {
        let missing = |span: Span| {
            let detail = format!("The variable \"{}\" is required, but is not set.", variable.name);
            (
                Value::dynamic(),
                Diagnostic::error("Variable not provided via -var, tfvars files, or env", detail).at(span).into(),
            )
        };
        let fallback = |span: Span| match &variable.default {
            Some(default) => (default.clone(), Diagnostics::new()),
            None => missing(span),
        };
        let Some((call_name, parent)) = self.chain.caller else {
            return match self.scope.inputs.get(&variable.name) {
                Some(input) => (input.value.clone(), Diagnostics::new()),
                None => fallback(variable.declared.header),
            };
        };
        let Some(call) = parent.module.module_calls.get(call_name) else { return fallback(variable.declared.header) };
        let (attributes, _) = call.config.just_attributes();
        let Some(argument) = attributes.iter().find(|attribute| attribute.name.name == variable.name) else {
            return fallback(call.declared.header);
        };
        if self.frame.depth >= MAX_CHAIN {
            let detail = format!("{} is self referential", self.frame.name);
            return (Value::dynamic(), Diagnostic::error("Circular reference", detail).at(argument.span).into());
        }
        let id = named(parent, &format!("module.{call_name}.{}", variable.name));
        let frame = Frame { name: id, span: argument.span, parent: Some(self.frame), depth: self.frame.depth + 1 };
        evaluate(&argument.expr, &StaticFrame { scope: self.scope, chain: parent, frame: &frame })
    }

    /// An error deeper down is followed by one that says who needed the value.
    fn with_reason(&self, value: Value, mut diagnostics: Diagnostics, id: &str) -> Result<Value, Diagnostics> {
        if !diagnostics.has_errors() {
            return Ok(value);
        }
        let detail = format!("{} depends on {id} which is not available", self.frame.name);
        diagnostics.push(Diagnostic::error("Unable to compute static value", detail).at(self.frame.span));
        Err(diagnostics)
    }

    fn refuse(&self, summary: &str, reference: &Reference) -> Diagnostics {
        let detail =
            format!("Unable to use {} in static context, which is required by {}", reference.subject, self.frame.name);
        Diagnostic::error(summary, detail).at(reference.span).into()
    }

    fn places(&self) -> Places<'_> {
        Places {
            environment: self.scope.environment,
            module_dir: &self.chain.module.source_dir,
            root_dir: self.scope.root_dir,
            workspace: self.scope.workspace,
        }
    }

    fn tool(&self, root: &str, name: &str, reference: &Reference) -> Result<Value, Diagnostics> {
        if name == "applying" {
            let detail = "The applying attribute can not be used during static evaluation and is only valid in the plan \
                          and apply phases of execution";
            return Err(Diagnostic::error("Invalid attribute in static context", detail).at(reference.span).into());
        }
        self.places().tool(root, name, reference)
    }
}

impl Scope for StaticFrame<'_, '_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        let reference = Reference::parse(traversal)?;
        let value = match &reference.subject {
            Subject::Variable(name) => self.variable(name, &reference)?,
            Subject::Local(name) => self.local(name, &reference)?,
            Subject::Path(name) => self.places().path(name, &reference)?,
            Subject::Tool { root, name } => self.tool(root, name, &reference)?,
            Subject::Module { output: Some(_), .. } => {
                return Err(self.refuse("Module output not supported in static context", &reference));
            }
            _ => return Err(self.refuse("Dynamic value in static context", &reference)),
        };
        Ok(Resolved { value, steps_used: reference.steps_used })
    }

    fn function(&self, name: &str) -> FunctionLookup<'_> {
        registry::find(name, Place::Module).map_or(FunctionLookup::Unknown, FunctionLookup::Core)
    }

    fn function_names(&self) -> Vec<String> {
        registry::names(Place::Module)
    }

    fn call_settings(&self) -> Option<CallSettings<'_>> {
        Some(CallSettings {
            environment: self.scope.environment,
            base_dir: Path::new("."),
            plan_time: None,
            pure_only: true,
        })
    }
}
