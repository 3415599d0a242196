//! Reading scenarios: one text per scenario, with the files of each step and what is done with them.
//! `tests/conformance/README.md` explains the format.

use anyhow::{Context as _, Result, bail};

/// A sequence of configurations, and what is done with each.
#[derive(Debug, PartialEq, Default)]
pub(super) struct Scenario {
    pub(super) name: String,
    /// Whether groma uses the providers inside it instead of the plugins.
    pub(super) embedded: bool,
    /// Whether the order in which changes are applied is compared.
    pub(super) ordered: bool,
    /// Attributes whose values differ from run to run, by resource type.
    pub(super) volatile: Vec<(String, Vec<String>)>,
    pub(super) steps: Vec<Step>,
}

/// One configuration, and what is done with it.
#[derive(Debug, PartialEq)]
pub(super) struct Step {
    pub(super) action: Action,
    /// Arguments for the apply of a saved plan alone.
    pub(super) apply_arguments: Vec<String>,
    /// Variables of the environment from here on; none removes one.
    pub(super) environment: Vec<(String, Option<String>)>,
    pub(super) world: Vec<WorldEdit>,
    pub(super) files: Vec<(String, String)>,
    pub(super) deleted: Vec<String>,
    /// What OpenTofu must say, so that a scenario shows what it was written for.
    pub(super) expected: Vec<String>,
}

/// What is done.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// A plan that is only looked at.
    Plan(Vec<String>),
    /// A plan that is saved and applied.
    Apply(Vec<String>),
    /// An apply without a saved plan.
    Direct(Vec<String>),
    /// Another command.
    Run(Vec<String>),
}

/// What happens to the fixtures' objects behind everybody's back.
#[derive(Debug, PartialEq)]
pub(super) enum WorldEdit {
    Set { kind: String, name: String, attribute: String, value: String },
    Delete { kind: String, name: String },
    Put { kind: String, id: String, attributes: String },
}

/// Reads a scenario.
pub(super) fn parse(name: &str, text: &str) -> Result<Scenario> {
    let mut scenario = Scenario { name: name.to_owned(), ..Scenario::default() };
    let mut file: Option<(String, String)> = None;
    for (number, line) in text.lines().enumerate() {
        let place = || format!("{name}, line {}: `{line}`", number + 1);
        let section = line.strip_prefix("-- ").and_then(|rest| rest.strip_suffix(" --"));
        if section.is_some() || line.starts_with("=== ") {
            finish_file(&mut scenario, file.take());
        }
        if let Some(path) = section {
            if scenario.steps.is_empty() {
                bail!("{}: a file before the first step", place());
            }
            file = Some((path.to_owned(), String::new()));
        } else if let Some(header) = line.strip_prefix("=== ") {
            scenario.steps.push(step(header).with_context(place)?);
        } else if let Some((_, content)) = &mut file {
            content.push_str(line);
            content.push('\n');
        } else if let Some(directive) = line.strip_prefix('%') {
            direct(&mut scenario, directive).with_context(place)?;
        } else if !line.is_empty() && !line.starts_with('#') {
            bail!("{}: neither a step, a file, a directive nor a comment", place());
        }
    }
    finish_file(&mut scenario, file);
    if scenario.steps.is_empty() {
        bail!("{name} has no steps");
    }
    Ok(scenario)
}

fn finish_file(scenario: &mut Scenario, file: Option<(String, String)>) {
    if let (Some(file), Some(step)) = (file, scenario.steps.last_mut()) {
        step.files.push(file);
    }
}

fn step(header: &str) -> Result<Step> {
    let mut words = words(header);
    if words.is_empty() {
        bail!("a step without a command");
    }
    let command = words.remove(0);
    let action = match command.as_str() {
        "plan" => Action::Plan(words),
        "apply" => Action::Apply(words),
        "destroy" => Action::Apply([vec!["-destroy".to_owned()], words].concat()),
        "apply!" => Action::Direct(words),
        "$" => Action::Run(words),
        _ => bail!("unknown step; there are plan, apply, destroy, apply! and $"),
    };
    Ok(Step {
        action,
        apply_arguments: Vec::new(),
        environment: Vec::new(),
        world: Vec::new(),
        files: Vec::new(),
        deleted: Vec::new(),
        expected: Vec::new(),
    })
}

