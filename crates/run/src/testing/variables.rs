//! Values of variables for a run: from its own block, from the file, from the command line and its like, in this order. And what the
//! expressions of a test file may refer to: `var` and `run`.

use std::collections::BTreeMap;
use std::path::Path;

use groma_lang::config::test_file::{TestFile, TestRun};
use groma_lang::config::{Module, Variable};
use groma_lang::eval::{CallSettings, FunctionScope, MapScope, evaluate};
use groma_lang::func::registry::Place;
use groma_lang::walk::{InputSource, InputValue};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::value::Value;

use crate::inputs::{self, Raw};
use crate::outside::Machine;

/// Values for all runs of all files that were given on the command line, in the environment and in files.
#[derive(Debug, Clone, Default)]
pub(super) struct Globals {
    /// For variables that the module declares.
    pub(super) declared: BTreeMap<Str, InputValue>,
    /// For those that it does not declare. Assertions may use them.
    pub(super) others: BTreeMap<Str, Value>,
    /// What is wrong with the values.
    pub(super) problems: Diagnostics,
}

impl Globals {
    /// As the variables of a module want them.
    pub(super) fn of_module(sources: &mut SourceMap, given: &BTreeMap<String, Raw>, module: &Module) -> Self {
        let mut globals = Self::default();
        for (name, raw) in given {
            if let Some(variable) = module.variables.get(name.as_str()) {
                let (value, found) = inputs::read(sources, variable, raw.clone());
                globals.problems.extend(found);
                globals.declared.insert(name.as_str().into(), value);
                continue;
            }
            let value = match raw {
                Raw::Text { text, .. } => Value::string(text.clone()),
                Raw::Expr(expr) => evaluate(expr, &groma_lang::eval::EmptyScope).0,
            };
            globals.others.insert(name.as_str().into(), value);
        }
        globals
    }
}

/// What the expressions of a test file may refer to.
pub(super) struct TestValues<'a> {
    pub(super) machine: &'a Machine,
    /// `var`
    pub(super) variables: BTreeMap<Str, Value>,
    /// `run`: the outputs of earlier runs, by name.
    pub(super) runs: BTreeMap<Str, Value>,
}

impl<'a> TestValues<'a> {
    /// For the variables of a run: what was given from outside, and the defaults of the module. A name that has no value so has the
    /// one that the file gives it.
    pub(super) fn of_run(
        machine: &'a Machine,
        (module, globals): (&Module, &Globals),
        file: &TestFile,
        runs: &BTreeMap<Str, Value>,
    ) -> Self {
        let mut variables = globals.others.clone();
        for (name, variable) in &module.variables {
            variables.extend(variable.default.clone().map(|value| (name.clone(), value)));
        }
        variables.extend(globals.declared.iter().map(|(name, given)| (name.clone(), given.value.clone())));
        let mut values = Self { machine, variables, runs: runs.clone() };
        let missing = file.variables.iter().filter(|(name, _)| !values.variables.contains_key(*name));
        let found: Vec<(Str, Value)> = missing
            .filter_map(|(name, expr)| {
                let (value, found) = values.evaluate(expr);
                (!found.has_errors()).then(|| (name.clone(), value))
            })
            .collect();
        values.variables.extend(found);
        values
    }

    /// The value of an expression.
    pub(super) fn evaluate(&self, expr: &groma_lang::config::Expr) -> (Value, Diagnostics) {
        let names = self.names();
        let functions = self.functions();
        evaluate(expr, &MapScope::new(&names, &functions))
    }

    /// `var` and `run`.
    pub(super) fn names(&self) -> Value {
        let object = |values: &BTreeMap<Str, Value>| {
            Value::object(values.iter().map(|(name, value)| (name.clone(), value.clone())))
        };
        Value::object([("run", object(&self.runs)), ("var", object(&self.variables))])
    }

    /// The functions of the language.
    pub(super) fn functions(&self) -> FunctionScope<'_> {
        let settings =
            CallSettings { environment: self.machine, base_dir: Path::new("."), plan_time: None, pure_only: false };
        FunctionScope::new(settings, Place::Module)
    }
}

/// The values of the module's variables in a run.
pub(super) fn inputs(
    values: &TestValues<'_>,
    (module, globals): (&Module, &Globals),
    file: &TestFile,
    run: &TestRun,
) -> (BTreeMap<Str, InputValue>, Diagnostics) {
    let mut diagnostics = globals.problems.clone();
    let mut found = BTreeMap::new();
    for (name, variable) in &module.variables {
        let expr = run.variables.get(name).or_else(|| file.variables.get(name));
        let given = match expr {
            Some(expr) => {
                let (value, problems) = values.evaluate(expr);
                diagnostics.extend(problems);
                Some(InputValue { value, source: InputSource::File(expr.span) })
            }
            None => globals.declared.get(name).cloned(),
        };
        match given {
            Some(given) => {
                found.insert(name.clone(), given);
            }
            None if variable.is_required() => diagnostics.push(missing(variable)),
            None => {}
        }
    }
    (found, diagnostics)
}

fn missing(variable: &Variable) -> Diagnostic {
    let detail = format!(
        "The module under test has the input variable {:?}, which has no default value and is not set. Set it in a variables block \
         of the test file or of the run, or use a -var or -var-file command line argument.",
        variable.name.as_str()
    );
    Diagnostic::error("No value for required variable", detail).at(variable.declared.header)
}

/// Values that a test file gives to names that the module does not declare. Assertions may use them.
pub(super) fn undeclared(
    values: &TestValues<'_>,
    (module, globals): (&Module, &Globals),
    file: &TestFile,
    run: &TestRun,
) -> (BTreeMap<Str, Value>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut found = globals.others.clone();
    let given = file.variables.iter().filter(|(name, _)| !run.variables.contains_key(*name)).chain(&run.variables);
    for (name, expr) in given.filter(|(name, _)| !module.variables.contains_key(*name)) {
        let (value, problems) = values.evaluate(expr);
        diagnostics.extend(problems);
        found.insert(name.clone(), value);
    }
    (found, diagnostics)
}
