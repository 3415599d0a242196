//! `regex` and `regexall`, and the regular expressions of `replace`: RE2 semantics on top of the `regex` crate.

mod class;
mod translate;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use groma_model::ty::Type;
use groma_model::value::Value;
use regex::{Captures, Regex, RegexBuilder};

use super::support::{MAX_TEXT, Outcome, text, text_param};
use super::{CallContext, Function, FunctionError};
use translate::{CaptureGroup, PatternError, translate};

/// Memory that a compiled pattern may take.
const COMPILED_LIMIT: usize = 256 << 20;
/// Patterns kept compiled per thread: a pattern in a `for` expression is compiled once.
const CACHED: usize = 64;

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let params = || {
        vec![
            text_param("pattern").about("The regular expression, in RE2 syntax."),
            text_param("string").about("The text to search in."),
        ]
    };
    vec![
        Function::new(
            "regex",
            "Finds the first match of a regular expression. Without groups it gives the matching text, with unnamed \
             groups a tuple of what they matched, with named groups an object.",
            params(),
            Type::Dynamic,
            regex_first,
        )
        .typed(first_type),
        Function::new(
            "regexall",
            "Finds all matches of a regular expression that do not overlap, and gives a list of what `regex` would give for each.",
            params(),
            Type::list(Type::Dynamic),
            regex_all,
        )
        .typed(all_type),
    ]
}

/// A pattern ready to be used.
struct Pattern {
    regex: Regex,
    groups: Vec<CaptureGroup>,
}

impl Pattern {
    fn compile(pattern: &str) -> Result<Self, PatternError> {
        let translated = translate(pattern)?;
        let regex = RegexBuilder::new(&translated.pattern)
            .size_limit(COMPILED_LIMIT)
            .nest_limit(u32::MAX)
            .build()
            .map_err(|_| PatternError::new("expression too large", pattern))?;
        Ok(Self { regex, groups: translated.groups })
    }

    /// What a match gives: a string, a tuple or an object.
    fn result_type(&self) -> Result<Type, FunctionError> {
        let names = || self.groups.iter().filter_map(|group| group.name.as_deref());
        if self.groups.is_empty() {
            Ok(Type::String)
        } else if names().count() == 0 {
            Ok(Type::tuple(vec![Type::String; self.groups.len()]))
        } else if names().count() == self.groups.len() {
            Ok(Type::object(names().map(|name| (name, Type::String))))
        } else {
            let message = "invalid regexp pattern: cannot mix both named and unnamed capture groups";
            Err(FunctionError::arg(0, message))
        }
    }

    fn result(&self, captures: &Captures<'_>) -> Value {
        let matched = |number: usize| match captures.get(number) {
            Some(found) => Value::string(found.as_str()),
            None => Value::null(Type::String),
        };
        match self.groups.first() {
            None => matched(0),
            Some(CaptureGroup { name: None, .. }) => {
                Value::tuple(self.groups.iter().map(|group| matched(group.number)).collect())
            }
            Some(_) => Value::object(
                self.groups.iter().filter_map(|group| Some((group.name.as_deref()?, matched(group.number)))),
            ),
        }
    }
}

thread_local! {
    static COMPILED: RefCell<BTreeMap<String, Rc<Pattern>>> = const { RefCell::new(BTreeMap::new()) };
}

fn compiled(pattern: &str) -> Result<Rc<Pattern>, PatternError> {
    COMPILED.with_borrow_mut(|cache| {
        if let Some(found) = cache.get(pattern) {
            return Ok(found.clone());
        }
        let fresh = Rc::new(Pattern::compile(pattern)?);
        if cache.len() >= CACHED {
            cache.clear();
        }
        cache.insert(pattern.to_owned(), fresh.clone());
        Ok(fresh)
    })
}

fn compiled_argument(args: &[Value]) -> Result<Rc<Pattern>, FunctionError> {
    compiled(text(args, 0))
        .map_err(|error| FunctionError::arg(0, format!("invalid regexp pattern: {} in {}", error.problem, error.part)))
}

fn first_type(args: &[Value]) -> Result<Type, FunctionError> {
    if !args[0].is_known() {
        return Ok(Type::Dynamic);
    }
    compiled_argument(args)?.result_type()
}

fn all_type(args: &[Value]) -> Result<Type, FunctionError> {
    first_type(args).map(Type::list)
}

fn regex_first(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let pattern = compiled_argument(args)?;
    match pattern.regex.captures(text(args, 1)) {
        Some(captures) => Ok(pattern.result(&captures)),
        None => Err(FunctionError::new("pattern did not match any part of the given string")),
    }
}

fn regex_all(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let pattern = compiled_argument(args)?;
    let found = pattern.regex.captures_iter(text(args, 1)).map(|captures| pattern.result(&captures)).collect();
    Ok(Value::list(pattern.result_type()?, found))
}

/// Replaces every match. `$1`, `$name` and `${name}` in the replacement stand for groups, `$$` for a dollar sign.
pub(super) fn replace_all(whole: &str, pattern: &str, replacement: &str) -> Result<String, FunctionError> {
    let pattern = compiled(pattern)
        .map_err(|error| FunctionError::new(format!("error parsing regexp: {}: `{}`", error.problem, error.part)))?;
    let mut out = String::with_capacity(whole.len());
    let mut end = 0;
    for captures in pattern.regex.captures_iter(whole) {
        let Some(found) = captures.get(0) else { continue };
        out.push_str(&whole[end..found.start()]);
        expand(&mut out, replacement, &captures, &pattern.groups);
        end = found.end();
        if out.len() > MAX_TEXT {
            return Err(FunctionError::new("the result is too long"));
        }
    }
    out.push_str(&whole[end..]);
    Ok(out)
}

fn expand(out: &mut String, template: &str, captures: &Captures<'_>, groups: &[CaptureGroup]) {
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((name, after)) = reference(rest) {
            if let Some(found) = matched_group(name, captures, groups) {
                out.push_str(found.as_str());
            }
            rest = after;
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
}

/// `name` or `{name}` and what follows.
fn reference(text: &str) -> Option<(&str, &str)> {
    let (inner, braced) = match text.strip_prefix('{') {
        Some(inner) => (inner, true),
        None => (text, false),
    };
    let end = inner.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    if name.is_empty() {
        return None;
    }
    let rest = if braced { rest.strip_prefix('}')? } else { rest };
    Some((name, rest))
}

/// What a group matched, by number or by name. Of groups of the same name the first that matched counts.
fn matched_group<'t>(name: &str, captures: &Captures<'t>, groups: &[CaptureGroup]) -> Option<regex::Match<'t>> {
    if name == "0" {
        return captures.get(0);
    }
    if name.bytes().all(|byte| byte.is_ascii_digit()) && !name.starts_with('0') {
        let number: usize = name.parse().ok()?;
        return captures.get(groups.get(number - 1)?.number);
    }
    let mut same_name = groups.iter().filter(|group| group.name.as_deref() == Some(name));
    same_name.find_map(|group| captures.get(group.number))
}

#[cfg(test)]
mod tests;
