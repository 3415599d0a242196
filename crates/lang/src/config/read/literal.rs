//! Strings of the JSON syntax in places that take constants: there they are plain texts, not templates.

use std::borrow::Cow;

use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_syntax::ast::{Expr, ExprKind, ObjectItem, Template, TemplateKind, TemplatePart};

/// The expression as a constant: with its strings as written, if it stands in a JSON file.
pub(super) fn as_constant<'e>(map: &SourceMap, expr: &'e Expr) -> Cow<'e, Expr> {
    let file = map.file(expr.span.file).name();
    if std::path::Path::new(file).extension().is_some_and(|ending| ending == "json") {
        Cow::Owned(literal(map, expr))
    } else {
        Cow::Borrowed(expr)
    }
}

fn literal(map: &SourceMap, expr: &Expr) -> Expr {
    let kind = match &expr.kind {
        ExprKind::Tuple(items) => ExprKind::Tuple(items.iter().map(|item| literal(map, item)).collect()),
        ExprKind::Object(items) => {
            let item =
                |item: &ObjectItem| ObjectItem { key: literal(map, &item.key), value: literal(map, &item.value) };
            ExprKind::Object(items.iter().map(item).collect())
        }
        other => match unquoted(map.text(expr.span)) {
            Some(text) => {
                let text = Str::new(text);
                let part = TemplatePart::Literal { text: text.clone(), span: expr.span };
                let parts = if text.is_empty() { Vec::new() } else { vec![part] };
                ExprKind::Template(Box::new(Template { kind: TemplateKind::Json, parts, raw: Some(text) }))
            }
            None => other.clone(),
        },
    };
    Expr { kind, span: expr.span }
}

/// What a JSON string says. None if the text is none, or one that the JSON parser has complained about.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut result = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match rest.next()? {
            'b' => result.push('\u{8}'),
            'f' => result.push('\u{c}'),
            'n' => result.push('\n'),
            'r' => result.push('\r'),
            't' => result.push('\t'),
            'u' => {
                let high = hex(&mut rest)?;
                let code = if (0xd800..0xdc00).contains(&high) && rest.as_str().starts_with("\\u") {
                    let mut behind = rest.clone();
                    behind.nth(1);
                    match hex(&mut behind) {
                        Some(low) if (0xdc00..0xe000).contains(&low) => {
                            rest = behind;
                            0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                        }
                        _ => high,
                    }
                } else {
                    high
                };
                result.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            other => result.push(other),
        }
    }
    Some(result)
}

fn hex(chars: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |code, _| Some(code * 16 + chars.next()?.to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::unquoted;

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(unquoted(r#""a\n\"\u00e9\ud83d\ude00${x}""#).as_deref(), Some("a\n\"\u{e9}\u{1f600}${x}"));
        assert_eq!(unquoted(r#""\ud83d!""#).as_deref(), Some("\u{fffd}!"));
        assert_eq!(unquoted("5"), None);
    }
}
