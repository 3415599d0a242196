//! `variable` blocks.

use groma_model::convert::{ConvertError, convert};
use groma_model::mark::Mark;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::Expr;
use groma_syntax::body::{Block, BodySchema, Content};

use super::ignored::ignored_attributes;
use super::module_call::RESERVED_NAMES;
use super::read::{Decoder, label};
use super::{CheckRule, Declared};
use crate::refs::{Reference, Subject};
use crate::typeexpr::{self, Defaults};

/// `variable "name" { … }`
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: Str,
    /// What it is for.
    pub description: Option<Str>,
    /// What `type` says, if it is given.
    pub ty: Option<VariableType>,
    /// The default, converted to the constraint. None if a value must be given.
    pub default: Option<Value>,
    /// `sensitive`, if said.
    pub sensitive: Option<bool>,
    /// `ephemeral`, if said.
    pub ephemeral: Option<bool>,
    /// `nullable`, if said.
    pub nullable: Option<bool>,
    /// `const`, if said.
    pub constant: Option<bool>,
    /// Why it should not be set any more.
    pub deprecated: Option<Str>,
    /// `validation` blocks, in order.
    pub validations: Vec<CheckRule>,
    /// Where it is declared.
    pub declared: Declared,
}

/// The `type` of a variable.
#[derive(Debug, Clone)]
pub struct VariableType {
    /// The constraint that values are converted to, with optional attributes.
    pub constraint: Type,
    /// Values for optional attributes that are not given.
    pub defaults: Option<Defaults>,
    /// How text from the command line and the environment becomes a value.
    pub parsing: Parsing,
}

/// How text from the command line and the environment becomes the value of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsing {
    /// The text is the value.
    Literal,
    /// The text is an expression.
    Expression,
}

impl Variable {
    /// Whether a value must be given.
    pub fn is_required(&self) -> bool {
        self.default.is_none()
    }

    /// Whether it is sensitive.
    pub fn is_sensitive(&self) -> bool {
        self.sensitive == Some(true)
    }

    /// Whether it is ephemeral.
    pub fn is_ephemeral(&self) -> bool {
        self.ephemeral == Some(true)
    }

    /// Whether null is a value for it.
    pub fn is_nullable(&self) -> bool {
        self.nullable != Some(false)
    }

    /// The constraint that values are converted to, with optional attributes. [`Type::Dynamic`] if none is given.
    pub fn constraint(&self) -> Type {
        self.ty.as_ref().map_or(Type::Dynamic, |ty| ty.constraint.clone())
    }

    /// Values for optional attributes that are not given.
    pub fn defaults(&self) -> Option<&Defaults> {
        self.ty.as_ref()?.defaults.as_ref()
    }

    /// A given value as the variable holds it: with values for optional attributes, and of the right type.
    pub(crate) fn accept(&self, value: &Value) -> Result<Value, ConvertError> {
        match self.defaults() {
            Some(defaults) if !value.is_null() => convert(&defaults.apply(value), &self.constraint()),
            _ => convert(value, &self.constraint()),
        }
    }

    /// A value as expressions see it.
    pub(crate) fn marked(&self, value: Value) -> Value {
        let value = if self.is_sensitive() { value.mark(Mark::Sensitive) } else { value };
        if self.is_ephemeral() { value.mark(Mark::Ephemeral) } else { value }
    }

    /// How text from the command line and the environment becomes a value.
    pub fn parsing(&self) -> Parsing {
        self.ty.as_ref().map_or(Parsing::Literal, |ty| ty.parsing)
    }

