//! `field_matches`: whether a field looks like a pattern.

mod needed;
mod table;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind, go_quote};
use regex::{Regex, RegexBuilder};

use self::needed::Needed;
use self::table::{LONG, Table};
use super::scalar::{Look, Match, On, Test, lints};
use super::{Found, Predicate};
use crate::replace::case::Case;
use crate::replace::path::FieldPath;
use crate::replace::problem::{Code, ParameterProblem};
use crate::replace::step::Step;
use crate::replace::truth::Truth;

/// How long a pattern may be.
const LONGEST_PATTERN: usize = 1024;
/// How much memory it may need.
const LARGEST: usize = 1 << 20;

/// `predicate "field_matches" { … }`
#[derive(Clone)]
pub struct FieldMatches {
    /// Which field.
    pub field: FieldPath,
    /// Where it is looked at. None if nothing is said, which means the old object.
    pub on: Option<On>,
    /// How many of several values must match.
    pub matching: Match,
    text: TextPattern,
    regex: Regex,
    needed: Needed,
    case_insensitive: bool,
    /// For long texts, made when the first one comes. None if there is no such table.
    table: OnceLock<Option<Arc<Table>>>,
}

/// The pattern may tell what a secret is like, so it is not shown.
impl fmt::Debug for FieldMatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FieldMatches").field("field", &self.field).finish_non_exhaustive()
    }
}

/// A pattern for texts, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPattern {
    /// A regular expression, which matches anywhere in the text.
    Regex(String),
    /// A glob with `*` and `?`, which matches all of the text.
    Glob(String),
}

impl TextPattern {
    fn parameter(&self) -> &'static str {
        match self {
            TextPattern::Regex(_) => "pattern",
            TextPattern::Glob(_) => "glob",
        }
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        let (TextPattern::Regex(text) | TextPattern::Glob(text)) = self;
        text
    }

    /// As a regular expression.
    fn expression(&self) -> Cow<'_, str> {
        match self {
            TextPattern::Regex(text) => Cow::Borrowed(text),
            TextPattern::Glob(text) => Cow::Owned(glob_to_regex(text)),
        }
    }

    fn compile(&self, case_insensitive: bool) -> Result<(Regex, Needed), ParameterProblem> {
        let limit = |detail: String| ParameterProblem::new(1119, self.parameter(), "Pattern is too large", detail);
        if self.as_str().len() > LONGEST_PATTERN {
            return Err(limit(format!("A pattern must not be longer than {LONGEST_PATTERN} bytes.")));
        }
        if let TextPattern::Regex(text) = self {
            well_formed(text)?;
        }
        let regex = self.expression();
        let built = RegexBuilder::new(&regex).case_insensitive(case_insensitive).size_limit(LARGEST).build();
        let needed = Needed::of(&regex, case_insensitive);
        built.map(|built| (built, needed)).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                limit("This pattern needs too much memory, most likely because of large repetitions.".to_owned())
            }
            other => ParameterProblem::new(1109, self.parameter(), "Bad regular expression", other.to_string()),
        })
    }
}

/// Whether a text is a regular expression; says where it is not.
fn well_formed(text: &str) -> Result<(), ParameterProblem> {
    let (reason, span) = match regex_syntax::Parser::new().parse(text) {
        Ok(_) => return Ok(()),
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), *error.span()),
        Err(regex_syntax::Error::Translate(error)) => (error.kind().to_string(), *error.span()),
        Err(other) => return Err(ParameterProblem::new(1109, "pattern", "Bad regular expression", other.to_string())),
    };
    let detail = format!("This is not a regular expression: {reason}, at offset {}.", span.start.offset);
    let problem = ParameterProblem::new(1109, "pattern", "Bad regular expression", detail);
    Err(ParameterProblem { range: Some((span.start.offset, span.end.offset)), ..problem })
}

