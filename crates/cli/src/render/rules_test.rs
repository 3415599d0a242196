//! What came of trying rules on cases: a line for each case, what is not as expected below it, and a sum.

use groma_model::span::SourceMap;
use groma_run::rules::{Difference, Tried};

use super::Style;
use super::branches::{Branch, draw};
use super::paint::{Paint, Tone};

/// A case.
pub(crate) fn case(tried: &Tried, place: &str, sources: &SourceMap, style: Style) -> String {
    let paint = Paint(style.color);
    let word = if tried.passed() { paint.text(Tone::Good, "pass") } else { paint.text(Tone::Bad, "fail") };
    let head = format!("{word}  {place}: {}\n", plain(&tried.name));
    head + &draw(&differences(&tried.differences, sources), "      ", style.ascii)
}

/// How many there were.
pub(crate) fn sum(passed: usize, failed: usize) -> String {
    format!("\n{passed} passed, {failed} failed.\n")
}

/// By rule, as far as they are about one.
fn differences(all: &[Difference], sources: &SourceMap) -> Vec<Branch> {
    let mut branches: Vec<Branch> = Vec::new();
    for difference in all {
        let branch = difference_text(difference);
        let Some(rule) = &difference.rule else {
            branches.push(branch);
            continue;
        };
        let head = format!("rule {} (line {})", plain(rule), sources.start(difference.place).line);
        match branches.iter_mut().find(|known| known.text == head) {
            Some(known) => known.children.push(branch),
            None => branches.push(Branch { text: head, children: vec![branch] }),
        }
    }
    branches
}

fn difference_text(difference: &Difference) -> Branch {
    let Difference { what, expected, found, .. } = difference;
    if let ([expected], [found]) = (expected.as_slice(), found.as_slice())
        && *what != "steps"
    {
        return Branch::leaf(format!("{what}: expected {}, found {}", plain(expected), plain(found)));
    }
    let lines = |title: &str, lines: &[String]| Branch {
        text: if lines.is_empty() { format!("{title}: nothing") } else { title.to_owned() },
        children: lines.iter().map(|line| Branch::leaf(plain(line))).collect(),
    };
    Branch { text: (*what).to_owned(), children: vec![lines("expected", expected), lines("found", found)] }
}

/// What is written in a file may have in it what would do something to a terminal.
fn plain(text: &str) -> String {
    groma_run::rules::clean(text)
}
