//! How often something is made: `count`, `for_each`, `enabled`.

use groma_model::address::{InstanceKey, ModuleInstance};
use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};
use groma_syntax::ast::Expr;

use super::{CallInstances, Instance, InstanceIndex, ModuleScope, RepetitionData, Walk, check_depends_on};
use crate::config::Repetition;
use crate::eval::{Scope, evaluate};
use crate::graph::ModuleIndex;

const INVALID_COUNT: &str = "Invalid count argument";
const INVALID_FOR_EACH: &str = "Invalid for_each argument";
const INVALID_ENABLED: &str = "Invalid enabled argument";

impl Walk<'_> {
    /// Makes the instances of a module in one instance of its caller.
    pub(super) fn expand_module(&mut self, module: ModuleIndex, parent: InstanceIndex) -> Diagnostics {
        let Some(name) = self.graph.modules[module].node.path.last().cloned() else { return Diagnostics::new() };
        let Some(call) = self.module_of(parent).module_calls.get(&name) else { return Diagnostics::new() };
        let mut diagnostics = Diagnostics::new();
        let scope = ModuleScope::new(self, parent);
        let expanded = if self.is_validating() {
            diagnostics.extend(check_repetition(&call.repetition, &scope, Strictness::Everything));
            Expansion::Single
        } else {
            expand(&call.repetition, &scope, &mut diagnostics)
        };
        diagnostics.extend(check_depends_on(&scope, &call.depends_on));
        let caller = self.arena[parent].place.clone();
        let place = |key| caller.child(name.clone(), key);
        let calls = match expanded {
            Expansion::Disabled => CallInstances::Disabled,
            Expansion::Single => CallInstances::Single(self.add_instance(
                module,
                parent,
                place(InstanceKey::None),
                RepetitionData::default(),
            )),
            Expansion::Counted(count) => CallInstances::Counted(
                (0..count)
                    .map(|at| {
                        let data =
                            RepetitionData { count_index: Some(Value::number(at as u64)), ..RepetitionData::default() };
                        self.add_instance(module, parent, place(InstanceKey::Int(at as i64)), data)
                    })
                    .collect(),
            ),
            Expansion::Keyed(keys) => CallInstances::Keyed(
                keys.into_iter()
                    .map(|(key, value)| {
                        let data = RepetitionData {
                            each_key: Some(Value::string(key.clone())),
                            each_value: Some(value),
                            ..RepetitionData::default()
                        };
                        (key.clone(), self.add_instance(module, parent, place(InstanceKey::String(key)), data))
                    })
                    .collect(),
            ),
        };
        self.module_values.get_mut().remove(&(parent, name.clone()));
        self.arena[parent].calls.insert(name, calls);
        diagnostics
    }

    fn add_instance(
        &mut self,
        module: ModuleIndex,
        parent: InstanceIndex,
        place: ModuleInstance,
        repetition: RepetitionData,
    ) -> InstanceIndex {
        let index = self.arena.len();
        self.by_place.insert(place.clone(), index);
        self.arena.push(Instance::new(module, Some(parent), place, repetition));
        self.instances[module].push(index);
        index
    }
}

/// How often something is made.
pub(super) enum Expansion {
    /// Not at all.
    Disabled,
    /// Once, without a key.
    Single,
    /// So many times.
    Counted(usize),
    /// Once per key.
    Keyed(Vec<(Str, Value)>),
}

