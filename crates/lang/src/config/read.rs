//! Reading arguments of blocks: constants, keywords and references, with the messages for what does not fit.

mod literal;

use std::borrow::Cow;

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::{Expr, ExprKind, Step, Traversal};
use groma_syntax::body::{Attribute, Block, Body, BodySchema, Content, Label};
use groma_syntax::is_identifier;

use super::Declared;
use super::resource::RelativePath;
use crate::eval::{EmptyScope, evaluate};

/// What a name may look like, for messages.
pub(crate) const NAME_RULE: &str =
    "A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.";

/// Decodes the blocks of one file and collects what is wrong with them.
pub(crate) struct Decoder<'a> {
    /// To say where something else was declared.
    pub(crate) map: &'a SourceMap,
    /// What was wrong so far.
    pub(crate) diagnostics: Diagnostics,
    /// Whether the file overrides others: then required arguments may be missing.
    pub(crate) is_override: bool,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(map: &'a SourceMap, is_override: bool) -> Self {
        Self { map, diagnostics: Diagnostics::new(), is_override }
    }

    pub(crate) fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>, at: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(at));
    }

    pub(crate) fn warning(&mut self, summary: impl Into<String>, detail: impl Into<String>, at: Span) {
        self.diagnostics.push(Diagnostic::warning(summary, detail).at(at));
    }

    /// A place as messages name it: `main.tf:3,1-8`.
    pub(crate) fn place(&self, span: Span) -> String {
        place(self.map, span)
    }

    pub(crate) fn content(&mut self, body: &Body, schema: &BodySchema) -> Content {
        let (content, diagnostics) = body.content(schema);
        self.diagnostics.extend(diagnostics);
        content
    }

    pub(crate) fn partial_content(&mut self, body: &Body, schema: &BodySchema) -> (Content, Body) {
        let (content, rest, diagnostics) = body.partial_content(schema);
        self.diagnostics.extend(diagnostics);
        (content, rest)
    }

    /// Complains about a label that is no name.
    pub(crate) fn check_name(&mut self, label: &Label, summary: &str) {
        if !is_identifier(&label.text) {
            self.error(summary, NAME_RULE, label.span);
        }
    }

    /// The value of an expression that may refer to nothing.
    pub(crate) fn constant(&mut self, expr: &Expr) -> Value {
        let (value, diagnostics) = constant_value(self.map, expr);
        self.diagnostics.extend(diagnostics);
        value
    }

    fn constant_of(&mut self, expr: &Expr, ty: &Type) -> Option<Value> {
        let errors_before = self.diagnostics.len();
        let value = self.constant(expr);
        if self.diagnostics.len() > errors_before {
            return None;
        }
        let problem = match convert(&value, ty) {
            Ok(value) if value.is_null() => format!("a {ty} is required"),
            Ok(value) if !value.is_known() => "value must be known".to_owned(),
            Ok(value) => return Some(value.unmark_deep().0),
            Err(error) => error.to_string(),
        };
        self.error("Unsuitable value type", format!("Unsuitable value: {problem}"), expr.span);
        None
    }

    /// A constant bool.
    pub(crate) fn constant_bool(&mut self, attribute: &Attribute) -> Option<bool> {
        self.constant_of(&attribute.expr, &Type::Bool)?.as_bool()
    }

    /// A constant string.
    pub(crate) fn constant_string(&mut self, attribute: &Attribute) -> Option<Str> {
        self.constant_of(&attribute.expr, &Type::String)?.as_str().map(Str::from)
    }

    /// The expression itself, or the reference or keyword that it holds in quotes, which is deprecated.
    pub(crate) fn unquoted<'e>(&mut self, expr: &'e Expr, keyword: bool) -> Cow<'e, Expr> {
        if !expr.is_native_string() {
            return Cow::Borrowed(expr);
        }
        let Some(text) = expr.as_constant_str() else { return Cow::Borrowed(expr) };
        let parsed = groma_syntax::parse_quoted_traversal(&text, expr.span);
        self.diagnostics.extend(parsed.diagnostics);
        let what = if keyword { "keywords" } else { "references" };
        self.warning(
            format!("Quoted {what} are deprecated"),
            format!(
                "In this context, {what} are expected literally rather than in quotes. \
                 Remove the quotes to silence this warning."
            ),
            expr.span,
        );
        match parsed.value {
            Some(traversal) => Cow::Owned(Expr { kind: ExprKind::Traversal(Box::new(traversal)), span: expr.span }),
            None => Cow::Owned(Expr { kind: ExprKind::Invalid, span: expr.span }),
        }
    }

    /// The reference that an expression is.
    pub(crate) fn traversal(&mut self, expr: &Expr) -> Option<Traversal> {
        if matches!(expr.kind, ExprKind::Invalid) {
            return None;
        }
        match expr.as_traversal() {
            Ok(traversal) => Some(traversal),
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }

    /// The elements of a list written as such.
    pub(crate) fn list<'e>(&mut self, expr: &'e Expr) -> &'e [Expr] {
        if matches!(expr.kind, ExprKind::Invalid) {
            return &[];
        }
        match expr.as_list() {
            Ok(items) => items,
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                &[]
            }
        }
    }

    /// `depends_on`
    pub(crate) fn depends_on(&mut self, content: &Content) -> Vec<Traversal> {
        let Some(attribute) = content.attr("depends_on") else { return Vec::new() };
        let mut references = Vec::new();
        for item in self.list(&attribute.expr) {
            let item = self.unquoted(item, false);
            references.extend(self.traversal(&item));
        }
        references
    }

    /// A reference relative to an object: the first name is an attribute of it.
    pub(crate) fn relative_path(&mut self, expr: &Expr) -> Option<RelativePath> {
        let traversal = self.traversal(expr)?;
        let mut steps = vec![Step::Attr { name: traversal.root.name, span: traversal.root.span }];
        steps.extend(traversal.steps);
        Some(RelativePath { steps, span: traversal.span })
    }

    /// Takes a block that may stand only once; complains about a second one.
    pub(crate) fn only_once<'b>(
        &mut self,
        seen: &mut Option<&'b Block>,
        block: &'b Block,
        summary: &str,
        already: &str,
    ) -> bool {
        if let Some(first) = seen {
            let place = self.place(first.header_span);
            self.error(summary, format!("{already} at {place}."), block.header_span);
            return false;
        }
        *seen = Some(block);
        true
    }

    /// Merges the content of an escaping block `_ { … }` into the rest of its parent.
    pub(crate) fn escaping_block<'b>(
        &mut self,
        seen: &mut Option<&'b Block>,
        block: &'b Block,
        config: &mut Body,
        what: &str,
    ) {
        let already = format!(
            "The special block type \"_\" can be used to force particular arguments to be interpreted as {what} rather \
             than as meta-arguments, but each block can have only one such block. The first escaping block was"
        );
        if self.only_once(seen, block, "Duplicate escaping block", &already) {
            *config = config.joined_with(&block.body);
        }
    }

    /// Complains about a kind of block that has no meaning yet.
    pub(crate) fn reserved_block(&mut self, block: &Block, within: &str) {
        self.error(
            format!("Reserved block type name in {within} block"),
            format!("The block type name {:?} is reserved for a future version.", block.kind.name.as_str()),
            block.kind.span,
        );
    }

    /// Complains if more than one of `count`, `enabled` and `for_each` is given.
    pub(crate) fn exclusive_repetition(
        &mut self,
        count: Option<Span>,
        enabled: Option<Span>,
        for_each: Option<Span>,
        what: &str,
    ) {
        let mut given: Vec<(Span, &str)> = Vec::new();
        given.extend(count.map(|span| (span, "\"count\"")));
        given.extend(enabled.map(|span| (span, "\"enabled\"")));
        given.extend(for_each.map(|span| (span, "\"for_each\"")));
        let names: Vec<&str> = given.iter().map(|(_, name)| *name).collect();
        let names = match names.as_slice() {
            [] | [_] => return,
            [first, second] => format!("{first} and {second}"),
            [first, second, third, ..] => format!("{first}, {second}, and {third}"),
        };
        let mut spans: Vec<Span> = given.iter().map(|(span, _)| *span).collect();
        spans.sort_unstable();
        let first = spans[0];
        let last = spans[spans.len() - 1];
        let subject = if first.file == last.file { first.to(last) } else { first };
        self.error(
            format!("Invalid combination of {names}"),
            format!(
                "The {names} meta-arguments are mutually-exclusive. \
                 Only one may be used to be explicit about the number of {what} to be created."
            ),
            subject,
        );
    }
}

