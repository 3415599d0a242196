//! Plans look as they do in OpenTofu: the same signs, the same words for reasons, the same lines left out. Prose is ours, and
//! so are a few lines more; `norm` says which.
//!
//! `cargo xtask test` says where OpenTofu and the fixtures are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use std::path::{Path, PathBuf};
use std::process::Command;

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn peer(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

const CASES: &str = include_str!("looks/cases.txt");

const PROVIDERS: &str = "\
terraform {
  required_providers {
    fixsdk = { source = \"groma/fixsdk\" }
    fixfw  = { source = \"groma/fixfw\" }
  }
}
";

/// One configuration of a case.
struct Step {
    arguments: Vec<String>,
    /// What happens before the plan.
    outside: Vec<String>,
    config: String,
}

fn cases() -> Vec<(String, Vec<Step>)> {
    let sections = CASES.split("\n=== ").skip(1);
    let case = |section: &str| {
        let (name, rest) = section.split_once('\n').unwrap();
        (name.to_owned(), rest.split("---").skip(1).map(step).collect())
    };
    sections.map(case).collect()
}

fn step(text: &str) -> Step {
    let (arguments, body) = text.split_once('\n').unwrap_or((text, ""));
    let (outside, config): (Vec<&str>, Vec<&str>) = body.lines().partition(|line| line.starts_with('@'));
    Step {
        arguments: arguments.split_whitespace().map(str::to_owned).collect(),
        outside: outside.into_iter().map(|line| line[1..].to_owned()).collect(),
        config: config.join("\n"),
    }
}

/// A directory in which both programs work.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["work/m", "world"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        std::fs::write(dir.path().join("work/m/m.tf"), "resource \"terraform_data\" \"in\" {\n  input = 1\n}\n")
            .unwrap();
        let folder = |variable: &str| peer(variable).parent().unwrap().display().to_string();
        let overrides = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"groma/fixsdk\" = {:?}\n    \"groma/fixfw\" = {:?}\n  }}\n  direct {{}}\n}}\n",
            folder("GROMA_FIXTURE_SDK"),
            folder("GROMA_FIXTURE_FRAMEWORK"),
        );
        std::fs::write(dir.path().join("rc"), overrides).unwrap();
        Self { dir }
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> (bool, String) {
        let path = |name: &str| self.dir.path().join(name);
        let mut command = Command::new(program);
        command.args(arguments).current_dir(path("work"));
        command.env("TF_CLI_CONFIG_FILE", path("rc")).env("FIXTURE_WORLD", path("world"));
        for variable in ["TF_CLI_ARGS", "TF_DATA_DIR", "TF_WORKSPACE", "TF_LOG"] {
            command.env_remove(variable);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.success(), text + &String::from_utf8(output.stderr).unwrap())
    }

    fn outside(&self, what: &str) {
        let words: Vec<&str> = what.split_whitespace().collect();
        for file in std::fs::read_dir(self.dir.path().join("world")).unwrap() {
            let path = file.unwrap().path();
            match words[..] {
                ["gone"] => std::fs::remove_file(path).unwrap(),
                ["set", key, value] => {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let mut object: serde_json::Value = serde_json::from_str(&text).unwrap();
                    object[key] = serde_json::from_str(value).unwrap();
                    std::fs::write(&path, object.to_string()).unwrap();
                }
                _ => {}
            }
        }
        if let ["taint", address] = words[..] {
            self.run(&peer("GROMA_TOFU"), &["taint", address]);
        }
    }
}

/// The lines of a plan that must be the same. Left out are prose, what we say in addition, and what OpenTofu says now and
/// then: whether it shows write-only attributes in nested objects depends on the order of a map.
fn norm(text: &str) -> String {
    let begins = ["Note: Objects have changed", "No changes.", "Planning failed.", "Changes to Outputs:", "Plan:"];
    let signs = ["  ", "-/+", "+/-", "./+"];
    let ours = ["# (replace_triggered_by: ", "# (ignore_changes keeps ", "# (its replacement is made first"];
    let mut lines = Vec::new();
    let mut in_plan = false;
    for line in text.replace("OpenTofu", "groma").lines() {
        in_plan |= begins.iter().any(|begin| line.starts_with(begin)) || line.starts_with("groma ");
        in_plan &= !line.starts_with("Warning: ") && !line.starts_with("Error: ");
        let counts = begins.iter().chain(&signs).any(|begin| line.starts_with(begin));
        if !in_plan || !counts || ours.iter().any(|ours| line.contains(ours)) || line.contains("secret_wo ") {
            continue;
        }
        let mut line = line.trim_end().replace(" # forces replacement -> (known", " -> (known");
        if line.contains("triggers_replace ") {
            line = line.replace(" # forces replacement", "");
        }
        if let Some(aligned) = line.strip_prefix("  ./+ ") {
            line = format!("./+ {aligned}");
        }
        while line.contains("  = ") {
            line = line.replace("  = ", " = ");
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// What differs in one case, and how many plans were compared.
fn compare(name: &str, steps: &[Step]) -> (String, usize) {
    let (tofu, groma) = (peer("GROMA_TOFU"), PathBuf::from(env!("CARGO_BIN_EXE_groma")));
    let place = Place::new();
    let mut differences = String::new();
    for (at, step) in steps.iter().enumerate() {
        let config = format!("{PROVIDERS}{}", step.config);
        std::fs::write(place.dir.path().join("work/main.tf"), config).unwrap();
        place.run(&tofu, &["get"]);
        step.outside.iter().for_each(|what| place.outside(what));
        let mut plan = vec!["plan", "-no-color", "-input=false"];
        plan.extend(step.arguments.iter().map(String::as_str));
        let (expected, actual) = (place.run(&tofu, &plan), place.run(&groma, &plan));
        let (wanted, found) = (norm(&expected.1), norm(&actual.1));
        assert!(!wanted.is_empty(), "{name}, step {at}: OpenTofu has no plan:\n{}", expected.1);
        if (expected.0, &wanted) != (actual.0, &found) {
            let diff = similar::TextDiff::from_lines(&wanted, &found).unified_diff().to_string();
            differences.extend([name, ", step ", &at.to_string(), ":\n", &diff, "\n"]);
        }
        plan.splice(0..1, ["apply", "-auto-approve"]);
        place.run(&tofu, &plan);
    }
    (differences, steps.len())
}

#[test]
fn plans_look_as_they_do_elsewhere() {
    let cases = cases();
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let found: Vec<(String, usize)> = std::thread::scope(|scope| {
        let share = |cases: &'_ [(String, Vec<Step>)]| {
            cases.iter().map(|(name, steps)| compare(name, steps)).collect::<Vec<_>>()
        };
        let shares = cases.chunks(cases.len().div_ceil(workers));
        let running: Vec<_> = shares.map(|cases| scope.spawn(move || share(cases))).collect();
        running.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let differences: String = found.iter().map(|(differences, _)| differences.as_str()).collect();
    assert!(differences.is_empty(), "{differences}");
    let compared: usize = found.iter().map(|(_, count)| count).sum();
    assert!(compared > 60, "only {compared} plans");
}