/// Works a repetition out. Where it cannot be done, an error is added and nothing is made.
pub(super) fn expand(repetition: &Repetition, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Expansion {
    match repetition {
        Repetition::Once => Expansion::Single,
        Repetition::Count(expr) => {
            let (value, found) = count_value(expr, scope);
            let failed = found.has_errors();
            diagnostics.extend(found);
            if !failed && !value.is_known() {
                let detail = "The \"count\" value depends on resource attributes that cannot be determined until apply, \
                              so it cannot be predicted how many instances will be created.";
                diagnostics.push(Diagnostic::error(INVALID_COUNT, detail).at(expr.span));
            }
            Expansion::Counted(value.as_number().and_then(groma_model::number::Number::to_usize).unwrap_or(0))
        }
        Repetition::ForEach(expr) => {
            let (value, found) = for_each_value(expr, scope, false, false);
            diagnostics.extend(found);
            let value = value.unmark().0;
            let keys = match value.kind() {
                ValueKind::Map(entries) | ValueKind::Object(entries) => {
                    entries.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
                }
                ValueKind::Set(items) => {
                    items.iter().filter_map(|item| Some((Str::from(item.as_str()?), item.clone()))).collect()
                }
                _ => Vec::new(),
            };
            Expansion::Keyed(keys)
        }
        Repetition::Enabled(expr) => {
            let (enabled, found) = enabled_value(expr, scope);
            diagnostics.extend(found);
            if enabled { Expansion::Single } else { Expansion::Disabled }
        }
    }
}

/// Which problems of a repetition matter while values are unknown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// All.
    Everything,
    /// Only those of a value that is known: what went wrong on the way to an unknown one is found again later.
    KnownValues,
}

/// Checks a repetition as far as it can be known before planning.
pub(super) fn check_repetition(repetition: &Repetition, scope: &dyn Scope, strictness: Strictness) -> Diagnostics {
    let (value, diagnostics) = match repetition {
        Repetition::Count(expr) => count_value(expr, scope),
        Repetition::ForEach(expr) => for_each_value(expr, scope, true, false),
        Repetition::Once | Repetition::Enabled(_) => return Diagnostics::new(),
    };
    if strictness == Strictness::KnownValues && !value.is_known() { Diagnostics::new() } else { diagnostics }
}

/// A whole number that is not negative; or unknown; or null with an error.
fn count_value(expr: &Expr, scope: &dyn Scope) -> (Value, Diagnostics) {
    let (value, mut diagnostics) = crate::eval::evaluate_as(expr, scope, &Type::Number);
    let null = Value::null(Type::Number);
    if diagnostics.has_errors() {
        return (null, diagnostics);
    }
    let (value, marks) = value.unmark();
    let problem = match value.kind() {
        _ if marks.is_ephemeral() => {
            "Ephemeral values, or values derived from ephemeral values, cannot be used as count arguments. If used, the \
             ephemeral value could be exposed as a resource instance key."
                .to_owned()
        }
        ValueKind::Null => "The given \"count\" argument value is null. An integer is required.".to_owned(),
        ValueKind::Number(number) if !number.is_integer() => {
            "The given \"count\" argument value is unsuitable: a whole number is required.".to_owned()
        }
        ValueKind::Number(number) if number.is_negative() => {
            "The given \"count\" argument value is unsuitable: must be greater than or equal to zero.".to_owned()
        }
        ValueKind::Number(number) if number.to_i64().is_none() => {
            format!("The given \"count\" argument value is unsuitable: must be less than or equal to {}.", i64::MAX)
        }
        _ => return (value, diagnostics),
    };
    diagnostics.push(Diagnostic::error(INVALID_COUNT, problem).at(expr.span));
    (null, diagnostics)
}

/// A map, object or set of strings (or a tuple, where that is allowed); or unknown; or null with an error.
pub(super) fn for_each_value(
    expr: &Expr,
    scope: &dyn Scope,
    allow_unknown: bool,
    allow_tuple: bool,
) -> (Value, Diagnostics) {
    let (value, mut diagnostics) = evaluate(expr, scope);
    if diagnostics.has_errors() {
        return (Value::null(Type::map(Type::Dynamic)), diagnostics);
    }
    let problems = for_each_problems(&value, allow_unknown, allow_tuple);
    let failed = !problems.is_empty();
    diagnostics.extend(problems.into_iter().map(|detail| Diagnostic::error(INVALID_FOR_EACH, detail).at(expr.span)));
    let unknown = !value.is_known() || (matches!(value.ty(), Type::Set(_)) && !value.is_wholly_known());
    let ty = value.ty();
    let result = if failed {
        Value::null(ty)
    } else if unknown {
        Value::unknown(ty)
    } else {
        value
    };
    (result, diagnostics)
}

