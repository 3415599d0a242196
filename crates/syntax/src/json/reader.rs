//! Reads JSON into [`Node`]s. A mistake makes the value around it invalid, and reading goes on behind.

use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::number::Number;
use groma_model::span::{FileId, Span};
use groma_model::text::{Str, suggestion};

use super::scanner::{Kind, Scanner, Token};
use super::{Node, NodeKind, Property};
use crate::MAX_NESTING;

const START_OF_VALUE: &str = "A JSON value must start with a brace, a bracket, a number, a string, or a keyword.";

/// The value cannot be read; the errors are reported already.
struct Broken;

/// Reads a whole text.
pub(super) fn read(text: &str, file: FileId) -> (Arc<Node>, Diagnostics) {
    let mut scanner = Scanner::new(text, file);
    let ahead = scanner.next();
    let mut reader = Reader { scanner, ahead, nesting: 0, diagnostics: Diagnostics::new() };
    let root = reader.value();
    if reader.diagnostics.is_empty() && reader.ahead.kind != Kind::Eof {
        let span = reader.ahead.span;
        reader.error("Extraneous data after value", "Extra characters appear after the JSON value.", span);
    }
    (root, reader.diagnostics)
}

struct Reader<'t> {
    scanner: Scanner<'t>,
    ahead: Token<'t>,
    nesting: usize,
    diagnostics: Diagnostics,
}

