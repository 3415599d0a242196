//! The schemas of real provider plugins: `providers schema -json` of groma and of OpenTofu, compared field by field.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::program::{Program, Run};
use super::{Case, Outcome, Programs, scratch};
use crate::peers;

/// The version that every plugin has in the mirror.
const VERSION: &str = "1.0.0";
/// So many differences are listed; one mistake often makes hundreds.
const SHOWN: usize = 30;

/// Compares the schemas of all plugins whose name contains the filter.
pub(super) fn compare(programs: &Programs, filter: &str) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for name in peers::plugins() {
        let id = format!("schemas/{name}");
        if id.contains(filter) {
            println!("    {name}");
            cases.push(case(programs, name, id)?);
        }
    }
    Ok(cases)
}

fn case(programs: &Programs, name: &str, id: String) -> Result<Case> {
    let program = peers::find(name)?;
    let kind = kind_of(&program)?;
    let mirror = scratch::empty("schemas", "mirror", name)?;
    fill_mirror(&mirror, &kind, &program)?;
    let config = mirror.join("tfrc");
    let text =
        format!("provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n", mirror.display());
    fs::write(&config, text)?;
    let tofu = schemas(&programs.tofu, name, &kind, &config)?;
    let groma = schemas(&programs.groma, name, &kind, &config)?;
    let fields = format!("{} fields", count(&tofu));
    let differences = differences(&tofu, &groma);
    let verdict = if differences.is_empty() { fields.clone() } else { shown(&differences) };
    let outcome = |verdict: String| Outcome { verdict, detail: String::new() };
    Ok(Case { id, groma: outcome(verdict), tofu: outcome(fields), terraform: None })
}

/// `time` of `terraform-provider-time_v0.14.2`.
fn kind_of(program: &Path) -> Result<String> {
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let kind = name.strip_prefix("terraform-provider-").and_then(|rest| rest.split('_').next());
    kind.map(str::to_owned).with_context(|| format!("{name} is not named like a plugin"))
}

fn fill_mirror(mirror: &Path, kind: &str, program: &Path) -> Result<()> {
    let platform = mirror.join("example.com/peers").join(kind).join(VERSION).join(super::platform());
    fs::create_dir_all(&platform)?;
    let target = platform.join(format!("terraform-provider-{kind}_v{VERSION}"));
    // Plugins are large; a second name is enough where that is possible.
    if fs::hard_link(program, &target).is_err() {
        fs::copy(program, &target).with_context(|| format!("cannot copy {}", program.display()))?;
    }
    Ok(())
}

fn schemas(program: &Program, name: &str, kind: &str, config: &Path) -> Result<Value> {
    let dir = scratch::empty("schemas", program.name, name)?;
    let source = format!("example.com/peers/{kind}");
    let text = format!("terraform {{\n  required_providers {{\n    peer = {{ source = {source:?} }}\n  }}\n}}\n");
    fs::write(dir.join("main.tf"), text)?;
    let run = |arguments: &[&str]| -> Result<Run> {
        let run = program.run_configured(&dir, arguments, config)?;
        anyhow::ensure!(run.succeeded(), "{} {arguments:?} for {name}: {}", program.name, run.stderr);
        Ok(run)
    };
    run(&["init", "-input=false", "-no-color"])?;
    let found = run(&["providers", "schema", "-json"])?;
    serde_json::from_slice(&found.stdout).with_context(|| format!("the schemas of {name} by {}", program.name))
}

/// How many values there are that have nothing inside.
fn count(value: &Value) -> usize {
    match value {
        Value::Object(entries) => entries.values().map(count).sum(),
        Value::Array(elements) => elements.iter().map(count).sum(),
        _ => 1,
    }
}

/// All places where two documents differ.
fn differences(expected: &Value, found: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    collect(&mut PathBuf::from("/"), (Some(expected), Some(found)), &mut differences);
    differences
}

fn collect(at: &mut PathBuf, (expected, found): (Option<&Value>, Option<&Value>), differences: &mut Vec<String>) {
    match (expected, found) {
        (Some(Value::Object(expected)), Some(Value::Object(found))) => {
            let mut names: Vec<&String> = expected.keys().chain(found.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                at.push(name.replace('/', "%2F"));
                collect(at, (expected.get(name), found.get(name)), differences);
                at.pop();
            }
        }
        (Some(Value::Array(expected)), Some(Value::Array(found))) => {
            for index in 0..expected.len().max(found.len()) {
                at.push(index.to_string());
                collect(at, (expected.get(index), found.get(index)), differences);
                at.pop();
            }
        }
        (expected, found) if expected == found => {}
        (expected, found) => {
            let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
            differences.push(format!("{}: {} and not {}", at.display(), text(found), text(expected)));
        }
    }
}

fn shown(differences: &[String]) -> String {
    let mut lines = differences.to_vec();
    lines.truncate(SHOWN);
    if differences.len() > SHOWN {
        lines.push(format!("… {} differences in all", differences.len()));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_difference_has_its_place() {
        let expected = json!({"a": {"b": [1, 2], "c": true}, "d": 1});
        let found = json!({"a": {"b": [1, 3, 4]}, "d": 1, "e": "x"});
        assert_eq!(
            differences(&expected, &found),
            [
                "/a/b/1: 3 and not 2",
                "/a/b/2: 4 and not nothing",
                "/a/c: nothing and not true",
                "/e: \"x\" and not nothing"
            ]
        );
        assert!(differences(&expected, &expected).is_empty());
        assert_eq!(count(&expected), 4);
    }

    #[test]
    fn plugins_are_known_by_their_names() {
        assert_eq!(kind_of(Path::new("x/terraform-provider-time_v0.14.2")).unwrap(), "time");
        assert_eq!(kind_of(Path::new("terraform-provider-fixfw")).unwrap(), "fixfw");
        assert!(kind_of(Path::new("x/tofu")).is_err());
    }
}
