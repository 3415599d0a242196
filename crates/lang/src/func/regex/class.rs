//! Character classes and escapes of RE2, written in the syntax of the `regex` crate.

use std::fmt::Write as _;

use super::translate::{Flags, PatternError};

type Parsed<'a, T> = Result<(T, &'a str), PatternError>;

/// Matches nothing; stands for code points that no text can contain.
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// Scripts whose full name is as short as the abbreviations of others, which RE2 does not know.
const SHORT_SCRIPTS: [&str; 8] = ["ahom", "cham", "kawi", "lisu", "newa", "thai", "toto", "mro"];

/// Writes one code point so that it stands for itself.
pub(super) fn write_char(out: &mut String, code: u32) {
    match char::from_u32(code) {
        Some(c) if c.is_ascii_alphanumeric() => out.push(c),
        Some(_) => write_code(out, code),
        None => out.push_str(NOTHING),
    }
}

fn write_code(out: &mut String, code: u32) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\x{{{code:X}}}");
}

/// `[...]` at the beginning of `text`.
pub(super) fn parse_class(text: &str, flags: Flags) -> Parsed<'_, String> {
    let mut rest = &text[1..];
    let mut out = String::from(if flags.fold { "(?i:[" } else { "[" });
    if let Some(after) = rest.strip_prefix('^') {
        out.push('^');
        rest = after;
    }
    let mut first = true;
    while first || !rest.starts_with(']') {
        first = false;
        if let Some((name, after)) = parse_posix(rest)? {
            out.push_str(&name);
            rest = after;
        } else if let Some((class, after)) = parse_class_escape(rest)? {
            out.push_str(&class);
            rest = after;
        } else {
            rest = parse_range(rest, text, &mut out)?;
        }
    }
    out.push(']');
    if flags.fold {
        out.push(')');
    }
    Ok((out, &rest[1..]))
}

/// A single character or `a-z` inside a class.
fn parse_range<'a>(text: &'a str, class: &str, out: &mut String) -> Result<&'a str, PatternError> {
    let (low, mut rest) = parse_class_char(text, class)?;
    let mut high = low;
    // A dash before the closing bracket is a dash.
    if rest.len() >= 2 && rest.starts_with('-') && !rest[1..].starts_with(']') {
        (high, rest) = parse_class_char(&rest[1..], class)?;
        if high < low {
            return Err(PatternError::new("invalid character class range", &text[..text.len() - rest.len()]));
        }
    }
    write_range(out, low, high);
    Ok(rest)
}

/// A range without the surrogates, which no text can contain.
fn write_range(out: &mut String, low: u32, high: u32) {
    let low = if (0xd800..0xe000).contains(&low) { 0xe000 } else { low };
    let high = if (0xd800..0xe000).contains(&high) { 0xd7ff } else { high };
    if low > high {
        out.push_str(NOTHING);
        return;
    }
    write_code(out, low);
    if high > low {
        out.push('-');
        write_code(out, high);
    }
}

fn parse_class_char<'a>(text: &'a str, class: &str) -> Parsed<'a, u32> {
    match text.chars().next() {
        None => Err(PatternError::new("missing closing ]", class)),
        Some('\\') => parse_escape(text),
        Some(c) => Ok((c as u32, &text[c.len_utf8()..])),
    }
}

/// `[:alpha:]` or `[:^alpha:]`
fn parse_posix(text: &str) -> Result<Option<(String, &str)>, PatternError> {
    let Some(inner) = text.strip_prefix("[:") else { return Ok(None) };
    let Some(end) = inner.find(":]") else { return Ok(None) };
    let name = &inner[..end];
    if !POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
        return Err(PatternError::new("invalid character class range", &text[..end + 4]));
    }
    Ok(Some((format!("[:{name}:]"), &inner[end + 2..])))
}

/// `\d`, `\pL` and their kind; none if `text` begins with something else.
pub(super) fn parse_class_escape(text: &str) -> Result<Option<(String, &str)>, PatternError> {
    let mut chars = text.chars();
    if chars.next() != Some('\\') {
        return Ok(None);
    }
    let class = match chars.next() {
        Some('d') => "[0-9]",
        Some('D') => "[^0-9]",
        Some('s') => r"[\t\n\f\r ]",
        Some('S') => r"[^\t\n\f\r ]",
        Some('w') => "[0-9A-Za-z_]",
        Some('W') => "[^0-9A-Za-z_]",
        Some(letter @ ('p' | 'P')) => return parse_unicode_class(text, letter == 'P').map(Some),
        _ => return Ok(None),
    };
    Ok(Some((class.to_owned(), chars.as_str())))
}

