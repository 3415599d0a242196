//! Questions about expressions that need no evaluation: which names they use, and what they are as plain syntax.

use std::borrow::Cow;

use groma_model::diag::Diagnostic;
use groma_model::text::Str;

use crate::ast::{
    Call, Expr, ExprKind, For, Ident, Literal, ObjectItem, Template, TemplateKind, TemplatePart, Traversal,
};
use crate::parser;

mod every;
#[cfg(test)]
mod tests;

impl Expr {
    /// All absolute references in it, in source order, without the names that an enclosing `for` binds.
    pub fn references(&self) -> Vec<&Traversal> {
        let mut walk = Walk::default();
        walk.expr(self);
        walk.references
    }

    /// All function calls in it, outer ones before the calls in their arguments.
    pub fn calls(&self) -> Vec<&Call> {
        let mut walk = Walk::default();
        walk.expr(self);
        walk.calls
    }

    /// The reference that it is as plain syntax. A string of the JSON syntax is read as one.
    pub fn as_traversal(&self) -> Result<Traversal, Diagnostic> {
        self.static_traversal().ok_or_else(|| {
            Diagnostic::error(
                "Invalid expression",
                "A single static variable reference is required: only attribute access and indexing with constant keys. \
                 No calculations, function calls, template expressions, etc are allowed here.",
            )
            .at(self.span)
        })
    }

    fn static_traversal(&self) -> Option<Traversal> {
        match &self.kind {
            ExprKind::Traversal(traversal) => Some(Traversal::clone(traversal)),
            ExprKind::RelTraversal(relative) => {
                let mut traversal = relative.base.static_traversal()?;
                traversal.steps.extend_from_slice(&relative.steps);
                traversal.span = self.span;
                Some(traversal)
            }
            ExprKind::Literal(literal) => {
                // References know no keywords, so these three are names again.
                let name = match literal {
                    Literal::Null => "null",
                    Literal::Bool(true) => "true",
                    Literal::Bool(false) => "false",
                    Literal::Number(_) => return None,
                };
                let root = Ident { name: name.into(), span: self.span };
                Some(Traversal { root, steps: Vec::new(), span: self.span })
            }
            ExprKind::Template(_) => {
                let text = self.json_text()?;
                let parsed = parser::traversal(text, parser::Origin::quoted(text, self.span));
                if parsed.diagnostics.has_errors() { None } else { parsed.value }
            }
            _ => None,
        }
    }

    /// The word that it is: a name without steps, or a string of the JSON syntax that holds one.
    pub fn as_keyword(&self) -> Option<Str> {
        let traversal = self.static_traversal()?;
        traversal.steps.is_empty().then_some(traversal.root.name)
    }

    /// The elements of `[…]`.
    pub fn as_list(&self) -> Result<&[Expr], Diagnostic> {
        match &self.kind {
            ExprKind::Tuple(items) => Ok(items),
            _ => Err(Diagnostic::error("Invalid expression", "A static list expression is required.").at(self.span)),
        }
    }

    /// The items of `{…}`.
    pub fn as_map(&self) -> Result<&[ObjectItem], Diagnostic> {
        match &self.kind {
            ExprKind::Object(items) => Ok(items),
            _ => Err(Diagnostic::error("Invalid expression", "A static map expression is required.").at(self.span)),
        }
    }

    /// The function call that it is as plain syntax. A string of the JSON syntax is read as one.
    pub fn as_call(&self) -> Result<Cow<'_, Call>, Diagnostic> {
        if let ExprKind::Call(call) = &self.kind {
            return Ok(Cow::Borrowed(call));
        }
        if let Some(parsed) = self.json_expr()
            && !parsed.diagnostics.has_errors()
            && let ExprKind::Call(call) = parsed.value.kind
        {
            return Ok(Cow::Owned(*call));
        }
        Err(Diagnostic::error("Invalid expression", "A static function call is required.").at(self.span))
    }

    /// The text of a string of the JSON syntax, before it is read as a template.
    pub fn json_text(&self) -> Option<&Str> {
        match &self.kind {
            ExprKind::Template(template) if template.kind == TemplateKind::Json => template.raw.as_ref(),
            _ => None,
        }
    }

    /// The expression that is written in a string of the JSON syntax, in places where the native syntax has a bare one.
    pub fn json_expr(&self) -> Option<crate::Parsed<Expr>> {
        let text = self.json_text()?;
        Some(parser::expression(text, parser::Origin::quoted(text, self.span)))
    }

    /// Its text, if it is a string without interpolation.
    pub fn as_constant_str(&self) -> Option<Str> {
        match &self.kind {
            ExprKind::Template(template) => template.as_constant(),
            ExprKind::Parens(inner) => inner.as_constant_str(),
            _ => None,
        }
    }

    /// Its value, if it is `true` or `false`.
    pub fn as_constant_bool(&self) -> Option<bool> {
        match &self.kind {
            ExprKind::Literal(Literal::Bool(value)) => Some(*value),
            ExprKind::Parens(inner) => inner.as_constant_bool(),
            _ => None,
        }
    }

    /// Whether it is `"…"` or a heredoc of the native syntax, where a bare expression may have been meant.
    pub fn is_native_string(&self) -> bool {
        match &self.kind {
            ExprKind::Template(template) => matches!(template.kind, TemplateKind::Quoted | TemplateKind::Heredoc),
            _ => false,
        }
    }
}