/// The value of an expression that may refer to nothing.
pub fn constant_value(map: &SourceMap, expr: &Expr) -> (Value, Diagnostics) {
    evaluate(&literal::as_constant(map, expr), &EmptyScope)
}

/// A place as messages name it: `main.tf:3,1-8`.
pub(crate) fn place(map: &SourceMap, span: Span) -> String {
    let name = map.file(span.file).name();
    let (start, end) = (map.start(span), map.end(span));
    if start.line == end.line {
        format!("{name}:{},{}-{}", start.line, start.column, end.column)
    } else {
        format!("{name}:{},{}-{},{}", start.line, start.column, end.line, end.column)
    }
}

impl Declared {
    /// Where a block stands.
    pub(crate) fn of(block: &Block) -> Self {
        Self {
            header: block.header_span,
            name: block.labels.last().map_or(block.header_span, |label| label.span),
            missing: block.body.missing_item_span(),
        }
    }
}

/// `schema`, with nothing required if the file overrides others.
pub(crate) fn relaxed(mut schema: BodySchema, is_override: bool) -> BodySchema {
    if is_override {
        for attribute in &mut schema.attributes {
            attribute.required = false;
        }
    }
    schema
}

/// The text of a label, which the schema promises to be there.
pub(crate) fn label(block: &Block, at: usize) -> Label {
    block.labels.get(at).cloned().unwrap_or_else(|| Label { text: Str::new(""), span: block.header_span })
}
