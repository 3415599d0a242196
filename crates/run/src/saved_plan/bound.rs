//! What a saved plan is bound to: it is applied only if nothing of that has changed.

use std::collections::BTreeMap;

use groma_lang::config::Variable;
use groma_lang::walk::{InputSource, InputValue};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_provider::install::Locks;
use groma_state::State;

use super::SavedPlan;
use super::parts::{self, LockRecord, StateRecord};

impl SavedPlan {
    /// Whether it is complete.
    pub fn check_complete(&self) -> Diagnostics {
        if !self.errored {
            return Diagnostics::new();
        }
        let detail = "The given plan is incomplete due to errors during planning. It can be shown, but not applied. Mend \
                      the errors and make a new plan.";
        Diagnostic::error("Cannot apply failed plan", detail).into()
    }

    /// Whether the state is still the one that the plan was made from. `current` is as it was read; empty if there is none.
    pub fn check_state(&self, current: &State) -> Diagnostics {
        let now = match StateRecord::of(current) {
            Ok(now) => now,
            Err(problem) => return Diagnostic::error("Failed to read state", format!("{problem}.")).into(),
        };
        let first = self.state.lineage.is_empty() && self.state.serial == 0;
        if !first && self.state.lineage != now.lineage {
            let detail =
                "The given plan file can not be applied because it was created from a different state lineage.";
            return Diagnostic::error("Saved plan does not match the given state", detail).into();
        }
        let reason = if self.state.serial != now.serial {
            format!(
                "the state was changed by another operation after the plan was created (its serial was {} and is {})",
                self.state.serial, now.serial
            )
        } else if self.state.content != now.content {
            "the content of the state was changed after the plan was created, though its serial is the same".to_owned()
        } else {
            return Diagnostics::new();
        };
        let detail = format!("The given plan file can no longer be applied because {reason}. Make a new plan.");
        Diagnostic::error("Saved plan is stale", detail).into()
    }

    /// Whether the same providers would be used.
    pub fn check_locks(&self, current: &Locks) -> Diagnostics {
        let now = parts::locks(current);
        let mut differences = Vec::new();
        for (provider, then) in &self.locks {
            match now.get(provider) {
                None => differences.push(format!("{provider}: was {}, and is not locked now", then.version)),
                Some(now) if now.version != then.version => {
                    differences.push(format!("{provider}: was {}, and is {} now", then.version, now.version));
                }
                Some(now) if !agree(then, now) => {
                    differences.push(format!("{provider}: {} has other checksums now", then.version));
                }
                Some(_) => {}
            }
        }
        for (provider, now) in now.iter().filter(|(provider, _)| !self.locks.contains_key(*provider)) {
            differences.push(format!("{provider}: {} was not locked then", now.version));
        }
        if differences.is_empty() {
            return Diagnostics::new();
        }
        let detail = format!(
            "The given plan file was created with a different set of external dependency selections than the current \
             configuration:\n  - {}\n\nA saved plan can be applied only with the providers it was created with. Create a new \
             plan from the updated configuration.",
            differences.join("\n  - ")
        );
        Diagnostic::error("Inconsistent dependency lock file", detail).into()
    }

    /// Values for the variables of the root module: those of the plan, and for ephemeral ones those that are given now. Whatever
    /// else is given must be what the plan has.
    pub fn inputs(
        &self,
        given: &BTreeMap<Str, InputValue>,
        declared: &BTreeMap<Str, Variable>,
    ) -> (BTreeMap<Str, InputValue>, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let mut inputs = BTreeMap::new();
        for (name, variable) in declared {
            match (self.variables.get(name), given.get(name)) {
                (Some(saved), now) => {
                    if now.is_some_and(|now| !same_value(variable, &now.value, saved)) {
                        diagnostics.push(mismatch(name));
                    }
                    let value = InputValue { value: saved.clone(), source: InputSource::Outside };
                    inputs.insert(name.clone(), value);
                }
                (None, Some(now)) if variable.is_ephemeral() => {
                    inputs.insert(name.clone(), now.clone());
                }
                (None, None) if variable.is_ephemeral() && variable.is_required() => {
                    let detail = format!(
                        "Variable {:?} is ephemeral: its value is not kept in the plan file, and must be given to \"groma plan\" \
                         and to \"groma apply\".",
                        name.as_str()
                    );
                    let missing = Diagnostic::error("No value for required variable", detail);
                    diagnostics.push(missing.at(variable.declared.header));
                }
                // Not given when the plan was made: the default was used.
                (None, Some(now)) => {
                    let default = variable.default.as_ref();
                    if default.is_none_or(|default| !same_value(variable, &now.value, default)) {
                        diagnostics.push(mismatch(name));
                    }
                }
                (None, None) => {}
            }
        }
        (inputs, diagnostics)
    }
}

/// Whether packages that one lock allows are allowed by the other. More hashes may have been added since.
fn agree(then: &LockRecord, now: &LockRecord) -> bool {
    then.hashes.is_empty() || now.hashes.is_empty() || then.hashes.iter().any(|hash| now.hashes.contains(hash))
}

/// Whether two values mean the same to a variable.
fn same_value(variable: &Variable, a: &groma_model::value::Value, b: &groma_model::value::Value) -> bool {
    let plain = |value: &groma_model::value::Value| value.clone().unmark_deep().0;
    let (a, b) = (plain(a), plain(b));
    match (variable.converted(&a), variable.converted(&b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

fn mismatch(name: &Str) -> Diagnostic {
    let detail = format!(
        "Value saved in the plan file for variable {:?} is different from the one given to the current command. A saved plan is \
         applied with the values that it was made with: leave the value out, or make a new plan.",
        name.as_str()
    );
    Diagnostic::error("Mismatch between input and plan variable value", detail)
}