fn glob_to_regex(glob: &str) -> String {
    let mut regex = String::from("(?s)^");
    for c in glob.chars() {
        match c {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            c => regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    regex.push('$');
    regex
}

impl FieldMatches {
    /// Whether a field of the old object matches.
    pub fn new(field: FieldPath, text: TextPattern, case_insensitive: bool) -> Result<Self, ParameterProblem> {
        let (regex, needed) = text.compile(case_insensitive)?;
        let (on, matching, table) = (None, Match::default(), OnceLock::new());
        Ok(Self { field, on, matching, text, regex, needed, case_insensitive, table })
    }

    /// The pattern.
    pub fn text(&self) -> &TextPattern {
        &self.text
    }

    fn is_match(&self, text: &str) -> bool {
        if self.needed.is_missing(text) {
            return false;
        }
        let table = if text.len() < LONG { None } else { self.table() };
        table.map_or_else(|| self.regex.is_match(text), |table| table.is_match(text.as_bytes()))
    }

    fn table(&self) -> Option<&Table> {
        let make = || Table::of(&self.text.expression(), self.case_insensitive).map(Arc::new);
        self.table.get_or_init(make).as_deref()
    }

    fn no_text(&self, what: &str) -> Diagnostic {
        let detail = format!(
            "A pattern is for texts, numbers and bools, and {} is {}.",
            self.field,
            super::field_equals::article(what)
        );
        let diagnostic = Code(1104).error("Value does not fit the field", detail);
        self.field.place.map_or(diagnostic.clone(), |place| diagnostic.at(place))
    }
}

impl Predicate for FieldMatches {
    fn kind(&self) -> &'static str {
        "field_matches"
    }

    fn reads(&self) -> Vec<&FieldPath> {
        vec![&self.field]
    }

    fn check(&self, schema: &Schema) -> Vec<Diagnostic> {
        let mut found = self.field.check(schema);
        let ty = self.field.ty(schema).filter(|ty| !ty.is_primitive() && *ty != Type::Dynamic);
        found.extend(ty.map(|ty| self.no_text(&ty.friendly_name())));
        found
    }

    fn lints(&self, schema: Option<&Schema>) -> Vec<Diagnostic> {
        lints(&self.field, self.on, schema)
    }

    fn ask(&self, case: &Case<'_>, wants_steps: bool) -> Result<Found, Diagnostics> {
        let on = self.on.unwrap_or_default();
        Look { field: &self.field, on, matching: self.matching }.ask(case, self, wants_steps)
    }
}

impl Test for FieldMatches {
    fn test(&self, value: &Value) -> Result<Truth, Diagnostics> {
        match value.kind() {
            ValueKind::Null => Ok(Truth::False),
            ValueKind::Unknown(_) => Ok(Truth::Unknown),
            ValueKind::String(text) => Ok(self.is_match(text).into()),
            ValueKind::Bool(_) | ValueKind::Number(_) => {
                let text = convert(value, &Type::String).ok();
                Ok(text.as_ref().and_then(Value::as_str).is_some_and(|text| self.is_match(text)).into())
            }
            _ => Err(self.no_text(&value.friendly_type_name()).into()),
        }
    }

    fn told(&self, step: Step, truth: Truth) -> Step {
        let words = match truth {
            Truth::True => "matches",
            Truth::False => "does not match",
            Truth::Unknown => "may match",
        };
        step.and_text(format!(", {words} {}", go_quote(self.text.as_str())))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use std::time::Duration;

    use groma_model::mark::Mark;

    use super::*;
    use crate::replace::secrecy::sensitive_reads;
    use crate::replace::testing::{Scene, boxed, disks, items, path, sim_box};

    fn regex(field: &str, pattern: &str) -> FieldMatches {
        FieldMatches::new(path(field), TextPattern::Regex(pattern.to_owned()), false).unwrap()
    }

    fn told(predicate: &FieldMatches, old: Value) -> (Truth, Vec<String>) {
        let scene = Scene::change(old, boxed([]));
        let found = predicate.ask(&scene.case(), true).unwrap();
        assert_eq!(predicate.ask(&scene.case(), false).unwrap().truth, found.truth);
        (found.truth, found.steps.iter().map(Step::to_string).collect())
    }

    #[test]
    fn texts_are_searched_and_globs_are_anchored() {
        let named = |name: &str| boxed([("name", name.into())]);
        let glob = |glob: &str, any_case, name| {
            let predicate = FieldMatches::new(path("name"), TextPattern::Glob(glob.to_owned()), any_case).unwrap();
            told(&predicate, named(name)).0 == Truth::True
        };
        let found = told(&regex("name", "^prod-"), named("prod-1"));
        assert_eq!(found, (Truth::True, vec![r#"old: "prod-1", matches "^prod-""#.to_owned()]));
        assert_eq!(told(&regex("name", "od"), named("prod-1")).0, Truth::True);
        assert!(glob("prod-*", false, "prod-1") && glob("prod-?", false, "prod-1") && glob("p*-\n*", false, "p\n-\n1"));
        assert!(
            !glob("prod", false, "prod-1") && !glob("prod-?", false, "prod-12") && !glob("p.od-1", false, "prod-1")
        );
        assert!(glob("PROD-[*", true, "prod-[1") && !glob("PROD-*", false, "prod-1"));
        let found = told(&regex("name", "x"), boxed([]));
        assert_eq!(found, (Truth::False, vec![r#"old: null, does not match "x""#.to_owned()]));
        let any_case = FieldMatches::new(path("name"), TextPattern::Regex("PROD".to_owned()), true).unwrap();
        assert_eq!(told(&any_case, named("prod")).0, Truth::True);
    }

    #[test]
    fn numbers_and_bools_are_texts_and_collections_are_not() {
        let old = || {
            boxed([("size", 100.into()), ("active", true.into()), ("blob", items([1])), ("disk", disks(["a", "b"]))])
        };
        assert_eq!(told(&regex("size", "^1.0$"), old()).0, Truth::True);
        assert_eq!(told(&regex("active", "tru"), old()).0, Truth::True);
        assert_eq!(told(&regex("disk[*].source", "b"), old()).0, Truth::True);
        assert_eq!(told(&regex("zone", "b"), boxed([("zone", Value::unknown(Type::String))])).0, Truth::Unknown);
        let found = regex("ports", "1").check(sim_box());
        assert_eq!(found[0].summary, "Value does not fit the field (GR1104)");
        assert_eq!(found[0].detail, "A pattern is for texts, numbers and bools, and ports is a list of number.");
        assert_eq!(regex("disk.source", "1").check(sim_box()), []);
        let scene = Scene::change(old(), boxed([]));
        let failed = regex("blob", "1").ask(&scene.case(), false).unwrap_err();
        assert!(failed.iter().any(|diagnostic| diagnostic.summary.contains("GR1104")));
    }

    #[test]
    fn bad_and_large_patterns_are_refused() {
        let problem = |pattern: &str| {
            let text = TextPattern::Regex(pattern.to_owned());
            let problem = FieldMatches::new(path("name"), text, false).unwrap_err();
            (problem.code.0, problem.range.map(|range| range.0))
        };
        assert_eq!(problem("("), (1109, Some(0)));
        assert_eq!(problem("ab[z-a]"), (1109, Some(3)));
        assert_eq!(problem(r"x\p{Nonsense}"), (1109, Some(1)));
        assert_eq!(problem("(?=a)"), (1109, Some(0)));
        assert_eq!(problem(&"a".repeat(2048)), (1119, None));
        assert_eq!(problem(r"\w{1000}{1000}"), (1119, None));
        assert!(FieldMatches::new(path("name"), TextPattern::Glob("*".repeat(2048)), false).is_err());
        let nested = "(".repeat(500) + &")".repeat(500);
        assert_eq!(problem(&nested).0, 1109);
    }

    #[test]
    fn no_pattern_takes_long() {
        let predicate = regex("name", "(a+)+$");
        let scene = Scene::change(boxed([("name", Value::from("a".repeat(1 << 20) + "b"))]), boxed([]));
        #[expect(clippy::disallowed_methods, reason = "a test measures")]
        let start = std::time::Instant::now();
        assert_eq!(predicate.ask(&scene.case(), false).unwrap().truth, Truth::False);
        // Linear time takes a few milliseconds; anything else would not end.
        assert!(start.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn secrets_and_patterns_for_them_are_not_shown() {
        let predicate = regex("labels[\"key\"]", "hunter");
        let secret = Value::from("hunter2").mark(Mark::Sensitive);
        let labels = Value::object([("key", secret), ("other", "plain".into())]);
        let scene = Scene::change(boxed([("labels", labels)]), boxed([]));
        assert_eq!(sensitive_reads(&predicate, &scene.case()).len(), 1);
        assert_eq!(told(&predicate, scene.old.clone()), (Truth::True, vec!["old: (sensitive)".to_owned()]));
        let other = regex("labels[\"other\"]", "lain");
        assert!(sensitive_reads(&other, &scene.case()).is_empty());
        assert_eq!(told(&other, scene.old.clone()).1, [r#"old: "plain", matches "lain""#]);
    }
}
