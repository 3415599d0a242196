//! Why a plan does what it does, for people who want to know it now.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use groma_model::address::{AbsInstance, AbsResource, DeposedKey};
use groma_model::path::Path;
use groma_run::engine::change::Action;
use groma_run::engine::report::{AttributeChange, Difference, Explanation, Neighbour, StepKind};

use super::Style;
use super::paint::{Paint, Tone};

/// Of more objects than this only what is done is said.
const IN_FULL: usize = 10;
/// Instances of one resource are named up to so many, and counted beyond.
const NAMED: usize = 4;

/// What there is to say about one object or several.
pub(crate) fn explanations(found: &[Explanation], style: Style) -> String {
    if found.len() > IN_FULL {
        return in_short(found);
    }
    let texts: Vec<String> = found.iter().map(|found| explanation(found, style)).collect();
    texts.join("\n")
}

/// One line each.
fn in_short(found: &[Explanation]) -> String {
    let mut text = String::new();
    let idle = found.iter().filter(|found| found.action == Action::NoOp).count();
    for found in found.iter().filter(|found| found.action != Action::NoOp) {
        let because = found.because.first().map_or(String::new(), |because| format!(" {because}"));
        // Writing to a string does not fail.
        let _ = writeln!(text, "- {}{because}", found.summary);
    }
    if idle > 0 {
        let _ = writeln!(text, "- Nothing is done with {idle} of {} objects.", found.len());
    }
    text.push_str("\nGive the address of one of them to know more.\n");
    text
}

fn explanation(found: &Explanation, style: Style) -> String {
    let paint = Paint(style.color);
    let mut text = format!("{}\n", paint.text(Tone::Bold, &found.summary));
    let mut section = |title: &str, tone: Tone, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{}", paint.text(tone, title));
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        }
    };
    section("Blocked", Tone::Bad, found.blocked.clone());
    section("Why", Tone::Bold, found.because.clone());
    section("What differs", Tone::Bold, attributes(&found.attributes));
    section("Left as it is, by ignore_changes", Tone::Bold, found.ignored.iter().map(name).collect());
    section("Changed outside since the last run", Tone::Bold, outside(found));
    section("Replacement", Tone::Bold, found.replacement_order.iter().cloned().collect());
    section("Waits until", Tone::Bold, neighbours(&found.waits_for));
    section("Done before", Tone::Bold, neighbours(&found.needed_by));
    text
}

fn outside(found: &Explanation) -> Vec<String> {
    let gone = found.gone.then(|| "The object is gone.".to_owned());
    let depended_on = found.drifted_dependencies.iter().map(|address| format!("{address}, which it depends on"));
    gone.into_iter().chain(attributes(&found.drift)).chain(depended_on).collect()
}

/// A path without the dot in front.
fn name(path: &Path) -> String {
    path.to_string().trim_start_matches('.').to_owned()
}

fn attributes(found: &[AttributeChange]) -> Vec<String> {
    let width = found.iter().map(|found| name(&found.path).chars().count()).max().unwrap_or(0).min(40);
    found.iter().map(|found| attribute(found, width)).collect()
}

fn attribute(found: &AttributeChange, width: usize) -> String {
    const UNKNOWN: &str = "(known after apply)";
    let sign = match found.difference {
        Difference::Added => '+',
        Difference::Removed => '-',
        Difference::Changed | Difference::Unknown | Difference::Sensitivity => '~',
    };
    let before = found.before.as_deref().unwrap_or("null");
    let values = match found.difference {
        Difference::Sensitivity if found.sensitive => "(only whether it is sensitive)".to_owned(),
        _ if found.sensitive => "(sensitive value)".to_owned(),
        Difference::Added => found.after.clone().unwrap_or_default(),
        Difference::Removed => before.to_owned(),
        Difference::Unknown => format!("{before} -> {UNKNOWN}"),
        Difference::Changed | Difference::Sensitivity => {
            format!("{before} -> {}", found.after.as_deref().unwrap_or(UNKNOWN))
        }
    };
    let forces = if found.forces_replacement { "  # forces replacement" } else { "" };
    format!("{sign} {:width$}  {values}{forces}", name(&found.path))
}

/// An object of an instance: the current one, or one that was put aside.
type Object<'n> = (&'n AbsInstance, Option<&'n DeposedKey>);

