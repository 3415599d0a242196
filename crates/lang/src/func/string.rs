//! Functions on text: case, trimming, splitting and joining, searching. Regular expressions and `format` have their own modules.

#![allow(clippy::unnecessary_wraps, reason = "all functions share one signature")]

mod case;

use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};
use unicode_segmentation::UnicodeSegmentation;

use super::regex::replace_all;
use super::support::{MAX_TEXT, Outcome, elements, integer, number_param, text, text_param};
use super::{CallContext, Function, FunctionError, Param};

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let mut all = case_functions();
    all.extend(trim_functions());
    all.extend(search_functions());
    all.extend(assembly_functions());
    all
}

fn case_functions() -> Vec<Function> {
    let str = || vec![text_param("str").dynamic().about("The text to change.")];
    vec![
        Function::new("lower", "Turns every letter into its lower-case form.", str(), Type::String, |_, args| {
            Ok(Value::string(case::lower(text(args, 0))))
        }),
        Function::new("upper", "Turns every letter into its upper-case form.", str(), Type::String, |_, args| {
            Ok(Value::string(case::upper(text(args, 0))))
        }),
        Function::new(
            "title",
            "Turns the first letter of every word into its title-case form.",
            vec![text_param("str").about("The text to change.")],
            Type::String,
            |_, args| Ok(Value::string(case::title(text(args, 0)))),
        ),
        Function::new("strrev", "Reverses the order of the characters.", str(), Type::String, |_, args| {
            Ok(Value::string(text(args, 0).graphemes(true).rev().collect::<String>()))
        }),
    ]
}

fn trim_functions() -> Vec<Function> {
    let two = |name: &'static str, about: &'static str| {
        vec![text_param("str").about("The text to trim."), text_param(name).about(about)]
    };
    let one = || vec![text_param("str").about("The text to trim.")];
    vec![
        Function::new("chomp", "Removes line ends at the end of a text.", one(), Type::String, |_, args| {
            Ok(Value::string(text(args, 0).trim_end_matches(['\r', '\n'])))
        }),
        Function::new("trimspace", "Removes white space at both ends.", one(), Type::String, |_, args| {
            Ok(Value::string(text(args, 0).trim()))
        }),
        Function::new(
            "trim",
            "Removes the given characters at both ends.",
            two("cutset", "Every character in it is removed."),
            Type::String,
            |_, args| {
                let cutset = text(args, 1);
                Ok(Value::string(text(args, 0).trim_matches(|c| cutset.contains(c))))
            },
        ),
        Function::new(
            "trimprefix",
            "Removes a prefix, if the text begins with it.",
            two("prefix", "The prefix to remove."),
            Type::String,
            |_, args| {
                let whole = text(args, 0);
                Ok(Value::string(whole.strip_prefix(text(args, 1)).unwrap_or(whole)))
            },
        ),
        Function::new(
            "trimsuffix",
            "Removes a suffix, if the text ends with it.",
            two("suffix", "The suffix to remove."),
            Type::String,
            |_, args| {
                let whole = text(args, 0);
                Ok(Value::string(whole.strip_suffix(text(args, 1)).unwrap_or(whole)))
            },
        ),
    ]
}

fn search_functions() -> Vec<Function> {
    let str = || text_param("str").about("The text to look at.");
    vec![
        Function::new(
            "startswith",
            "Tells whether a text begins with a prefix.",
            vec![str().unknown(), text_param("prefix").about("The prefix to look for.")],
            Type::Bool,
            starts_with,
        ),
        Function::new(
            "endswith",
            "Tells whether a text ends with a suffix.",
            vec![str(), text_param("suffix").about("The suffix to look for.")],
            Type::Bool,
            |_, args| Ok(Value::bool(text(args, 0).ends_with(text(args, 1)))),
        ),
        Function::new(
            "strcontains",
            "Tells whether a text contains another one.",
            vec![str(), text_param("substr").about("The text to look for.")],
            Type::Bool,
            |_, args| Ok(Value::bool(text(args, 0).contains(text(args, 1)))),
        )
        .or_null(),
        Function::new(
            "replace",
            "Replaces every occurrence of one text by another. A search text between slashes is a regular expression.",
            vec![
                str(),
                text_param("substr").about("What to search for."),
                text_param("replace").about("What to put in its place; may refer to groups of the expression."),
            ],
            Type::String,
            replace,
        ),
        Function::new(
            "substr",
            "Takes a part out of a text, by position and length in characters.",
            vec![
                str().dynamic(),
                number_param("offset").dynamic().about("Where to start; counted from the end if negative."),
                number_param("length").dynamic().about("How many characters to take; -1 for all that follow."),
            ],
            Type::String,
            substr,
        ),
    ]
}

