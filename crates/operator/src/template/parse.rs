//! From text to nodes.

use serde_json::Value as Json;

use super::TemplateError;

/// Actions inside of actions go no deeper than that.
const MOST_DEPTH: usize = 50;

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// As it stands.
    Text(String),
    /// A value.
    Value(Expr, usize),
    /// `$name := value`
    Set(String, Expr, usize),
    /// `if` and `with`, with what is in it, and what is if not.
    If { condition: Expr, scoped: bool, then: Vec<Node>, otherwise: Vec<Node>, line: usize },
    /// `range`
    Range { names: Vec<String>, over: Expr, each: Vec<Node>, none: Vec<Node>, line: usize },
}

/// Something that has a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    /// `"text"`, `3`, `true`, `nil`
    Literal(Json),
    /// `.a.b`
    Field(Vec<String>),
    /// `$name.a.b`; without a name, what the whole template is about.
    Variable(String, Vec<String>),
    /// `name a b`
    Call(String, Vec<Expr>),
}

/// Reads a template.
pub(super) fn parse(text: &str) -> Result<Vec<Node>, TemplateError> {
    let pieces = pieces(text)?;
    let mut parser = Parser { pieces: &pieces, at: 0 };
    let (nodes, end) = parser.nodes(0)?;
    match end {
        None => Ok(nodes),
        Some((word, line)) => Err(TemplateError::new(line, format!("{word:?} belongs to nothing"))),
    }
}

/// Texts and actions, one after the other.
enum Piece {
    Text(String),
    Action(String, usize),
}

fn pieces(text: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut found = Vec::new();
    let (mut rest, mut line, mut trims) = (text, 1, false);
    loop {
        let start = rest.find("{{");
        let mut plain = &rest[..start.unwrap_or(rest.len())];
        let lines = plain.matches('\n').count();
        if trims {
            plain = plain.trim_start();
        }
        let Some(start) = start else {
            found.push(Piece::Text(plain.to_owned()));
            return Ok(found);
        };
        line += lines;
        let begun = line;
        let unclosed = || TemplateError::new(begun, "\"{{\" is never closed by \"}}\"");
        let inside = &rest[start + 2..];
        let end = action_end(inside).ok_or_else(unclosed)?;
        let action = &inside[..end];
        line += action.matches('\n').count();
        let (action, trims_before) = match action.strip_prefix('-') {
            Some(after) if after.starts_with(char::is_whitespace) => (after, true),
            _ => (action, false),
        };
        let (action, trims_after) = match action.strip_suffix('-') {
            Some(before) if before.ends_with(char::is_whitespace) => (before, true),
            _ => (action, false),
        };
        found.push(Piece::Text(if trims_before { plain.trim_end() } else { plain }.to_owned()));
        let action = action.trim();
        if !(action.starts_with("/*") && action.ends_with("*/")) {
            found.push(Piece::Action(action.to_owned(), begun));
        }
        trims = trims_after;
        rest = &inside[end + 2..];
    }
}

/// Where an action ends; not within a text of its own.
fn action_end(inside: &str) -> Option<usize> {
    let bytes = inside.as_bytes();
    let (mut at, mut quote) = (0, None);
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (None, b'}') if bytes.get(at + 1) == Some(&b'}') => return Some(at),
            (None, b'"' | b'`') => quote = Some(bytes[at]),
            (Some(b'"'), b'\\') => at += 1,
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
        at += 1;
    }
    None
}

struct Parser<'a> {
    pieces: &'a [Piece],
    at: usize,
}

/// How a list of nodes ended: with `end` or `else …`, or with the text.
type End = Option<(String, usize)>;

