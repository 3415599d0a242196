//! The page of the manual about replacements: its files are written, its commands are run one after the other, and what it shows is what they
//! say. A line with nothing but an ellipsis stands for any lines.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

const PAGE: &str = include_str!("../../../../docs/book/src/replace-order.md");

/// The blocks of code of a page, with their language.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut parts = page.split("\n```");
    let mut blocks = Vec::new();
    parts.next();
    while let (Some(block), Some(_)) = (parts.next(), parts.next()) {
        blocks.extend(block.split_once('\n'));
    }
    blocks
}

/// A command, and what is shown of what it says.
fn commands(block: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, Vec::new())),
            (None, Some((_, shown))) => shown.push(line),
            (None, None) => panic!("{line:?} stands before the first command"),
        }
    }
    commands
}

/// Whether a text has the lines that are shown, in their order.
fn shows(told: &str, shown: &[&str]) -> Result<(), String> {
    let mut rest = format!("\n{told}\n");
    for part in shown.split(|line| *line == "…").filter(|part| !part.is_empty()) {
        let part = format!("\n{}\n", part.join("\n"));
        let Some(at) = rest.find(&part) else { return Err(part) };
        rest = rest[at + part.len() - 1..].to_owned();
    }
    Ok(())
}

#[test]
fn what_the_manual_shows_is_so() {
    let mut sandbox = Sandbox::new().env("LC_ALL", "C.UTF-8");
    let mut run = 0;
    for (language, text) in blocks(PAGE) {
        match language {
            "hcl" => {
                // Blocks without the name of a file are parts, which are shown for themselves.
                let name = text.lines().next().and_then(|line| line.strip_prefix("# "));
                if let Some(name) = name.filter(|name| [".tf", ".hcl"].iter().any(|ending| name.ends_with(ending))) {
                    sandbox = sandbox.file(name, text);
                }
            }
            "console" => {
                for (command, shown) in commands(text) {
                    let mut words = command.split(' ');
                    assert_eq!(words.next(), Some("groma"), "{command}");
                    let outcome = sandbox.run(&words.collect::<Vec<_>>());
                    let told = format!("{}{}", outcome.stdout, outcome.stderr);
                    shows(&told, &shown).unwrap_or_else(|part| panic!("$ {command}\n{told}\ndoes not show\n{part}"));
                    run += 1;
                }
            }
            _ => {}
        }
    }
    assert!(run >= 8, "only {run} commands");
}

/// The numbers of all messages about rules, as the sources have them.
fn numbers() -> BTreeSet<String> {
    let mut numbers = BTreeSet::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name());
            let is_for_tests = name == "tests" || name == "tests.rs" || name == "target";
            if is_for_tests || path.is_dir() {
                open.extend((!is_for_tests).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                for before in ["GR", "Code(", "ParameterProblem::new("] {
                    let numbered = text.split(before).skip(1).filter_map(|rest| rest.get(..4));
                    numbers
                        .extend(numbered.filter(|found| found.bytes().all(|c| c.is_ascii_digit())).map(str::to_owned));
                }
            }
        }
    }
    numbers
}

/// Whoever looks a number up finds what it means, an example and a cure.
#[test]
fn every_number_is_explained() {
    let explained: Vec<(&str, &str)> =
        PAGE.split("\n### GR").skip(1).filter_map(|part| part.split_once("\n\n")).collect();
    let found: BTreeSet<String> = explained.iter().map(|(number, _)| (*number).to_owned()).collect();
    assert_eq!(found, numbers());
    assert_eq!(found.len(), explained.len(), "each once");
    for (number, text) in explained {
        assert!(text.contains("\n- Example: ") && text.contains("\n- Cure: "), "GR{number}");
    }
}
