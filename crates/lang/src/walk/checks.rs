//! `check` blocks.

use groma_model::diag::{Diagnostics, Severity};
use groma_model::text::Str;

use super::{InstanceIndex, ModuleScope, Walk, conditions};
use crate::graph::NodeKind;

impl Walk<'_> {
    pub(super) fn visit_check(&mut self, instance: InstanceIndex, name: &Str) -> Diagnostics {
        let Some(check) = self.module_of(instance).checks.get(name) else { return Diagnostics::new() };
        let scope = ModuleScope::new(self, instance).in_check(name.clone());
        if self.is_validating() {
            return check.asserts.iter().flat_map(|rule| conditions::check_message(rule, &scope)).collect();
        }
        let judge = |rule| conditions::check_rule(rule, &scope, "Check block assertion", Severity::Warning);
        let results = check.asserts.iter().map(judge).collect();
        self.judged(instance, NodeKind::Check(name.clone()), results)
    }
}