impl<'t> Reader<'t> {
    fn read(&mut self) -> Token<'t> {
        let token = self.ahead;
        if token.kind != Kind::Eof {
            self.ahead = self.scanner.next();
        }
        token
    }

    fn error(&mut self, summary: &str, detail: impl Into<String>, span: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
    }

    fn value(&mut self) -> Arc<Node> {
        let first = self.ahead;
        let read = match first.kind {
            Kind::OpenBrace => self.nested(Self::object),
            Kind::OpenBracket => self.nested(Self::array),
            Kind::Number => self.number(),
            Kind::String => self.string(),
            Kind::Keyword => self.keyword(),
            Kind::CloseBrace => self.no_value("Missing JSON value", START_OF_VALUE),
            Kind::CloseBracket => self.no_value("Missing array element value", START_OF_VALUE),
            Kind::Eof => self.no_value("Missing value", "The JSON data ends prematurely."),
            _ => self.no_value("Invalid start of value", START_OF_VALUE),
        };
        Arc::new(read.unwrap_or(Node { kind: NodeKind::Invalid, span: first.span }))
    }

    fn no_value(&mut self, summary: &str, detail: &str) -> Result<Node, Broken> {
        let span = self.ahead.span;
        self.error(summary, detail, span);
        Err(Broken)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Node, Broken>) -> Result<Node, Broken> {
        if self.nesting >= MAX_NESTING {
            let span = self.ahead.span;
            self.error("Too deeply nested", format!("JSON may be nested at most {MAX_NESTING} levels deep."), span);
            // Nothing behind can be told apart any more.
            while self.read().kind != Kind::Eof {}
            return Err(Broken);
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// Skips to the end of an object or array that is broken at `from`.
    fn recover(&mut self, from: Token<'t>, open: Kind, close: Kind) {
        let mut depth = 1;
        let mut token = from;
        while token.kind != Kind::Eof {
            if token.kind == open {
                depth += 1;
            } else if token.kind == close {
                depth -= 1;
                if depth <= 1 {
                    return;
                }
            }
            token = self.read();
        }
    }

    fn object(&mut self) -> Result<Node, Broken> {
        let open = self.read();
        let mut properties = Vec::new();
        while self.ahead.kind != Kind::CloseBrace {
            properties.push(self.property()?);
            let next = self.ahead;
            match next.kind {
                Kind::CloseBrace => break,
                Kind::Comma => {
                    self.read();
                    if self.ahead.kind == Kind::CloseBrace {
                        let detail = "JSON does not permit a trailing comma after the final property in an object.";
                        self.error("Trailing comma in object", detail, next.span);
                        return Err(Broken);
                    }
                }
                Kind::Eof => {
                    self.error("Unclosed object", "No closing brace was found for this JSON object.", open.span);
                    return Err(Broken);
                }
                Kind::CloseBracket => {
                    self.read();
                    let span = self.ahead.span;
                    self.error("Mismatched braces", "A JSON object must be closed with a brace, not a bracket.", span);
                    return Err(Broken);
                }
                _ => {
                    let from = self.read();
                    self.recover(from, Kind::OpenBrace, Kind::CloseBrace);
                    let span = self.ahead.span;
                    let detail = "A comma must appear between each property definition in an object.";
                    self.error("Missing attribute seperator comma", detail, span);
                    return Err(Broken);
                }
            }
        }
        let close = self.read();
        let kind = NodeKind::Object { properties, open_span: open.span, close_span: close.span };
        Ok(Node { kind, span: open.span.to(close.span) })
    }

    fn property(&mut self) -> Result<Property, Broken> {
        let key = self.value();
        let NodeKind::String(name) = &key.kind else {
            let span = key.start_span();
            self.error("Invalid object property name", "A JSON object property name must be a string", span);
            return Err(Broken);
        };
        let colon = self.read();
        if colon.kind != Kind::Colon {
            self.recover(colon, Kind::OpenBrace, Kind::CloseBrace);
            let (summary, detail) = match colon.kind {
                Kind::CloseBrace | Kind::Comma => {
                    ("Missing object value", "A JSON object attribute must have a value, introduced by a colon.")
                }
                Kind::Equals => (
                    "Missing property value colon",
                    "JSON uses a colon as its name/value delimiter, not an equals sign.",
                ),
                _ => (
                    "Missing property value colon",
                    "A colon must appear between an object property's name and its value.",
                ),
            };
            self.error(summary, detail, colon.span);
            return Err(Broken);
        }
        Ok(Property { name: name.clone(), name_span: key.span, value: self.value() })
    }

    fn array(&mut self) -> Result<Node, Broken> {
        let open = self.read();
        let mut items = Vec::new();
        while self.ahead.kind != Kind::CloseBracket {
            items.push(self.value());
            let next = self.ahead;
            let (summary, detail) = match next.kind {
                Kind::CloseBracket => break,
                Kind::Comma => {
                    self.read();
                    if self.ahead.kind != Kind::CloseBracket {
                        continue;
                    }
                    let detail = "JSON does not permit a trailing comma after the final value in an array.";
                    self.error("Trailing comma in array", detail, next.span);
                    return Err(Broken);
                }
                Kind::Eof => {
                    self.error("Unclosed object", "No closing bracket was found for this JSON array.", open.span);
                    return Err(Broken);
                }
                Kind::Colon => ("Invalid array value", "A colon is not used to introduce values in a JSON array."),
                Kind::CloseBrace => ("Mismatched brackets", "A JSON array must be closed with a bracket, not a brace."),
                _ => ("Missing attribute seperator comma", "A comma must appear between each value in an array."),
            };
            let from = self.read();
            self.recover(from, Kind::OpenBracket, Kind::CloseBracket);
            let span = self.ahead.span;
            self.error(summary, detail, span);
            return Err(Broken);
        }
        let close = self.read();
        let kind = NodeKind::Array { items, open_span: open.span };
        Ok(Node { kind, span: open.span.to(close.span) })
    }

    fn number(&mut self) -> Result<Node, Broken> {
        let token = self.read();
        if let Some(number) = Number::parse(token.text).filter(|_| is_json_number(token.text)) {
            return Ok(Node { kind: NodeKind::Number(number), span: token.span });
        }
        self.error("Invalid JSON number", "There is a syntax error in the given JSON number.", token.span);
        Err(Broken)
    }

    fn string(&mut self) -> Result<Node, Broken> {
        let token = self.read();
        match unquote(token.text) {
            Ok(text) => Ok(Node { kind: NodeKind::String(text), span: token.span }),
            Err(at) => {
                let start = (token.span.start as usize + at).min(token.span.end as usize);
                let span = Span::new(token.span.file, start, (start + 1).min(token.span.end as usize));
                self.diagnostics.push(
                    Diagnostic::error("Invalid JSON string", "There is a syntax error in the given JSON string.")
                        .at(span)
                        .within(token.span),
                );
                Err(Broken)
            }
        }
    }

    fn keyword(&mut self) -> Result<Node, Broken> {
        let token = self.read();
        let kind = match token.text {
            "true" => NodeKind::Bool(true),
            "false" => NodeKind::Bool(false),
            "null" => NodeKind::Null,
            word => {
                let detail = if matches!(word, "undefined" | "NaN" | "Infinity") {
                    format!("The JavaScript identifier {word:?} cannot be used in JSON.")
                } else {
                    let advice = suggestion(word, ["false", "true", "null"]);
                    let advice = advice.map_or(String::new(), |meant| format!(" Did you mean {meant:?}?"));
                    format!("{word:?} is not a valid JSON keyword.{advice}")
                };
                self.error("Invalid JSON keyword", detail, token.span);
                return Err(Broken);
            }
        };
        Ok(Node { kind, span: token.span })
    }
}

/// `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`
fn is_json_number(text: &str) -> bool {
    fn digits(text: &str) -> (usize, &str) {
        let len = text.bytes().take_while(u8::is_ascii_digit).count();
        (len, &text[len..])
    }
    let text = text.strip_prefix('-').unwrap_or(text);
    let (whole, mut rest) = digits(text);
    if whole == 0 || (whole > 1 && text.starts_with('0')) {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        let (len, behind) = digits(fraction);
        if len == 0 {
            return false;
        }
        rest = behind;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let (len, behind) = digits(exponent);
        return len > 0 && behind.is_empty();
    }
    rest.is_empty()
}

/// The text that a JSON string stands for, or the offset of what is wrong.
fn unquote(quoted: &str) -> Result<Str, usize> {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    let Some(inner) = inner.strip_suffix('"') else { return Err(quoted.len()) };
    if !inner.contains('\\') {
        return Ok(Str::new(inner));
    }
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(backslash) = rest.find('\\') {
        text.push_str(&rest[..backslash]);
        let at = 1 + inner.len() - rest.len() + backslash;
        let escape = &rest[backslash + 1..];
        let letter = match escape.bytes().next() {
            Some(simple @ (b'"' | b'\\' | b'/')) => simple as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let (letter, len) = unicode_escape(&escape[1..]).ok_or_else(|| at + 3 + hex_len(&escape[1..]))?;
                text.push(letter);
                rest = &escape[1 + len..];
                continue;
            }
            _ => return Err(at + 2),
        };
        text.push(letter);
        rest = &escape[1..];
    }
    text.push_str(rest);
    Ok(Str::new(text))
}

/// The letter that `XXXX` or `XXXX\uXXXX` stands for, and how long that is. Half a pair stands for U+FFFD, as in Go.
fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let first = hex4(text)?;
    if let Some(letter) = char::from_u32(first) {
        return Some((letter, 4));
    }
    if let Some(second) = text.get(4..).and_then(|rest| rest.strip_prefix("\\u")).and_then(hex4)
        && (0xd800..0xdc00).contains(&first)
        && (0xdc00..0xe000).contains(&second)
    {
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return char::from_u32(code).map(|letter| (letter, 10));
    }
    Some((char::REPLACEMENT_CHARACTER, 4))
}

/// How many of the four digits of a `\u` escape there are.
fn hex_len(text: &str) -> usize {
    text.bytes().take(4).take_while(u8::is_ascii_hexdigit).count()
}

fn hex4(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}
