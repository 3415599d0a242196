//! Expressions that join the predicates of a rule: `(A AND B) OR C`. Reading and printing them; what the names stand for is not known here.

mod lexer;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

use groma_model::text::Str;

use lexer::{Lexer, Token, TokenKind};

/// The longest expression, in bytes.
pub const MAX_LENGTH: usize = 4096;
/// How deep parentheses and NOTs may stand in each other.
pub const MAX_NESTING: usize = 64;

/// An expression. Those of several operands have at least two.
#[derive(Debug, Clone)]
pub enum Expr {
    /// Any of them.
    Or(Vec<Expr>),
    /// All of them.
    And(Vec<Expr>),
    /// The opposite.
    Not(Box<Expr>),
    /// `TRUE` or `FALSE`.
    Constant(bool),
    /// The name of a predicate, a group or a condition.
    Name {
        /// The name.
        name: Str,
        /// The bytes of it in the text.
        at: Range<usize>,
    },
}

/// Two expressions are equal wherever their names stand.
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Expr::Or(left), Expr::Or(right)) | (Expr::And(left), Expr::And(right)) => left == right,
            (Expr::Not(left), Expr::Not(right)) => left == right,
            (Expr::Constant(left), Expr::Constant(right)) => left == right,
            (Expr::Name { name: left, .. }, Expr::Name { name: right, .. }) => left == right,
            _ => false,
        }
    }
}

impl Eq for Expr {}

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExprError {
    /// The bytes of the text that are wrong. Empty at its end.
    pub at: Range<usize>,
    /// What is wrong with them.
    pub problem: Problem,
}

/// What can be wrong with the text of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Something else must stand there.
    Unexpected {
        /// What could.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// It is longer than [`MAX_LENGTH`].
    TooLong,
    /// It is deeper than [`MAX_NESTING`].
    TooDeep,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unexpected { expected, found } => write!(f, "Expected {expected}, found {found}."),
            Problem::TooLong => write!(f, "An expression must not be longer than {MAX_LENGTH} bytes."),
            Problem::TooDeep => {
                write!(f, "Parentheses and NOTs must not stand more than {MAX_NESTING} deep in each other.")
            }
        }
    }
}

/// Whether a text can be a name in expressions: letters, digits, `_` and `-`, a letter first, and none of the words of the grammar.
pub fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.all(lexer::continues_name)
        && lexer::keyword(text).is_none()
}

impl Expr {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Expr, ExprError> {
        if text.len() > MAX_LENGTH {
            return Err(ExprError { at: 0..text.len(), problem: Problem::TooLong });
        }
        let mut parser = Parser { lexer: Lexer::new(text), depth: 0 };
        let expr = parser.or()?;
        parser.expect(TokenKind::End, "AND, OR or the end of the expression")?;
        Ok(expr)
    }

    /// The names in it, in the order in which they stand, with their places.
    pub fn names(&self) -> Vec<(&Str, Range<usize>)> {
        let mut found = Vec::new();
        self.collect_names(&mut found);
        found
    }

    fn collect_names<'e>(&'e self, found: &mut Vec<(&'e Str, Range<usize>)>) {
        match self {
            Expr::Or(operands) | Expr::And(operands) => {
                for operand in operands {
                    operand.collect_names(found);
                }
            }
            Expr::Not(operand) => operand.collect_names(found),
            Expr::Constant(_) => {}
            Expr::Name { name, at } => found.push((name, at.clone())),
        }
    }

    /// How tightly it holds together: what is looser than its surroundings needs parentheses.
    fn binding(&self) -> u8 {
        match self {
            Expr::Or(_) => 0,
            Expr::And(_) => 1,
            Expr::Not(_) | Expr::Constant(_) | Expr::Name { .. } => 2,
        }
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    depth: usize,
}

impl Parser<'_> {
    fn or(&mut self) -> Result<Expr, ExprError> {
        let mut operands = vec![self.and()?];
        while self.lexer.next_if(TokenKind::Or) {
            operands.push(self.and()?);
        }
        Ok(several(operands, Expr::Or))
    }

    fn and(&mut self) -> Result<Expr, ExprError> {
        let mut operands = vec![self.unary()?];
        while self.lexer.next_if(TokenKind::And) {
            operands.push(self.unary()?);
        }
        Ok(several(operands, Expr::And))
    }

    fn unary(&mut self) -> Result<Expr, ExprError> {
        let token = self.lexer.peek();
        match token.kind {
            TokenKind::Not => {
                self.lexer.skip();
                self.deeper(&token)?;
                let operand = self.unary()?;
                self.depth -= 1;
                Ok(Expr::Not(Box::new(operand)))
            }
            TokenKind::Open => {
                self.lexer.skip();
                self.deeper(&token)?;
                let inner = self.or()?;
                self.expect(TokenKind::Close, "AND, OR or \")\"")?;
                self.depth -= 1;
                Ok(inner)
            }
            TokenKind::Constant(value) => {
                self.lexer.skip();
                Ok(Expr::Constant(value))
            }
            TokenKind::Name => {
                self.lexer.skip();
                Ok(Expr::Name { name: Str::new(self.lexer.text(&token)), at: token.at })
            }
            _ => Err(self.unexpected(token, "a name, NOT, TRUE, FALSE or \"(\"")),
        }
    }

    fn deeper(&mut self, token: &Token) -> Result<(), ExprError> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(ExprError { at: token.at.clone(), problem: Problem::TooDeep });
        }
        Ok(())
    }

    fn expect(&mut self, kind: TokenKind, expected: &'static str) -> Result<(), ExprError> {
        let token = self.lexer.peek();
        if token.kind != kind {
            return Err(self.unexpected(token, expected));
        }
        self.lexer.skip();
        Ok(())
    }

    fn unexpected(&self, token: Token, expected: &'static str) -> ExprError {
        let found = match token.kind {
            TokenKind::End => "the end of the expression".to_owned(),
            _ => format!("{:?}", self.lexer.text(&token)),
        };
        ExprError { at: token.at, problem: Problem::Unexpected { expected, found } }
    }
}

/// One operand is itself.
fn several(mut operands: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    match operands.pop() {
        Some(only) if operands.is_empty() => only,
        Some(last) => {
            operands.push(last);
            join(operands)
        }
        None => join(operands),
    }
}

/// With as few parentheses as it takes to be read again as it is.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |f: &mut fmt::Formatter<'_>, operands: &[Expr], word: &str| {
            for (at, operand) in operands.iter().enumerate() {
                if at > 0 {
                    write!(f, " {word} ")?;
                }
                // An operand that is joined in the same way was in parentheses, or it would have been joined with the others.
                if operand.binding() <= self.binding() { write!(f, "({operand})")? } else { write!(f, "{operand}")? }
            }
            Ok(())
        };
        match self {
            Expr::Or(operands) => joined(f, operands, "OR"),
            Expr::And(operands) => joined(f, operands, "AND"),
            Expr::Not(operand) if operand.binding() < self.binding() => write!(f, "NOT ({operand})"),
            Expr::Not(operand) => write!(f, "NOT {operand}"),
            Expr::Constant(true) => f.write_str("TRUE"),
            Expr::Constant(false) => f.write_str("FALSE"),
            Expr::Name { name, .. } => f.write_str(name),
        }
    }
}
