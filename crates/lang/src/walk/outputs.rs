//! Output values.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::Mark;
use groma_model::text::Str;
use groma_model::value::Value;

use super::{InstanceIndex, ModuleScope, Walk, check_depends_on, conditions};
use crate::config::Output;
use crate::eval::evaluate;
use crate::graph::NodeKind;

impl Walk<'_> {
    pub(super) fn visit_output(&mut self, instance: InstanceIndex, name: &Str) -> Diagnostics {
        let Some(output) = self.module_of(instance).outputs.get(name) else { return Diagnostics::new() };
        let is_root = self.arena[instance].parent.is_none();
        let scope = ModuleScope::new(self, instance);
        let what = "Module output value precondition";
        let judge = |rule| conditions::check_rule(rule, &scope, what, self.severity());
        let results = output.preconditions.iter().map(judge).collect();
        let mut diagnostics = self.judged(instance, NodeKind::Output(name.clone()), results);
        let (Some(expr), false) = (&output.expr, diagnostics.has_errors()) else { return diagnostics };
        let (value, found) = evaluate(expr, &scope);
        diagnostics.extend(found);
        diagnostics.extend(check_depends_on(&scope, &output.depends_on));
        let ephemeral = check_ephemeral(output, &value, is_root);
        let is_refused = ephemeral.has_errors();
        diagnostics.extend(ephemeral);
        if is_root && !is_refused && !output.sensitive && value.marks_deep().is_sensitive() {
            let detail = "To reduce the risk of accidentally exporting sensitive data that was intended to be only \
                          internal, any root module output containing sensitive data must be explicitly marked as \
                          sensitive, to confirm your intent.\n\nIf you do intend to export this data, annotate the \
                          output value as sensitive by adding the following argument:\n    sensitive = true";
            let diagnostic = Diagnostic::error("Output refers to sensitive values", detail);
            diagnostics.push(diagnostic.at(output.declared.header));
        }
        if !diagnostics.has_errors() {
            let value = marked(output, value);
            self.arena[instance].outputs.insert(name.clone(), value);
            self.forget_module_value(instance);
        }
        diagnostics
    }

    /// The value of the call that made an instance changes with every output of it.
    fn forget_module_value(&mut self, instance: InstanceIndex) {
        let made = &self.arena[instance];
        let name = self.graph.modules[made.module].node.path.last();
        if let (Some(parent), Some(name)) = (made.parent, name) {
            self.module_values.get_mut().remove(&(parent, name.clone()));
        }
    }
}

fn marked(output: &Output, value: Value) -> Value {
    let value = if output.sensitive { value.mark(Mark::Sensitive) } else { value };
    if output.ephemeral { value.mark(Mark::Ephemeral) } else { value }
}

fn check_ephemeral(output: &Output, value: &Value, is_root: bool) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if output.ephemeral && is_root {
        let detail = "Root modules are not allowed to have outputs defined as ephemeral";
        diagnostics.push(Diagnostic::error("Invalid output configuration", detail).at(output.declared.header));
    }
    let undecided = !value.is_wholly_known() && value.marks().is_empty();
    if !undecided && !output.ephemeral && value.marks_deep().is_ephemeral() {
        let detail = "The value that was generated for the output is ephemeral, but it is not configured to allow one.";
        let place = output.expr.as_ref().map_or(output.declared.header, |expr| expr.span);
        diagnostics.push(Diagnostic::error("Output does not allow ephemeral value", detail).at(place));
    }
    diagnostics
}
