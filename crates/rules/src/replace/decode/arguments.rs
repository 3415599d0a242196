//! Arguments of a block by name, and as what they are wanted: texts, choices, counts, fields.

use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::{Str, suggestion};
use groma_syntax::ast::Expr;
use groma_syntax::body::{Attribute, Block};

use super::Reader;
use super::literal::{Literal, LiteralKind, Text};
use crate::glob::Glob;
use crate::replace::path::FieldPath;
use crate::replace::problem::Code;

/// An argument.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    /// Its name, in snake case.
    pub(super) name: Str,
    pub(super) name_span: Span,
    /// Name and value.
    pub(super) span: Span,
    pub(super) expr: Arc<Expr>,
    /// Its value, if it is a literal. Null is as good as nothing.
    literal: Option<Literal>,
}

/// The arguments of a block.
#[derive(Debug)]
pub(super) struct Arguments {
    given: Vec<Argument>,
    /// Where to point when one is missing.
    pub(super) missing: Span,
    /// Those that were probably meant by names that are none.
    pub(super) misspelt: Vec<Str>,
}

/// What the arguments of a kind of block are called.
#[derive(Clone, Copy)]
pub(super) struct Names {
    /// Those that may be given.
    pub(super) known: &'static [&'static str],
    /// The one that is an expression.
    pub(super) expression: Option<&'static str>,
}

impl Arguments {
    /// The argument of that name.
    pub(super) fn argument(&self, name: &str) -> Option<&Argument> {
        self.given.iter().find(|argument| argument.name == *name)
    }

    /// The same, unless it is null, which is as good as nothing.
    pub(super) fn given(&self, name: &str) -> Option<&Argument> {
        let is_null = |argument: &Argument| matches!(argument.literal, Some(Literal { kind: LiteralKind::Null, .. }));
        self.argument(name).filter(|argument| !is_null(argument))
    }

    /// Its value. None if it is null.
    pub(super) fn get(&self, name: &str) -> Option<&Literal> {
        let literal = self.argument(name)?.literal.as_ref()?;
        (!matches!(literal.kind, LiteralKind::Null)).then_some(literal)
    }

    /// Its value, also if it is null.
    pub(super) fn get_or_null(&self, name: &str) -> Option<&Literal> {
        self.argument(name)?.literal.as_ref()
    }
}