/// Words between blanks; single quotes keep blanks together.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for character in text.chars() {
        match character {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            _ if character.is_whitespace() && !quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

fn direct(scenario: &mut Scenario, directive: &str) -> Result<()> {
    let (verb, rest) = directive.split_once(' ').unwrap_or((directive, ""));
    let rest = rest.trim();
    match (verb, scenario.steps.last_mut()) {
        ("embedded", None) => scenario.embedded = true,
        ("ordered", None) => scenario.ordered = true,
        ("volatile", None) => {
            let mut words = words(rest);
            if words.len() < 2 {
                bail!("a type and its attributes are needed");
            }
            let kind = words.remove(0);
            scenario.volatile.push((kind, words));
        }
        ("env", Some(step)) => {
            let (name, value) = rest.split_once('=').map_or((rest, None), |(name, value)| (name, Some(value)));
            step.environment.push((name.to_owned(), value.map(str::to_owned)));
        }
        ("apply-args", Some(step)) => step.apply_arguments = words(rest),
        ("delete", Some(step)) => step.deleted.push(rest.to_owned()),
        ("expect", Some(step)) => step.expected.push(rest.to_owned()),
        ("world", Some(step)) => step.world.push(world_edit(rest)?),
        _ => bail!("unknown directive, or at the wrong place"),
    }
    Ok(())
}

fn world_edit(text: &str) -> Result<WorldEdit> {
    let (verb, rest) = text.split_once(' ').context("`set`, `delete` or `put` and what it is about")?;
    let (target, rest) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let (kind, name) = target.split_once('/').context("TYPE/NAME is needed")?;
    let (kind, name) = (kind.to_owned(), name.to_owned());
    Ok(match verb {
        "set" => {
            let (attribute, value) = rest.split_once('=').context("ATTRIBUTE=JSON is needed")?;
            WorldEdit::Set { kind, name, attribute: attribute.to_owned(), value: value.to_owned() }
        }
        "delete" => WorldEdit::Delete { kind, name },
        "put" => WorldEdit::Put { kind, id: name, attributes: rest.to_owned() },
        _ => bail!("unknown edit of the world"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_files_and_directives_are_told_apart() {
        let text = "# what it is about\n%volatile random_pet id\n=== apply -var='a=b c' -target=x[\"k\"]\n%env A=1\n\
                    %world set t/n size=2\n%expect exit 0\n-- main.tf --\nlocals {}\n-- b.tf --\n# b\n=== $ state rm x\n%delete b.tf\n";
        let scenario = parse("s", text).unwrap();
        assert_eq!(scenario.volatile, [("random_pet".to_owned(), vec!["id".to_owned()])]);
        let [first, second] = scenario.steps.as_slice() else { panic!("{:?}", scenario.steps) };
        assert_eq!(first.action, Action::Apply(vec!["-var=a=b c".to_owned(), "-target=x[\"k\"]".to_owned()]));
        assert_eq!(first.files[0], ("main.tf".to_owned(), "locals {}\n".to_owned()));
        assert_eq!(first.files[1], ("b.tf".to_owned(), "# b\n".to_owned()));
        assert_eq!(first.expected, ["exit 0"]);
        assert_eq!(first.environment, [("A".to_owned(), Some("1".to_owned()))]);
        assert_eq!(second.action, Action::Run(["state", "rm", "x"].map(str::to_owned).to_vec()));
        assert_eq!(second.deleted, ["b.tf"]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in
            ["", "=== fly\n", "text\n", "-- a --\n", "=== plan\n%nope\n", "%env A=1\n", "=== plan\n%world set x\n"]
        {
            assert!(parse("s", text).is_err(), "{text:?}");
        }
    }
}