impl Parser<'_> {
    fn nodes(&mut self, depth: usize) -> Result<(Vec<Node>, End), TemplateError> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.get(self.at) {
            self.at += 1;
            let (action, line) = match piece {
                Piece::Text(text) => {
                    if !text.is_empty() {
                        nodes.push(Node::Text(text.clone()));
                    }
                    continue;
                }
                Piece::Action(action, line) => (action.as_str(), *line),
            };
            if depth > MOST_DEPTH {
                return Err(TemplateError::new(line, "there are too many actions inside of each other"));
            }
            let (word, rest) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
            match word {
                "end" => return Ok((nodes, Some(("end".to_owned(), line)))),
                "else" => return Ok((nodes, Some((format!("else {rest}").trim().to_owned(), line)))),
                "if" | "with" => nodes.push(self.condition(word == "with", rest, line, depth)?),
                "range" => nodes.push(self.range(rest, line, depth)?),
                "define" | "template" | "block" | "break" | "continue" => {
                    return Err(TemplateError::new(line, format!("{word:?} is not supported here")));
                }
                _ => nodes.push(value_or_set(action, line)?),
            }
        }
        Ok((nodes, None))
    }

    fn condition(&mut self, scoped: bool, text: &str, line: usize, depth: usize) -> Result<Node, TemplateError> {
        let condition = expression(text, line)?;
        let (then, end) = self.nodes(depth + 1)?;
        let otherwise = self.otherwise(end, line, depth)?;
        Ok(Node::If { condition, scoped, then, otherwise, line })
    }

    /// What follows `else`, up to `end`.
    fn otherwise(&mut self, end: End, line: usize, depth: usize) -> Result<Vec<Node>, TemplateError> {
        let unended = || TemplateError::new(line, "this is never ended by {{ end }}");
        let (word, at) = end.ok_or_else(unended)?;
        if word == "end" {
            return Ok(Vec::new());
        }
        if let Some(rest) = word.strip_prefix("else if ") {
            return Ok(vec![self.condition(false, rest, at, depth + 1)?]);
        }
        if let Some(rest) = word.strip_prefix("else with ") {
            return Ok(vec![self.condition(true, rest, at, depth + 1)?]);
        }
        let (nodes, end) = self.nodes(depth + 1)?;
        match end {
            Some((word, _)) if word == "end" => Ok(nodes),
            Some((word, line)) => Err(TemplateError::new(line, format!("{word:?} comes after an \"else\""))),
            None => Err(unended()),
        }
    }

    fn range(&mut self, text: &str, line: usize, depth: usize) -> Result<Node, TemplateError> {
        let (names, over) = match text.split_once(":=") {
            Some((names, over)) => (names, over),
            None => ("", text),
        };
        let names: Vec<String> =
            names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if names.len() > 2 || names.iter().any(|name| !name.starts_with('$')) {
            return Err(TemplateError::new(line, "range takes at most two variables, such as $key, $value"));
        }
        let over = expression(over, line)?;
        let (each, end) = self.nodes(depth + 1)?;
        let none = self.otherwise(end, line, depth)?;
        Ok(Node::Range { names, over, each, none, line })
    }
}

fn value_or_set(action: &str, line: usize) -> Result<Node, TemplateError> {
    if let Some((name, value)) = action.split_once(":=").or_else(|| action.split_once(" = "))
        && name.trim_end().starts_with('$')
        && !name.contains(['"', '`', '('])
    {
        return Ok(Node::Set(name.trim().to_owned(), expression(value, line)?, line));
    }
    Ok(Node::Value(expression(action, line)?, line))
}

/// Reads `a b | c`.
fn expression(text: &str, line: usize) -> Result<Expr, TemplateError> {
    let tokens = tokens(text, line)?;
    let mut reader = Reader { tokens: &tokens, at: 0, line };
    let found = reader.pipeline(0)?;
    match reader.tokens.get(reader.at) {
        None => Ok(found),
        Some(token) => Err(TemplateError::new(line, format!("{:?} was not expected here", token.shown()))),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Literal(Json),
    Word(String),
    Open,
    Close,
    Pipe,
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Self::Literal(value) => value.to_string(),
            Self::Word(word) => word.clone(),
            Self::Open => "(".to_owned(),
            Self::Close => ")".to_owned(),
            Self::Pipe => "|".to_owned(),
        }
    }
}