    /// Reads a `variable` block.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> Self {
        let name = label(block, 0);
        let schema = ["description", "default", "type", "sensitive", "ephemeral", "const", "deprecated", "nullable"]
            .into_iter()
            .fold(BodySchema::new(), BodySchema::optional)
            .block("validation", &[]);
        let content = decoder.content(&block.body, &schema);
        decoder.check_name(&name, "Invalid variable name");
        if RESERVED_NAMES.contains(&name.text.as_str()) {
            decoder.error(
                "Invalid variable name",
                format!(
                    "The variable name {:?} is reserved due to its special meaning inside module blocks.",
                    name.text.as_str()
                ),
                name.span,
            );
        }
        let mut variable = Self {
            name: name.text.clone(),
            description: content.attr("description").and_then(|attribute| decoder.constant_string(attribute)),
            ty: content.attr("type").map(|attribute| decode_type(decoder, &attribute.expr)),
            default: None,
            sensitive: content.attr("sensitive").and_then(|attribute| decoder.constant_bool(attribute)),
            ephemeral: content.attr("ephemeral").and_then(|attribute| decoder.constant_bool(attribute)),
            // What is written and cannot be read counts as no.
            nullable: content.attr("nullable").map(|attribute| decoder.constant_bool(attribute).unwrap_or(false)),
            constant: content.attr("const").and_then(|attribute| decoder.constant_bool(attribute)),
            deprecated: None,
            validations: Vec::new(),
            declared: Declared::of(block),
        };
        if let Some(attribute) = content.attr("deprecated") {
            variable.deprecated = decoder.constant_string(attribute);
            if variable.deprecated.as_ref().is_some_and(|text| text.trim().is_empty()) {
                decoder.error(
                    "Invalid `deprecated` value",
                    "The \"deprecated\" argument must not be empty, and should provide instructions on how to migrate \
                     away from usage of this deprecated variable.",
                    name.span,
                );
            }
        }
        variable.decode_default(decoder, &content);
        for inner in &content.blocks {
            variable.validations.push(decode_validation(decoder, inner, &variable.name));
        }
        variable
    }

    fn decode_default(&mut self, decoder: &mut Decoder<'_>, content: &Content) {
        let Some(attribute) = content.attr("default") else { return };
        let expr = &attribute.expr;
        let mut value = decoder.constant(expr);
        // In an override file the type may be the base's, so that the merge has to convert.
        if !decoder.is_override || self.ty.is_some() {
            value = match self.converted(&value) {
                Ok(value) => value,
                Err(problem) => {
                    decoder.error(
                        "Invalid default value for variable",
                        format!("This default value is not compatible with the variable's type constraint: {problem}."),
                        expr.span,
                    );
                    Value::dynamic()
                }
            };
            let ignored = ignored_attributes(expr, &self.constraint(), "this variable");
            decoder.diagnostics.extend(ignored);
        }
        if !self.is_nullable() && value.is_null() {
            decoder.error(
                "Invalid default value for variable",
                "A null default value is not valid when nullable=false.",
                expr.span,
            );
        }
        self.default = Some(value);
    }

    /// A value with defaults filled in and converted to the constraint, or what is wrong with it.
    pub fn converted(&self, value: &Value) -> Result<Value, String> {
        let value = match self.defaults() {
            Some(defaults) if !value.is_null() => defaults.apply(value),
            _ => value.clone(),
        };
        convert(&value, &self.constraint()).map_err(|error| error.to_string())
    }
}

fn decode_type(decoder: &mut Decoder<'_>, expr: &Expr) -> VariableType {
    match typeexpr::variable_type(expr) {
        Ok(constraint) => {
            let parsing = if constraint.ty.is_primitive() { Parsing::Literal } else { Parsing::Expression };
            VariableType { constraint: constraint.ty, defaults: constraint.defaults, parsing }
        }
        Err(diagnostics) => {
            decoder.diagnostics.extend(diagnostics);
            VariableType { constraint: Type::Dynamic, defaults: None, parsing: Parsing::Expression }
        }
    }
}

fn decode_validation(decoder: &mut Decoder<'_>, block: &Block, variable: &Str) -> CheckRule {
    let rule = CheckRule::decode(decoder, block);
    if let Some(condition) = &rule.condition {
        let tests_itself = condition.references().into_iter().any(|traversal| {
            Reference::parse(traversal)
                .is_ok_and(|reference| matches!(&reference.subject, Subject::Variable(name) if name == variable))
        });
        if !tests_itself {
            decoder.error(
                "Invalid variable validation condition",
                format!(
                    "The condition for variable {:?} must refer to var.{variable} in order to test incoming values.",
                    variable.as_str()
                ),
                condition.span,
            );
        }
    }
    rule
}