/// Addresses with what becomes of them. Many instances of one resource are counted.
fn neighbours(found: &[Neighbour]) -> Vec<String> {
    // What is both destroyed and created is replaced.
    let mut steps: BTreeMap<Object<'_>, BTreeSet<StepKind>> = BTreeMap::new();
    for Neighbour { address, deposed, step } in found {
        steps.entry((address, deposed.as_ref())).or_default().insert(*step);
    }
    let mut groups: BTreeMap<(AbsResource, &str), Vec<Object<'_>>> = BTreeMap::new();
    for (object, steps) in steps {
        let replaced = steps.contains(&StepKind::Create) && steps.contains(&StepKind::Delete);
        let done: Vec<&str> = if replaced { vec!["replaced"] } else { steps.iter().map(|step| step.done()).collect() };
        for done in done {
            groups.entry((object.0.resource(), done)).or_default().push(object);
        }
    }
    let mut lines = Vec::new();
    for ((resource, done), members) in groups {
        if members.len() > NAMED {
            lines.push(format!("{} instances of {resource} are {done}", members.len()));
            continue;
        }
        lines.extend(members.into_iter().map(|(address, deposed)| match deposed {
            None => format!("{address} is {done}"),
            Some(key) => format!("an old object of {address}, put aside as {key}, is {done}"),
        }));
    }
    lines
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::needless_raw_string_hashes,
        reason = "tests may panic, and the tool that updates snapshots writes hashes"
    )]

    use expect_test::expect;

    use super::*;

    fn plain() -> Style {
        Style { color: false, width: 78, ascii: false }
    }

    fn attribute(path: Path, difference: Difference, before: Option<&str>, after: Option<&str>) -> AttributeChange {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let (before, after) = (text(before), text(after));
        AttributeChange { path, difference, forces_replacement: false, sensitive: false, before, after }
    }

    fn replaced() -> Explanation {
        let at = |name: &str| Path::root().attr(name);
        let size = attribute(at("size"), Difference::Changed, Some("1"), Some("2"));
        let secret = attribute(at("password"), Difference::Changed, None, None);
        let neighbour = |address: &str, step| Neighbour { address: address.parse().unwrap(), deposed: None, step };
        Explanation {
            address: "test_thing.web".parse().unwrap(),
            deposed: None,
            action: Action::DeleteThenCreate,
            reason: None,
            summary: "test_thing.web will be replaced: destroyed first, then created anew.".to_owned(),
            because: vec!["The provider cannot change size in place.".to_owned()],
            attributes: vec![
                attribute(at("id"), Difference::Unknown, Some("\"i-1\""), None),
                AttributeChange { sensitive: true, ..secret },
                AttributeChange { forces_replacement: true, ..size },
                attribute(at("tags").key("new"), Difference::Added, None, Some("\"x\"")),
            ],
            ignored: vec![at("tags").key("old")],
            drift: vec![attribute(at("size"), Difference::Changed, Some("3"), Some("1"))],
            gone: false,
            drifted_dependencies: vec!["test_thing.base".parse().unwrap()],
            replacement_order: Some("The old object is destroyed first.".to_owned()),
            waits_for: (0..6).map(|at| neighbour(&format!("test_thing.user[{at}]"), StepKind::Delete)).collect(),
            needed_by: vec![
                neighbour("test_thing.user[0]", StepKind::Create),
                neighbour("test_thing.whole", StepKind::Create),
                neighbour("test_thing.whole", StepKind::Delete),
            ],
            blocked: vec!["A condition does not hold: The size must be odd.".to_owned()],
        }
    }

    #[test]
    fn everything_about_one_object() {
        expect![[r#"
            test_thing.web will be replaced: destroyed first, then created anew.

            Blocked
              A condition does not hold: The size must be odd.

            Why
              The provider cannot change size in place.

            What differs
              ~ id           "i-1" -> (known after apply)
              ~ password     (sensitive value)
              ~ size         1 -> 2  # forces replacement
              + tags["new"]  "x"

            Left as it is, by ignore_changes
              tags["old"]

            Changed outside since the last run
              ~ size  3 -> 1
              test_thing.base, which it depends on

            Replacement
              The old object is destroyed first.

            Waits until
              6 instances of test_thing.user are destroyed

            Done before
              test_thing.user[0] is created
              test_thing.whole is replaced
        "#]]
        .assert_eq(&explanations(&[replaced()], plain()));
    }

    #[test]
    fn little_about_many() {
        let idle = Explanation { action: Action::NoOp, ..replaced() };
        let mut many = vec![idle; 11];
        many.push(replaced());
        expect![[r#"
            - test_thing.web will be replaced: destroyed first, then created anew. The provider cannot change size in place.
            - Nothing is done with 11 of 12 objects.

            Give the address of one of them to know more.
        "#]].assert_eq(&explanations(&many, plain()));
    }
}