fn assembly_functions() -> Vec<Function> {
    vec![
        Function::new(
            "indent",
            "Puts spaces before every line but the first.",
            vec![
                number_param("spaces").about("How many spaces."),
                text_param("str").about("The text whose lines move."),
            ],
            Type::String,
            indent,
        ),
        Function::new(
            "join",
            "Joins the elements of one or more lists of strings, with a separator between them.",
            vec![text_param("separator").about("What to put between two elements.")],
            Type::String,
            join,
        )
        .rest(Param::new("lists", Type::list(Type::String)).about("The lists whose elements to join.")),
        Function::new(
            "split",
            "Cuts a text at every occurrence of a separator.",
            vec![text_param("separator").about("Where to cut."), text_param("str").about("The text to cut.")],
            Type::list(Type::String),
            split,
        ),
    ]
}

fn starts_with(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let prefix = text(args, 1);
    let ValueKind::Unknown(refinement) = args[0].kind() else {
        return Ok(Value::bool(text(args, 0).starts_with(prefix)));
    };
    // What is known of the beginning may be enough for an answer.
    let known = refinement.prefix.as_deref().unwrap_or_default();
    if prefix.is_empty() || known.starts_with(prefix) {
        return Ok(Value::bool(true));
    }
    if known.len() >= prefix.len() {
        return Ok(Value::bool(false));
    }
    Ok(Value::unknown(Type::Bool))
}

fn replace(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let (whole, search, replacement) = (text(args, 0), text(args, 1), text(args, 2));
    if search.len() > 1
        && let Some(pattern) = search.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'))
    {
        return replace_all(whole, pattern, replacement).map(Value::string);
    }
    let growth = replacement.len().saturating_sub(search.len());
    if growth.saturating_mul(whole.len() / search.len().max(1) + 1) > MAX_TEXT
        && growth.saturating_mul(whole.matches(search).count()) > MAX_TEXT
    {
        return Err(FunctionError::new("the result is too long"));
    }
    Ok(Value::string(whole.replace(search, replacement)))
}

fn substr(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let whole = text(args, 0);
    let (mut offset, mut length) = (integer(args, 1)?, integer(args, 2)?);
    if offset < 0 {
        offset = offset.saturating_add(whole.graphemes(true).count() as i64);
        // Compatible with a quirk: counted from the end, a length of zero means all that follows.
        length = if length == 0 { -1 } else { length };
    }
    let mut clusters = whole.grapheme_indices(true);
    let start = match usize::try_from(offset) {
        Ok(skip) => clusters.nth(skip).map_or(whole.len(), |(at, _)| at),
        Err(_) => 0,
    };
    let rest = &whole[start..];
    let Ok(length) = usize::try_from(length) else { return Ok(Value::string(rest)) };
    let end = rest.grapheme_indices(true).nth(length).map_or(rest.len(), |(at, _)| at);
    Ok(Value::string(&rest[..end]))
}

fn indent(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let spaces = integer(args, 0)?;
    let whole = text(args, 1);
    let Ok(spaces) = usize::try_from(spaces) else {
        return Err(FunctionError::arg(0, "the number of spaces must not be negative"));
    };
    let lines = whole.matches('\n').count();
    if spaces.saturating_mul(lines) > MAX_TEXT {
        return Err(FunctionError::arg(0, "the result is too long"));
    }
    if lines == 0 {
        return Ok(args[1].clone());
    }
    Ok(Value::string(whole.replace('\n', &format!("\n{}", " ".repeat(spaces)))))
}

fn join(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let lists = &args[1..];
    if lists.is_empty() {
        return Err(FunctionError::new("at least one list is required"));
    }
    if lists.iter().any(|list| !list.is_wholly_known()) {
        return Ok(Value::unknown(Type::String));
    }
    let separator = text(args, 0);
    let mut joined = String::new();
    let mut first = true;
    for list_at in 1..args.len() {
        for (at, item) in elements(args, list_at).iter().enumerate() {
            let Some(item) = item.as_str() else {
                let place = if lists.len() > 1 { format!(" of list {list_at}") } else { String::new() };
                let message = format!("element {at}{place} is null; cannot concatenate null values");
                return Err(FunctionError::arg(list_at, message));
            };
            if !first {
                joined.push_str(separator);
            }
            first = false;
            joined.push_str(item);
            if joined.len() > MAX_TEXT {
                return Err(FunctionError::new("the result is too long"));
            }
        }
    }
    Ok(Value::string(joined))
}

fn split(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let (separator, whole) = (text(args, 0), text(args, 1));
    if separator.is_empty() {
        return Ok(Value::strings(whole.chars().map(String::from)));
    }
    Ok(Value::strings(whole.split(separator)))
}

#[cfg(test)]
mod tests {
    use super::super::support::testing::{call, string_of};
    use super::*;
    use groma_model::value::Refinement;

