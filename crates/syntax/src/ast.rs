//! The tree that both syntaxes (native and JSON) are read into: expressions with a span each. Bodies are in [`crate::body`].
//!
//! Nothing here is evaluated; `groma-lang` does that.

use groma_model::number::Number;
use groma_model::span::Span;
use groma_model::text::Str;

/// A name with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: Str,
    /// Where it stands.
    pub span: Span,
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// All of its text.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// `null`, `true`, `12.5`.
    Literal(Literal),
    /// `"a${b}"`, a heredoc, or a string of the JSON syntax.
    Template(Box<Template>),
    /// `"${x}"` and nothing else: passes the value of `x` through, whatever its type.
    TemplateWrap(Box<Expr>),
    /// `a.b[0]`: a root name and constant steps.
    Traversal(Box<Traversal>),
    /// Constant steps on any other expression: `f(x).b[0]`.
    RelTraversal(Box<RelTraversal>),
    /// `a[expr]`.
    Index(Box<Index>),
    /// `a[*].b` or `a.*.b`.
    Splat(Box<Splat>),
    /// The current element inside [`Splat::each`].
    SplatItem,
    /// `f(a, b...)`.
    Call(Box<Call>),
    /// `c ? a : b`.
    Conditional(Box<Conditional>),
    /// `-a`, `!a`.
    Unary(Box<Unary>),
    /// `a + b`.
    Binary(Box<Binary>),
    /// `[a, b]`.
    Tuple(Vec<Expr>),
    /// `{ a = b }`.
    Object(Vec<ObjectItem>),
    /// `[for …]`, `{for …}`.
    For(Box<For>),
    /// `(a)`.
    Parens(Box<Expr>),
    /// Text that could not be read; its error is reported already. Evaluates to an unknown value without further errors.
    Invalid,
}

/// A constant.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number of any size.
    Number(Number),
}

/// How a template was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// `"…"`
    Quoted,
    /// `<<EOT`, `<<-EOT`
    Heredoc,
    /// A string of the JSON syntax. As text it may also stand for a reference or a keyword.
    Json,
    /// The whole of a file or string, for `templatefile` and `templatestring`.
    File,
}

/// Text with interpolations and directives. Strip markers and heredoc indentation are worked off already.
#[derive(Debug, Clone)]
pub struct Template {
    /// How it was written.
    pub kind: TemplateKind,
    /// Its parts in order. Empty for `""`.
    pub parts: Vec<TemplatePart>,
    /// The text before template reading, for [`TemplateKind::Json`] only.
    pub raw: Option<Str>,
}

/// A piece of a template.
#[derive(Debug, Clone)]
pub enum TemplatePart {
    /// Plain text, escapes resolved.
    Literal {
        /// The text.
        text: Str,
        /// Where it stands.
        span: Span,
    },
    /// `${expr}`
    Interpolation {
        /// The expression inside.
        expr: Expr,
        /// With `${` and `}`.
        span: Span,
    },
    /// `%{if c}…%{else}…%{endif}`
    If {
        /// The condition.
        condition: Expr,
        /// If true.
        then: Vec<TemplatePart>,
        /// If false; empty without `%{else}`.
        otherwise: Vec<TemplatePart>,
        /// From `%{if` to the end of `%{endif}`.
        span: Span,
    },
    /// `%{for k, v in c}…%{endfor}`
    For {
        /// Name for the key, if wanted.
        key: Option<Ident>,
        /// Name for the value.
        value: Ident,
        /// What is iterated.
        collection: Expr,
        /// Repeated.
        body: Vec<TemplatePart>,
        /// From `%{for` to the end of `%{endfor}`.
        span: Span,
    },
}

/// A reference: `root.step[step]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Traversal {
    /// The first name.
    pub root: Ident,
    /// What follows.
    pub steps: Vec<Step>,
    /// All of it.
    pub span: Span,
}

/// Steps on the value of an expression.
#[derive(Debug, Clone)]
pub struct RelTraversal {
    /// Where they start.
    pub base: Expr,
    /// At least one.
    pub steps: Vec<Step>,
}

/// One step of a traversal.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// `.name`
    Attr {
        /// The name.
        name: Str,
        /// With the dot.
        span: Span,
    },
    /// `["key"]`, `[0]`, or the old form `.0`
    Index {
        /// The constant key.
        key: StepKey,
        /// With the brackets.
        span: Span,
    },
}

impl Step {
    /// Where the step stands.
    pub fn span(&self) -> Span {
        match self {
            Step::Attr { span, .. } | Step::Index { span, .. } => *span,
        }
    }
}

/// A constant index.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKey {
    /// `[0]`
    Number(Number),
    /// `["a"]`
    String(Str),
}

/// `collection[key]` where the key is not a constant.
#[derive(Debug, Clone)]
pub struct Index {
    /// What is indexed.
    pub collection: Expr,
    /// By what.
    pub key: Expr,
    /// The brackets and the key.
    pub bracket_span: Span,
}

/// `source[*]each` or `source.*each`.
#[derive(Debug, Clone)]
pub struct Splat {
    /// What is iterated.
    pub source: Expr,
    /// Applied to each element, which is [`ExprKind::SplatItem`] inside.
    pub each: Expr,
    /// The `[*]` or `.*`.
    pub marker_span: Span,
}

/// A function call.
#[derive(Debug, Clone)]
pub struct Call {
    /// The full name: `upper`, `core::upper`, `provider::time::rfc3339_parse`.
    pub name: Str,
    /// Where the name stands.
    pub name_span: Span,
    /// The arguments.
    pub args: Vec<Expr>,
    /// Whether the last argument is followed by `...`.
    pub expand_final: bool,
    /// The opening parenthesis.
    pub open_span: Span,
    /// The closing parenthesis.
    pub close_span: Span,
}

/// `condition ? then : otherwise`
#[derive(Debug, Clone)]
pub struct Conditional {
    /// The condition.
    pub condition: Expr,
    /// If true.
    pub then: Expr,
    /// If false.
    pub otherwise: Expr,
}

/// An operator in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `!`
    Not,
}

/// `-a`, `!a`
#[derive(Debug, Clone)]
pub struct Unary {
    /// Which.
    pub op: UnaryOp,
    /// Where the operator stands.
    pub op_span: Span,
    /// On what.
    pub operand: Expr,
}

/// An operator between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

/// `left op right`
#[derive(Debug, Clone)]
pub struct Binary {
    /// Which.
    pub op: BinaryOp,
    /// Where the operator stands.
    pub op_span: Span,
    /// The left operand.
    pub left: Expr,
    /// The right operand.
    pub right: Expr,
}

/// `key = value` in an object.
#[derive(Debug, Clone)]
pub struct ObjectItem {
    /// A bare name here is a constant string; in parentheses it is a reference.
    pub key: Expr,
    /// The value.
    pub value: Expr,
}

/// `[for k, v in c : v if p]` or `{for k, v in c : k => v... if p}`
#[derive(Debug, Clone)]
pub struct For {
    /// Name for the key, if wanted.
    pub key_name: Option<Ident>,
    /// Name for the value.
    pub value_name: Ident,
    /// What is iterated.
    pub collection: Expr,
    /// Key of each result; makes it an object.
    pub key: Option<Expr>,
    /// Each result.
    pub value: Expr,
    /// Elements for which this is false are left out.
    pub condition: Option<Expr>,
    /// `...`: values of equal keys are grouped.
    pub group: bool,
    /// `[` or `{`.
    pub open_span: Span,
    /// `]` or `}`.
    pub close_span: Span,
}