fn parse_unicode_class(text: &str, negated: bool) -> Parsed<'_, String> {
    let after_letter = &text[2..];
    let wrong = |part: &str| PatternError::new("invalid character class range", part);
    let (name, rest) = if let Some(inner) = after_letter.strip_prefix('{') {
        inner.split_once('}').ok_or_else(|| wrong(text))?
    } else {
        let length = after_letter.chars().next().map_or(0, char::len_utf8);
        after_letter.split_at(length)
    };
    let written = &text[..text.len() - rest.len()];
    let (name, negated) = match name.strip_prefix('^') {
        Some(name) => (name, !negated),
        None => (name, negated),
    };
    let property = unicode_property(name).ok_or_else(|| wrong(written))?;
    let letter = if negated { 'P' } else { 'p' };
    Ok((format!("\\{letter}{{{property}}}"), rest))
}

/// The name that the `regex` crate has for a category or script.
fn unicode_property(name: &str) -> Option<String> {
    let plain: String = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect::<String>().to_ascii_lowercase();
    if plain.is_empty() || !plain.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    if matches!(plain.as_str(), "any" | "ascii" | "assigned") {
        return Some(plain);
    }
    let exists = |property: &str| regex::Regex::new(&format!("\\p{{{property}}}")).is_ok();
    let category = format!("gc={plain}");
    if exists(&category) {
        return Some(category);
    }
    let script = format!("sc={plain}");
    let abbreviated = plain.len() == 4 && !SHORT_SCRIPTS.contains(&plain.as_str());
    (!abbreviated && exists(&script)).then_some(script)
}

/// An escape that stands for one code point.
pub(super) fn parse_escape(text: &str) -> Parsed<'_, u32> {
    let mut chars = text[1..].chars();
    let Some(c) = chars.next() else {
        return Err(PatternError::new("trailing backslash at end of expression", ""));
    };
    let rest = chars.as_str();
    let code = match c {
        'a' => 7,
        'f' => 0xc,
        'n' => 0xa,
        'r' => 0xd,
        't' => 9,
        'v' => 0xb,
        '0' => return Ok(parse_octal(text)),
        // A single digit would be a reference to a group, which RE2 does not have.
        '1'..='7' if rest.starts_with(|c| matches!(c, '0'..='7')) => return Ok(parse_octal(text)),
        'x' => return parse_hex(text),
        _ if c.is_ascii() && !c.is_ascii_alphanumeric() => c as u32,
        _ => return Err(invalid_escape(text, rest)),
    };
    Ok((code, rest))
}

fn invalid_escape(text: &str, rest: &str) -> PatternError {
    PatternError::new("invalid escape sequence", &text[..text.len() - rest.len()])
}

/// Up to three octal digits after the backslash.
fn parse_octal(text: &str) -> (u32, &str) {
    let digits = text[1..].bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let code = text[1..=digits].bytes().fold(0, |code, byte| code * 8 + u32::from(byte - b'0'));
    (code, &text[digits + 1..])
}

/// `\xhh` or `\x{h...}`
fn parse_hex(text: &str) -> Parsed<'_, u32> {
    let mut chars = text[2..].chars();
    let Some(first) = chars.next() else { return Err(invalid_escape(text, "")) };
    if first != '{' {
        let second = chars.next();
        let digits = (first.to_digit(16), second.and_then(|c| c.to_digit(16)));
        let (Some(high), Some(low)) = digits else { return Err(invalid_escape(text, chars.as_str())) };
        return Ok((high * 16 + low, chars.as_str()));
    }
    let (mut code, mut count) = (0u32, 0);
    loop {
        let next = chars.next();
        if next == Some('}') && count > 0 {
            return Ok((code, chars.as_str()));
        }
        let Some(digit) = next.and_then(|c| c.to_digit(16)) else { return Err(invalid_escape(text, chars.as_str())) };
        code = code * 16 + digit;
        count += 1;
        if code > 0x10_ffff {
            return Err(invalid_escape(text, chars.as_str()));
        }
    }
}
