//! Rules about replacements from texts: what is understood, and what is wrong with them, with the text that is marked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
#![allow(clippy::needless_raw_string_hashes, reason = "the tool that updates snapshots writes hashes")]

mod examples;
mod limits;
mod lints;
mod mistakes;
mod schemas;
mod twins;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;

use crate::replace::ReplaceRules;
use crate::replace::rule::Logic;
use crate::tests::Loaded;

/// A configuration with boxes, and one with a module that has one, too.
const MAIN: &str = "resource sim_box a { }\nresource sim_box b { count = 2 }\nresource sim_user u { }\n\
                    module m {\n source = \"./m\"\n}\n";
const MODULE: &str = "resource sim_box inner { }\n";

/// The rules of a file in the root module.
fn load(text: &str) -> Loaded {
    load_files(&[("a.groma.hcl", text)])
}

fn load_files(files: &[(&str, &str)]) -> Loaded {
    let mut all = vec![("main.tf", MAIN), ("m/main.tf", MODULE)];
    all.extend(files);
    Loaded::of(&all)
}

/// Rules without a mistake.
fn rules(text: &str) -> ReplaceRules {
    let loaded = load(text);
    assert_eq!(told(&loaded.map, &loaded.found), "");
    loaded.rules.replace
}

/// Everything that is wrong with a file, as people see it.
fn mistakes(text: &str) -> String {
    let loaded = load(text);
    told(&loaded.map, &loaded.found)
}

/// Mistakes in a rule about boxes with these contents.
fn in_rule(contents: &str) -> String {
    mistakes(&format!("replace_rule \"r\" {{\n  resource = \"sim_box\"\n{contents}\n}}\n"))
}

fn told(map: &SourceMap, found: &Diagnostics) -> String {
    let mut found = found.clone();
    found.sort(map);
    found.iter().map(|diagnostic| one(map, diagnostic)).collect()
}

/// Place, summary, the line with what is marked, and the words.
fn one(map: &SourceMap, diagnostic: &Diagnostic) -> String {
    let span = diagnostic.subject.unwrap();
    let (start, end) = (map.start(span), map.end(span));
    let line = map.file(span.file).line(start.line);
    let width =
        if start.line == end.line { end.column - start.column } else { line.chars().count() as u32 + 1 - start.column };
    let marks = "^".repeat(width.max(1) as usize);
    let severity = if diagnostic.is_error() { "" } else { "warning: " };
    let name = map.file(span.file).name();
    let mut told = format!(
        "{severity}{name}:{}:{}: {}\n  {line}\n  {}{marks}\n  {}\n",
        start.line,
        start.column,
        diagnostic.summary,
        " ".repeat(start.column as usize - 1),
        diagnostic.detail
    );
    told.extend(diagnostic.hints.iter().map(|hint| format!("  {hint}\n")));
    told
}

/// A condition in one line.
fn shown(logic: &Logic) -> String {
    let all = |parts: &[Logic]| parts.iter().map(shown).collect::<Vec<_>>().join(" ");
    match logic {
        Logic::All(parts) => format!("(all {})", all(parts)),
        Logic::Any(parts) => format!("(any {})", all(parts)),
        Logic::NoneOf(parts) => format!("(none {})", all(parts)),
        Logic::Constant(value) => value.to_string(),
        Logic::Named(named) => format!("{}:{}", named.id, shown(&named.logic)),
        Logic::Ask(question) => format!("{}={}", question.id, question.predicate.kind()),
    }
}

/// The condition of the only rule of a file.
fn condition(text: &str) -> String {
    let rules = rules(text);
    shown(rules.rules()[0].logic.as_ref().unwrap())
}