    #[test]
    fn texts_become_texts() {
        let cases: &[(&str, &[&str], &str)] = &[
            ("lower", &["HeLLO İ ΑΣ"], "hello i ας"),
            ("upper", &["straße ŉ ᾳ ǆ"], "STRAßE ŉ ᾼ Ǆ"),
            ("title", &["hello wOrld foo-bar it's a_b ǆ"], "Hello WOrld Foo-Bar It'S A_b ǅ"),
            ("strrev", &["he\u{301}llo"], "olle\u{301}h"),
            ("chomp", &["a\r\nb\r\n\n\r"], "a\r\nb"),
            ("trimspace", &["\u{a0} a b\u{2003}\n"], "a b"),
            ("trim", &["?!hello?!", "!?"], "hello"),
            ("trim", &["x", ""], "x"),
            ("trimprefix", &["aab", "a"], "ab"),
            ("trimsuffix", &["abb", "b"], "ab"),
            ("replace", &["1 + 2 + 3", "+", "-"], "1 - 2 - 3"),
            ("replace", &["ab", "", "-"], "-a-b-"),
            ("replace", &["hello world", "/w.*d/", "everybody"], "hello everybody"),
            ("replace", &["a/b", "/", "-"], "a-b"),
        ];
        for (name, args, expected) in cases {
            let args: Vec<Value> = args.iter().map(|text| Value::string(*text)).collect();
            // The last letter of ΑΣ has no final form here: letters are mapped one by one.
            let expected = expected.replace('ς', "σ");
            assert_eq!(string_of(call(functions, name, &args)), Value::string(expected).as_str().unwrap(), "{name}");
        }
    }

    #[test]
    fn substr_counts_characters() {
        let cases = [
            ("hello", 1, 2, "el"),
            ("hello", 1, -1, "ello"),
            ("hello", -3, 2, "ll"),
            ("hello", -3, 0, "llo"),
            ("hello", -30, 2, "he"),
            ("hello", 0, 0, ""),
            ("hello", 5, 1, ""),
            ("hello", 50, 1, ""),
            ("hello", 0, 50, "hello"),
            ("🤷🏽‍♀️abc", 1, 1, "a"),
        ];
        for (whole, offset, length, expected) in cases {
            let args = [whole.into(), Value::number(i64::from(offset)), Value::number(i64::from(length))];
            assert_eq!(string_of(call(functions, "substr", &args)), expected, "{whole} {offset} {length}");
        }
        let args = ["a".into(), Value::number(groma_model::number::Number::parse("0.5").unwrap()), 1.into()];
        assert_eq!(
            string_of(call(functions, "substr", &args)),
            "error: value must be a whole number, between -9223372036854775808 and 9223372036854775807"
        );
    }

    #[test]
    fn lists_are_joined_and_split() {
        let list = |items: &[&str]| Value::strings(items.iter().copied());
        let join = |args: &[Value]| string_of(call(functions, "join", args));
        assert_eq!(join(&[",".into(), list(&["a", "b"]), list(&["c"])]), "a,b,c");
        assert_eq!(join(&[",".into(), list(&[])]), "");
        assert_eq!(join(&[",".into()]), "error: at least one list is required");
        let with_null = Value::list(Type::String, vec!["a".into(), Value::null(Type::String)]);
        assert_eq!(join(&[",".into(), with_null.clone()]), "error: element 1 is null; cannot concatenate null values");
        assert_eq!(
            join(&[",".into(), list(&[]), with_null]),
            "error: element 1 of list 2 is null; cannot concatenate null values"
        );
        let split = |separator: &str, whole: &str| call(functions, "split", &[separator.into(), whole.into()]).unwrap();
        assert_eq!(split(",", "a,,b"), list(&["a", "", "b"]));
        assert_eq!(split(",", ""), list(&[""]));
        assert_eq!(split("", "añ"), list(&["a", "ñ"]));
        assert_eq!(split("", ""), list(&[]));
    }

    #[test]
    fn a_known_prefix_answers() {
        let unknown = Value::unknown_refined(Type::String, Refinement::prefix("https://"));
        let starts = |prefix: &str| call(functions, "startswith", &[unknown.clone(), prefix.into()]).unwrap();
        assert_eq!(starts(""), Value::bool(true));
        assert_eq!(starts("https"), Value::bool(true));
        assert_eq!(starts("ftp"), Value::bool(false));
        assert_eq!(starts("https://x"), Value::unknown(Type::Bool));
    }

    #[test]
    fn indent_leaves_the_first_line() {
        let indent = |spaces: i64, text: &str| string_of(call(functions, "indent", &[spaces.into(), text.into()]));
        assert_eq!(indent(2, "a\nb\n"), "a\n  b\n  ");
        assert!(indent(-1, "a").starts_with("error: "));
        assert!(indent(i64::MAX, "a\nb").starts_with("error: "));
    }
}
