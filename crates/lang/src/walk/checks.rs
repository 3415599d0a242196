//! `check` blocks.

use groma_model::diag::{Diagnostics, Severity};
use groma_model::text::Str;

use super::{InstanceIndex, ModuleScope, Walk, conditions};

impl Walk<'_> {
    pub(super) fn visit_check(&mut self, instance: InstanceIndex, name: &Str) -> Diagnostics {
        let Some(check) = self.module_of(instance).checks.get(name) else { return Diagnostics::new() };
        let scope = ModuleScope::new(self, instance).in_check(name.clone());
        let mut diagnostics = Diagnostics::new();
        for rule in &check.asserts {
            diagnostics.extend(if self.is_validating() {
                conditions::check_message(rule, &scope)
            } else {
                conditions::check_rule(rule, &scope, "Check block assertion", Severity::Warning).diagnostics
            });
        }
        diagnostics
    }
}