/// Why a value cannot be `for_each`.
pub(crate) fn for_each_problems(value: &Value, allow_unknown: bool, allow_tuple: bool) -> Vec<String> {
    let unsuitable = |reason: String| format!("The given \"for_each\" argument value is unsuitable: {reason}");
    let mut problems = Vec::new();
    let unknown = !value.is_known() || (matches!(value.ty(), Type::Set(_)) && !value.is_wholly_known());
    if unknown && !allow_unknown {
        problems.push(
            "The \"for_each\" value includes keys derived from resource attributes that cannot be determined until \
             apply, so the full set of keys that will identify the instances cannot be determined."
                .to_owned(),
        );
    }
    if value.is_null() {
        problems.push(unsuitable("the given \"for_each\" argument value is null.".into()));
    }
    if value.marks().is_sensitive() {
        problems.push(
            "Sensitive values, or values derived from sensitive values, cannot be used as for_each arguments. If used, \
             the sensitive value could be exposed as a resource instance key."
                .to_owned(),
        );
    }
    if value.marks().is_ephemeral() {
        problems.push(
            "Ephemeral values, or values derived from ephemeral values, cannot be used as for_each arguments. If used, \
             the ephemeral value could be exposed as a resource instance key."
                .to_owned(),
        );
    }
    match value.ty() {
        Type::Dynamic | Type::Map(_) | Type::Object(_) => {}
        Type::Tuple(_) if allow_tuple => {}
        Type::Set(element) if matches!(*element, Type::String | Type::Dynamic) => {
            let has_null = value.as_elements().is_some_and(|items| items.iter().any(Value::is_null));
            if has_null && value.is_wholly_known() {
                problems.push(unsuitable("\"for_each\" sets must not contain null values.".into()));
            }
        }
        Type::Set(element) => problems.push(unsuitable(format!(
            "\"for_each\" supports sets of strings, but you have provided a set containing type {}.",
            element.friendly_name()
        ))),
        other => problems.push(unsuitable(format!(
            "the \"for_each\" argument must be a map, or set of strings, and you have provided a value of type {}.",
            other.friendly_name()
        ))),
    }
    problems
}

fn enabled_value(expr: &Expr, scope: &dyn Scope) -> (bool, Diagnostics) {
    let (value, mut diagnostics) = evaluate(expr, scope);
    if diagnostics.has_errors() {
        return (false, diagnostics);
    }
    let mut problem = |detail: String| diagnostics.push(Diagnostic::error(INVALID_ENABLED, detail).at(expr.span));
    let unsuitable = |reason: &str| format!("The given \"enabled\" argument value is unsuitable: {reason}.");
    if value.marks().is_sensitive() {
        problem(
            "Sensitive values, or values derived from sensitive values, cannot be used in \"enabled\" arguments. If \
             used, the sensitive value would be exposed by whether an instance is present."
                .into(),
        );
    }
    if value.marks().is_ephemeral() {
        problem(unsuitable("the given value is ephemeral"));
    }
    if value.is_null() {
        problem(unsuitable("the given value is null"));
    }
    if !value.is_known() {
        problem(
            "The given \"enabled\" argument value is derived from a value that won't be known until the apply phase, so \
             it cannot be determined whether an instance of this object is declared or not."
                .into(),
        );
    }
    match convert(&value, &Type::Bool) {
        Ok(value) => (value.as_bool() == Some(true) && !diagnostics.has_errors(), diagnostics),
        Err(error) => {
            let detail = unsuitable(&error.to_string());
            diagnostics.push(Diagnostic::error(INVALID_ENABLED, detail).at(expr.span));
            (false, diagnostics)
        }
    }
}