impl Reader<'_> {
    /// Reads arguments that a schema has let through.
    pub(super) fn arguments(&mut self, attributes: &[Attribute], missing: Span) -> Arguments {
        let read = |attribute: &Attribute| Argument {
            name: attribute.name.name.clone(),
            name_span: attribute.name.span,
            span: attribute.span,
            expr: Arc::clone(&attribute.expr),
            literal: self.literal(&attribute.expr),
        };
        Arguments { given: attributes.iter().map(read).collect(), missing, misspelt: Vec::new() }
    }

    /// Reads the arguments of a block that has no blocks in it. Names may be in camel case.
    pub(super) fn arguments_of(&mut self, block: &Block, names: Names) -> Arguments {
        let (attributes, found) = block.body.just_attributes();
        self.diagnostics.extend(found.into_iter().map(|found| Code(1101).number(found)));
        let missing = block.body.missing_item_span();
        let mut arguments = Arguments { given: Vec::new(), missing, misspelt: Vec::new() };
        for attribute in attributes {
            let name = snake_case(&attribute.name.name);
            let span = attribute.name.span;
            if !names.known.contains(&name.as_str()) {
                let advice = did_you_mean(&name, names.known.iter().copied());
                let detail = format!("An argument named {:?} is not expected here.{advice}", &*attribute.name.name);
                arguments.misspelt.extend(meant(&detail));
                self.diagnostics.push(Code(1101).error("Unsupported argument", detail).at(span));
                continue;
            }
            if arguments.argument(&name).is_some() {
                let detail = format!("The argument {name:?} is set twice: the two spellings of it mean the same.");
                self.diagnostics.push(Code(1101).error("Attribute redefined", detail).at(span));
                continue;
            }
            let is_expression = names.expression.is_some_and(|expression| name == *expression);
            arguments.given.push(Argument {
                name_span: span,
                span: attribute.span,
                literal: if is_expression { None } else { self.literal(&attribute.expr) },
                expr: attribute.expr,
                name,
            });
        }
        arguments
    }

    /// Complains if an argument is not there. That one is misspelt, or no literal, has been told.
    pub(super) fn required(&mut self, arguments: &Arguments, name: &str) {
        let is_misspelt = arguments.misspelt.iter().any(|meant| *meant == *name);
        if arguments.given(name).is_none() && !is_misspelt {
            let detail = format!("The argument {name:?} is required, but no definition was found.");
            let at = arguments.argument(name).map_or(arguments.missing, |argument| argument.span);
            self.diagnostics.push(Code(1101).error("Missing required argument", detail).at(at));
        }
    }

    /// Complains about a value that does not fit.
    pub(super) fn unsuitable(&mut self, name: &str, wanted: &str, literal: &Literal) {
        let detail = format!("{name} must be {wanted}, and this is {}.", literal.what());
        self.diagnostics.push(Code(1104).error("Unsuitable value", detail).at(literal.span));
    }

    /// Complains about a list without elements, with which nothing is ever so.
    pub(super) fn empty(&mut self, name: &str, wanted: &str, literal: &Literal) {
        let detail = format!("{name} is empty. It must have {wanted} at least, or there is nothing to ask.");
        self.diagnostics.push(Code(1104).error("Unsuitable value", detail).at(literal.span));
    }

    /// A text.
    pub(super) fn text(&mut self, arguments: &Arguments, name: &str) -> Option<Text> {
        let literal = arguments.get(name)?;
        if let LiteralKind::Text(text) = &literal.kind {
            return Some(text.clone());
        }
        self.unsuitable(name, "a string", literal);
        None
    }

    /// A text that people read, or that something is looked up by.
    pub(super) fn words(&mut self, arguments: &Arguments, name: &str) -> Option<Str> {
        self.text(arguments, name).map(|text| text.says)
    }

    /// A bool.
    pub(super) fn bool(&mut self, arguments: &Arguments, name: &str) -> Option<bool> {
        let literal = arguments.get(name)?;
        if let LiteralKind::Bool(value) = literal.kind {
            return Some(value);
        }
        self.unsuitable(name, "true or false", literal);
        None
    }

    /// A list of texts. Empty if there is none.
    pub(super) fn texts(&mut self, arguments: &Arguments, name: &str) -> Vec<Text> {
        let Some(literal) = arguments.get(name) else { return Vec::new() };
        let LiteralKind::List(items) = &literal.kind else {
            self.unsuitable(name, "a list of strings", literal);
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match &item.kind {
                LiteralKind::Text(text) => texts.push(text.clone()),
                _ => self.unsuitable(&format!("Each element of {name}"), "a string", item),
            }
        }
        texts
    }

    /// A list of globs.
    pub(super) fn globs(&mut self, arguments: &Arguments, name: &str) -> Vec<Glob> {
        self.texts(arguments, name).into_iter().map(|text| Glob::new(text.says)).collect()
    }

    /// One of several words.
    pub(super) fn choice<T: Copy>(&mut self, arguments: &Arguments, name: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(arguments, name)?;
        if let Some((_, meant)) = words.iter().find(|(word, _)| text.says == **word) {
            return Some(*meant);
        }
        let known: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        let advice = did_you_mean(&text.says, words.iter().map(|(word, _)| *word));
        let detail = format!("{name} is {:?}. It can be {}.{advice}", &*text.says, one_of(&known));
        self.diagnostics.push(Code(1104).error("Unsuitable value", detail).at(text.span));
        None
    }

    /// A field.
    pub(super) fn field(&mut self, arguments: &Arguments, name: &str) -> Option<FieldPath> {
        let text = self.text(arguments, name)?;
        self.path(&text)
    }

    /// A list of fields.
    pub(super) fn fields(&mut self, arguments: &Arguments, name: &str) -> Vec<FieldPath> {
        let texts = self.texts(arguments, name);
        texts.iter().filter_map(|text| self.path(text)).collect()
    }
}

/// ` Did you mean "x"?`, if something like it is known.
pub(super) fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    // All names of one or two letters are like each other.
    if given.chars().count() < 3 {
        return String::new();
    }
    suggestion(given, known).map_or(String::new(), |meant| format!(" Did you mean {meant:?}?"))
}

/// What somebody has guessed in a message.
pub(super) fn meant(detail: &str) -> Option<Str> {
    let (_, guess) = detail.split_once("Did you mean \"")?;
    guess.split_once('"').map(|(name, _)| Str::new(name))
}

/// `a, b or c`
pub(super) fn one_of(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// `ignoreOrder` as `ignore_order`. What is in snake case stays as it is.
pub(super) fn snake_case(name: &str) -> Str {
    let mut snake = String::with_capacity(name.len() + 4);
    for (at, c) in name.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    Str::new(snake)
}
