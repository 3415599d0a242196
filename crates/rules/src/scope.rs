//! What the names in a rule mean: the object, places, the workspace and the functions of the language.

use std::path::Path;

use groma_lang::environment::Environment;
use groma_lang::eval::{CallSettings, FunctionLookup, Resolved, Scope};
use groma_lang::func::registry::{self, Place};
use groma_lang::places::Places;
use groma_lang::refs::{Reference, Subject};
use groma_lang::walk::Settings;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::value::Value;
use groma_syntax::ast::Traversal;

use crate::set::Rule;

/// What is around a rule.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Files, time, randomness.
    pub environment: &'a dyn Environment,
    /// The directory of the rule's module, as users see it.
    pub module_dir: &'a Path,
    /// The directory of the root module, as users see it.
    pub root_dir: &'a Path,
    /// The name of the workspace.
    pub workspace: &'a str,
    /// When the plan was made, if there is one.
    pub plan_time: Option<(i64, u32)>,
}

impl<'a> Surroundings<'a> {
    /// Those of a rule, in a walk with these settings.
    pub fn of<T>(rule: &'a Rule<T>, settings: &Settings<'a>) -> Self {
        Self {
            environment: settings.environment,
            module_dir: &rule.module_dir,
            root_dir: settings.root_dir,
            workspace: settings.workspace,
            plan_time: settings.plan_time,
        }
    }
}

/// The surroundings of a rule and the object that it is about.
pub struct WithSelf<'a> {
    around: &'a Surroundings<'a>,
    object: &'a Value,
}

impl<'a> WithSelf<'a> {
    /// `self` means that object.
    pub fn new(around: &'a Surroundings<'a>, object: &'a Value) -> Self {
        Self { around, object }
    }
}

impl Scope for WithSelf<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        let reference = Reference::parse(traversal)?;
        let Surroundings { environment, module_dir, root_dir, workspace, .. } = *self.around;
        let places = Places { environment, module_dir, root_dir, workspace };
        let value = match &reference.subject {
            Subject::Itself => self.object.clone(),
            Subject::Path(name) => places.path(name, &reference)?,
            Subject::Tool { root, name } => places.tool(root, name, &reference)?,
            other => {
                let detail = format!("A rule cannot refer to {other}.");
                return Err(Diagnostic::error("Invalid reference in a rule", detail).at(reference.span).into());
            }
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
            environment: self.around.environment,
            base_dir: Path::new("."),
            plan_time: self.around.plan_time,
            pure_only: false,
        })
    }
}
