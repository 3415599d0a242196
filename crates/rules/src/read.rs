//! Reading the arguments of rules: constants, durations and conditions, with the messages for what does not fit.

use std::time::Duration;

use groma_lang::config::constant_value;
use groma_lang::func::parse_duration;
use groma_lang::refs::{Reference, Subject};
use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::Expr;
use groma_syntax::body::{Attribute, Block, BodySchema, Content};

/// Reads the blocks of one file and collects what is wrong with them.
pub(crate) struct Reader<'m> {
    /// The texts.
    pub(crate) map: &'m SourceMap,
    /// What was wrong so far.
    pub(crate) diagnostics: Diagnostics,
}

impl Reader<'_> {
    /// What a block holds.
    pub(crate) fn content(&mut self, block: &Block, schema: &BodySchema) -> Content {
        let (content, found) = block.body.content(schema);
        self.diagnostics.extend(found);
        content
    }

    fn constant(&mut self, attribute: &Attribute, ty: &Type) -> Option<Value> {
        let (value, found) = constant_value(self.map, &attribute.expr);
        if found.has_errors() {
            self.diagnostics.extend(found);
            return None;
        }
        let value = convert(&value, ty).ok().filter(|value| !value.is_null() && value.is_known());
        if value.is_none() {
            let detail = format!("{} must be a {ty} that is known beforehand.", attribute.name.name);
            self.diagnostics.push(Diagnostic::error("Unsuitable value type", detail).at(attribute.expr.span));
        }
        value.map(|value| value.unmark_deep().0)
    }

    /// A constant bool.
    pub(crate) fn constant_bool(&mut self, attribute: &Attribute) -> Option<bool> {
        self.constant(attribute, &Type::Bool)?.as_bool()
    }

    /// A constant duration, which must be greater than zero.
    pub(crate) fn duration(&mut self, content: &Content, name: &str, default: Duration) -> Duration {
        let Some(attribute) = content.attr(name) else { return default };
        let Some(value) = self.constant(attribute, &Type::String) else { return default };
        let text = value.as_str().unwrap_or_default();
        match parse_duration(text).map(u64::try_from) {
            Ok(Ok(nanoseconds)) if nanoseconds > 0 => Duration::from_nanos(nanoseconds),
            _ => {
                let detail = format!(
                    "{name} is {text:?}. It must be a duration greater than zero, such as \"30s\" or \"1h30m\"."
                );
                self.diagnostics.push(Diagnostic::error("Invalid duration", detail).at(attribute.expr.span));
                default
            }
        }
    }

    /// Complains about what a condition refers to, if it is more than the object itself.
    pub(crate) fn only_self(&mut self, expr: &Expr) {
        for traversal in expr.references() {
            let refused = match Reference::parse(traversal) {
                Ok(reference) => match &reference.subject {
                    Subject::Itself | Subject::Path(_) => continue,
                    Subject::Tool { name, .. } if *name == "workspace" => continue,
                    subject => subject.to_string(),
                },
                Err(found) => {
                    self.diagnostics.push(found);
                    continue;
                }
            };
            let detail = format!(
                "A rule cannot refer to {refused}. It can use \"self\", the object that the rule is about, as well as functions, \
                 \"path\" and \"terraform.workspace\"."
            );
            self.diagnostics.push(Diagnostic::error("Invalid reference in a rule", detail).at(traversal.span));
        }
    }
}