fn tokens(text: &str, line: usize) -> Result<Vec<Token>, TemplateError> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '(' | ')' | '|' => {
                found.push(match first {
                    '(' => Token::Open,
                    ')' => Token::Close,
                    _ => Token::Pipe,
                });
                1
            }
            '"' => {
                let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
                let value = values.next().and_then(Result::ok);
                let value =
                    value.ok_or_else(|| TemplateError::new(line, "this text is not closed, or has a bad escape"))?;
                found.push(Token::Literal(Json::String(value)));
                values.byte_offset()
            }
            '`' => {
                let end = rest[1..].find('`').ok_or_else(|| TemplateError::new(line, "this text is not closed"))?;
                found.push(Token::Literal(Json::String(rest[1..=end].to_owned())));
                end + 2
            }
            _ => {
                let ends = |at: char| at.is_whitespace() || "()|\"`".contains(at);
                let length = rest.find(ends).unwrap_or(rest.len());
                found.push(Token::Word(rest[..length].to_owned()));
                length
            }
        };
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    line: usize,
}

impl Reader<'_> {
    fn pipeline(&mut self, depth: usize) -> Result<Expr, TemplateError> {
        let mut found = self.command(None, depth)?;
        while self.tokens.get(self.at) == Some(&Token::Pipe) {
            self.at += 1;
            found = self.command(Some(found), depth)?;
        }
        Ok(found)
    }

    /// A value, or a function with its arguments; what comes through a pipe is the last of them.
    fn command(&mut self, piped: Option<Expr>, depth: usize) -> Result<Expr, TemplateError> {
        let problem = |problem: &str| TemplateError::new(self.line, problem);
        if depth > MOST_DEPTH {
            return Err(problem("there are too many brackets inside of each other"));
        }
        let name = match self.tokens.get(self.at) {
            None | Some(Token::Pipe | Token::Close) => return Err(problem("a value is missing here")),
            Some(Token::Word(word)) => function_name(word),
            Some(_) => None,
        };
        if let Some(name) = name {
            self.at += 1;
            let mut arguments = Vec::new();
            while self.tokens.get(self.at).is_some_and(|token| !matches!(token, Token::Pipe | Token::Close)) {
                arguments.push(self.operand(depth)?);
            }
            arguments.extend(piped);
            return Ok(Expr::Call(name.to_owned(), arguments));
        }
        if piped.is_some() {
            return Err(problem("only functions come after \"|\""));
        }
        self.operand(depth)
    }

    fn operand(&mut self, depth: usize) -> Result<Expr, TemplateError> {
        let line = self.line;
        let problem = |problem: String| TemplateError::new(line, problem);
        let token = self.tokens.get(self.at).ok_or_else(|| problem("a value is missing here".to_owned()))?;
        self.at += 1;
        match token {
            Token::Literal(value) => Ok(Expr::Literal(value.clone())),
            Token::Open => {
                let found = self.pipeline(depth + 1)?;
                if self.tokens.get(self.at) != Some(&Token::Close) {
                    return Err(problem("\"(\" is never closed".to_owned()));
                }
                self.at += 1;
                Ok(found)
            }
            Token::Word(word) => operand(word).ok_or_else(|| problem(format!("{word:?} is no value"))),
            Token::Close | Token::Pipe => Err(problem(format!("{:?} was not expected here", token.shown()))),
        }
    }
}

fn function_name(word: &str) -> Option<&str> {
    let is_name =
        word.starts_with(|first: char| first.is_ascii_alphabetic()) && !["true", "false", "nil"].contains(&word);
    is_name.then_some(word)
}

fn operand(word: &str) -> Option<Expr> {
    let steps = |text: &str| -> Option<Vec<String>> {
        let steps: Vec<String> = text.split('.').skip(1).map(str::to_owned).collect();
        steps.iter().all(|step| is_identifier(step)).then_some(steps)
    };
    match word {
        "." => return Some(Expr::Field(Vec::new())),
        "true" => return Some(Expr::Literal(Json::Bool(true))),
        "false" => return Some(Expr::Literal(Json::Bool(false))),
        "nil" => return Some(Expr::Literal(Json::Null)),
        _ => {}
    }
    if word.starts_with('.') {
        return Some(Expr::Field(steps(word)?));
    }
    if let Some(rest) = word.strip_prefix('$') {
        let name = rest.split('.').next().unwrap_or_default();
        return Some(Expr::Variable(format!("${name}"), steps(rest)?));
    }
    let number: Json = serde_json::from_str(word).ok()?;
    number.is_number().then_some(Expr::Literal(number))
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|at| at.is_alphanumeric() || at == '_')
}