impl Template {
    /// Its text, if nothing is interpolated.
    pub fn as_constant(&self) -> Option<Str> {
        match self.parts.as_slice() {
            [] => Some("".into()),
            [TemplatePart::Literal { text, .. }] => Some(text.clone()),
            _ => None,
        }
    }
}

/// Collects names and calls. The names bound by the `for`s around are a stack, because the innermost is found first.
#[derive(Default)]
struct Walk<'a> {
    bound: Vec<&'a Str>,
    references: Vec<&'a Traversal>,
    calls: Vec<&'a Call>,
}

impl<'a> Walk<'a> {
    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::SplatItem | ExprKind::Invalid => {}
            ExprKind::Template(template) => self.parts(&template.parts),
            ExprKind::TemplateWrap(inner) | ExprKind::Parens(inner) => self.expr(inner),
            ExprKind::Traversal(traversal) => {
                if !self.bound.contains(&&traversal.root.name) {
                    self.references.push(traversal);
                }
            }
            ExprKind::RelTraversal(relative) => self.expr(&relative.base),
            ExprKind::Index(index) => {
                self.expr(&index.collection);
                self.expr(&index.key);
            }
            ExprKind::Splat(splat) => {
                self.expr(&splat.source);
                self.expr(&splat.each);
            }
            ExprKind::Call(call) => {
                self.calls.push(call);
                call.args.iter().for_each(|argument| self.expr(argument));
            }
            ExprKind::Conditional(conditional) => {
                self.expr(&conditional.condition);
                self.expr(&conditional.then);
                self.expr(&conditional.otherwise);
            }
            ExprKind::Unary(unary) => self.expr(&unary.operand),
            ExprKind::Binary(binary) => {
                self.expr(&binary.left);
                self.expr(&binary.right);
            }
            ExprKind::Tuple(items) => items.iter().for_each(|item| self.expr(item)),
            ExprKind::Object(items) => items.iter().for_each(|item| {
                if item.key.constant_key().is_none() {
                    self.expr(&item.key);
                }
                self.expr(&item.value);
            }),
            ExprKind::For(for_expr) => self.for_expr(for_expr),
        }
    }

    fn for_expr(&mut self, for_expr: &'a For) {
        self.expr(&for_expr.collection);
        let outer = self.bound.len();
        self.bind(for_expr.key_name.as_ref(), &for_expr.value_name);
        for part in [for_expr.key.as_ref(), Some(&for_expr.value), for_expr.condition.as_ref()].into_iter().flatten() {
            self.expr(part);
        }
        self.bound.truncate(outer);
    }

    fn bind(&mut self, key: Option<&'a Ident>, value: &'a Ident) {
        self.bound.extend(key.map(|key| &key.name));
        self.bound.push(&value.name);
    }

    fn parts(&mut self, parts: &'a [TemplatePart]) {
        for part in parts {
            match part {
                TemplatePart::Literal { .. } => {}
                TemplatePart::Interpolation { expr, .. } => self.expr(expr),
                TemplatePart::If { condition, then, otherwise, .. } => {
                    self.expr(condition);
                    self.parts(then);
                    self.parts(otherwise);
                }
                TemplatePart::For { key, value, collection, body, .. } => {
                    self.expr(collection);
                    let outer = self.bound.len();
                    self.bind(key.as_ref(), value);
                    self.parts(body);
                    self.bound.truncate(outer);
                }
            }
        }
    }
}

impl Expr {
    /// The name that a bare word is when it stands as the key of an object: `{ a = 1 }` has the key `"a"`.
    pub fn constant_key(&self) -> Option<Str> {
        match &self.kind {
            ExprKind::Traversal(traversal) if traversal.steps.is_empty() => Some(traversal.root.name.clone()),
            ExprKind::Literal(Literal::Null) => Some("null".into()),
            ExprKind::Literal(Literal::Bool(true)) => Some("true".into()),
            ExprKind::Literal(Literal::Bool(false)) => Some("false".into()),
            _ => None,
        }
    }
}
