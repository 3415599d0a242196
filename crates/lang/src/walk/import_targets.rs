//! What is imported where: `import` blocks with their expressions worked out.

use groma_model::address::AbsInstance;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Value, go_quote};
use groma_syntax::ast::{Expr, ExprKind, Step, StepKey};

use super::expansion::for_each_value;
use super::imports::{check_id, leads_to, pairs};
use super::{ModuleScope, RepetitionData, Walk};
use crate::config::{Import, ResourceKey};
use crate::eval::{evaluate, evaluate_as};

/// An object that exists and is to be taken in.
#[derive(Debug, Clone)]
pub struct ImportInto {
    /// As which instance.
    pub address: AbsInstance,
    /// Which object.
    pub what: ImportedBy,
}

/// How an object is found.
#[derive(Debug, Clone)]
pub enum ImportedBy {
    /// By the provider's own id.
    Id(String),
    /// By identity.
    Identity(Value),
}

impl Walk<'_> {
    /// The imports into a resource of the module at `path`.
    pub fn imports_into(&self, path: &[Str], key: &ResourceKey) -> (Vec<ImportInto>, Diagnostics) {
        let mut found = Vec::new();
        let mut diagnostics = Diagnostics::new();
        for import in self.module_of(0).imports.iter().filter(|import| leads_to(import, path, key)) {
            for repetition in self.repetitions(import, &mut diagnostics) {
                let scope = ModuleScope::new(self, 0).repeated(repetition);
                match target(import, &scope) {
                    Ok(target) => found.extend(target),
                    Err(errors) => diagnostics.extend(errors),
                }
            }
        }
        (found, diagnostics)
    }

    fn repetitions(&self, import: &Import, diagnostics: &mut Diagnostics) -> Vec<RepetitionData> {
        let Some(for_each) = &import.for_each else { return vec![RepetitionData::default()] };
        let (value, found) = for_each_value(for_each, &ModuleScope::new(self, 0), false, true);
        diagnostics.extend(found);
        let pairs = pairs(&value.unmark().0).into_iter();
        let repeated =
            |(key, value)| RepetitionData { each_key: Some(key), each_value: Some(value), ..RepetitionData::default() };
        pairs.map(repeated).collect()
    }
}

fn target(import: &Import, scope: &ModuleScope<'_>) -> Result<Option<ImportInto>, Diagnostics> {
    let checked = check_id(import, scope);
    if checked.has_errors() {
        return Err(checked);
    }
    let what = match (&import.id, &import.identity) {
        (Some(expr), _) => {
            let value = evaluate_as(expr, scope, &Type::String).0.unmark_deep().0;
            match value.as_str() {
                Some("") => return Err(invalid(expr, "The import ID value evaluates to an empty string.")),
                Some(id) => ImportedBy::Id(id.to_owned()),
                None => return Err(not_known(expr, "id")),
            }
        }
        (None, Some(expr)) => {
            let value = evaluate(expr, scope).0.unmark_deep().0;
            if !value.is_wholly_known() {
                return Err(not_known(expr, "identity"));
            }
            ImportedBy::Identity(value)
        }
        (None, None) => return Ok(None),
    };
    let Some(to) = &import.to else { return Ok(None) };
    let mut text = String::new();
    write_address(to, scope, &mut text)?;
    let address = text.parse().map_err(|error: groma_model::address::AddressError| {
        Diagnostics::from(Diagnostic::error("Invalid import address", error.detail.clone()).at(to.span))
    })?;
    Ok(Some(ImportInto { address, what }))
}

/// The address that an expression stands for, with its keys worked out.
fn write_address(expr: &Expr, scope: &ModuleScope<'_>, text: &mut String) -> Result<(), Diagnostics> {
    match &expr.kind {
        ExprKind::Traversal(traversal) => {
            text.push_str(&traversal.root.name);
            write_steps(&traversal.steps, text);
            Ok(())
        }
        ExprKind::RelTraversal(relative) => {
            write_address(&relative.base, scope, text)?;
            write_steps(&relative.steps, text);
            Ok(())
        }
        ExprKind::Index(index) => {
            write_address(&index.collection, scope, text)?;
            let (key, found) = evaluate(&index.key, scope);
            if found.has_errors() {
                return Err(found);
            }
            let key = key.unmark_deep().0;
            match (key.as_str(), key.as_number()) {
                (Some(key), _) => write_key(text, go_quote(key)),
                (None, Some(number)) => write_key(text, number),
                (None, None) => return Err(not_known(&index.key, "address")),
            }
            Ok(())
        }
        ExprKind::Parens(inner) => write_address(inner, scope, text),
        _ => Err(invalid(expr, "The import target must be the address of a resource instance.")),
    }
}

fn write_steps(steps: &[Step], text: &mut String) {
    for step in steps {
        write_step(step, text);
    }
}

fn write_key(text: &mut String, key: impl std::fmt::Display) {
    use std::fmt::Write as _;
    // Writing to a string cannot fail.
    let _ = write!(text, "[{key}]");
}

fn write_step(step: &Step, text: &mut String) {
    match step {
        Step::Attr { name, .. } => {
            text.push('.');
            text.push_str(name);
        }
        Step::Index { key: StepKey::Number(number), .. } => write_key(text, number),
        Step::Index { key: StepKey::String(key), .. } => write_key(text, go_quote(key)),
    }
}

fn not_known(expr: &Expr, what: &str) -> Diagnostics {
    let detail = format!(
        "The import block \"{what}\" argument depends on resource attributes that cannot be determined until apply, so it \
         cannot be planned."
    );
    Diagnostic::error(format!("Invalid import {what} argument"), detail).at(expr.span).into()
}

fn invalid(expr: &Expr, detail: &str) -> Diagnostics {
    Diagnostic::error("Invalid import id argument", detail).at(expr.span).into()
}
