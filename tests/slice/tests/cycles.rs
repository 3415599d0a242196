//! Orders that cannot be: whether the steps of a plan wait for each other is the same for OpenTofu, for configurations that are made
//! to be difficult and for random ones. The states are those that groma made.
//!
//! `GROMA_PROPERTY_CASES` says how many random histories there are, `GROMA_PROPERTY_SEED` which one alone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Given, Workspace};
use groma_state::{Layout, encode};
use groma_testkit::chance::Chance;
use groma_testkit::configuration::Configuration;
use groma_testkit::edit::{edit, grow};
use groma_testkit::workspace::Files;
use groma_testkit::writing::{Dialect, write};

/// How many random histories there are unless told otherwise.
const CASES: u64 = 12;

#[expect(clippy::disallowed_methods, reason = "peers and wishes come in the environment")]
fn environment(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

fn number(variable: &str) -> Option<u64> {
    environment(variable).map(|text| text.parse().expect("a number"))
}

fn tofu(dir: &Path, arguments: &[&str]) -> (bool, String) {
    let program = environment("GROMA_TOFU").expect("GROMA_TOFU is not set; run `cargo xtask test`");
    let mut command = Command::new(program);
    command.current_dir(dir).args(arguments).env_clear();
    command.env("TF_CLI_CONFIG_FILE", "/dev/null").env("HOME", dir).env("CHECKPOINT_DISABLE", "1");
    let output = command.output().expect("OpenTofu runs");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A directory that both tools plan in.
struct Both {
    dir: tempfile::TempDir,
    workspace: Workspace,
    files: Files,
}

impl Both {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path(), Given::built_in(dir.path()));
        Self { dir, workspace, files: Files::default() }
    }

    fn place(&mut self, files: &Files) {
        let dir = self.dir.path();
        for path in self.files.0.keys() {
            std::fs::remove_file(dir.join(path)).unwrap();
        }
        for (path, text) in &files.0 {
            std::fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
            std::fs::write(dir.join(path), text).unwrap();
        }
        self.files = files.clone();
    }

    /// Plans a configuration with both tools. If there is an order, groma applies it. Gives whether there was one.
    async fn step(&mut self, files: &Files) -> Result<bool, String> {
        let before = self.files.clone();
        self.place(files);
        std::fs::write(
            self.dir.path().join("terraform.tfstate"),
            encode(&self.workspace.state, Layout::Indented).unwrap(),
        )
        .unwrap();
        let (installed, said) = tofu(self.dir.path(), &["init", "-input=false", "-no-color"]);
        assert!(installed, "{said}");
        let (planned, said) = tofu(self.dir.path(), &["plan", "-input=false", "-no-color", "-lock=false"]);
        let theirs = said.contains("Error: Cycle");
        // It cannot be bound to a resource that has no instances.
        if said.contains("Error: no change found for") {
            self.place(&before);
            return Ok(false);
        }
        if !planned && !theirs {
            return Err(format!("OpenTofu fails otherwise: {said}"));
        }
        let (plan, diagnostics) = self.workspace.try_plan().await;
        let ours = diagnostics.iter().find(|found| found.summary.starts_with("Cycle"));
        if diagnostics.has_errors() && ours.is_none() {
            return Err(format!("groma fails otherwise: {diagnostics:?}"));
        }
        if ours.is_some() != theirs {
            let ours = ours.map(|found| found.summary.clone());
            let summary = plan.map(|plan| common::summary(&plan));
            return Err(format!("groma says {ours:?}, OpenTofu says {said:?}; {summary:?}"));
        }
        if theirs {
            self.place(&before);
            return Ok(false);
        }
        self.workspace.apply().await;
        Ok(true)
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn shown(files: &Files) -> String {
    let texts: Vec<String> = files.0.iter().map(|(path, text)| format!("--- {}\n{text}", path.display())).collect();
    texts.concat()
}

/// A random history. Gives the number of steps and of those without an order.
async fn history(seed: u64) -> (usize, usize) {
    let mut chance = Chance::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(77));
    let mut both = Both::new();
    let mut configuration = Configuration::default();
    let (mut steps, mut cycles) = (0, 0);
    for at in 0..2 + chance.below(3) {
        let before = configuration.clone();
        configuration.moved.clear();
        for _ in 0..if at == 0 { 6 + chance.below(9) } else { 2 + chance.below(5) } {
            let seed = chance.number();
            if at == 0 { grow(&mut configuration, seed) } else { edit(&mut configuration, seed) }
        }
        let (old, files) = (both.files.clone(), write(&configuration, Dialect::Data));
        let ordered = both.step(&files).await.unwrap_or_else(|problem| {
            panic!("GROMA_PROPERTY_SEED={seed}: {problem}\n\nfrom:\n{}\nto:\n{}", shown(&old), shown(&files))
        });
        steps += 1;
        if !ordered {
            configuration = before;
            cycles += 1;
        }
    }
    (steps, cycles)
}

#[test]
fn random_edits_have_an_order_where_opentofu_finds_one() {
    let seeds = match number("GROMA_PROPERTY_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("GROMA_PROPERTY_CASES").unwrap_or(CASES),
    };
    let runtime = runtime();
    let (steps, cycles) = seeds
        .map(|seed| runtime.block_on(history(seed)))
        .fold((0, 0), |(steps, cycles), found| (steps + found.0, cycles + found.1));
    assert!(cycles * 3 <= steps, "{cycles} of {steps} steps had no order");
}

fn files(parts: &[(&str, &str)]) -> Files {
    Files(parts.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect::<BTreeMap<_, _>>())
}

/// A resource in a line: its name, what replaces it, what it refers to, and the rest.
fn data(name: &str, trigger: &str, input: &str, rest: &str) -> String {
    format!(
        "resource \"terraform_data\" \"{name}\" {{\n  triggers_replace = [{trigger}]\n  input = [{input}]\n  {rest}\n}}\n"
    )
}

const FIRST: &str = "lifecycle {\n    create_before_destroy = true\n  }";

/// Configurations, one after the other.
type Story = (&'static str, Vec<Files>);

fn root(parts: &[String]) -> Files {
    files(&[("main.tf", &parts.concat())])
}

fn stories() -> Vec<Story> {
    let id = |name: &str| format!("terraform_data.{name}.id");
    let mut stories: Vec<Story> = Vec::new();
    let chain = |a: &str, firsts: [&str; 3]| {
        root(&[data("a", a, "", firsts[0]), data("b", &id("a"), "", firsts[1]), data("c", &id("b"), "", firsts[2])])
    };
    for (name, firsts) in [
        ("made first at the end", ["", "", FIRST]),
        ("made first in the middle", ["", FIRST, ""]),
        ("made first at the beginning", [FIRST, "", ""]),
    ] {
        stories.push((name, vec![chain("1", firsts), chain("2", firsts)]));
        stories.push((name, vec![chain("1", ["", "", ""]), chain("2", firsts), chain("3", ["", "", ""])]));
    }
    for (old, new) in [("", FIRST), (FIRST, ""), (FIRST, FIRST), ("", "")] {
        // What is referred to goes, and who refers to it is replaced, updated or stays.
        let before = root(&[data("a", "1", "", ""), data("b", "1", &id("a"), old)]);
        stories.push(("replaced without what it needed", vec![before.clone(), root(&[data("b", "2", "", new)])]));
        stories.push(("updated without what it needed", vec![before.clone(), root(&[data("b", "1", "", new)])]));
        let turned = root(&[data("a", "2", &id("b"), ""), data("b", "2", "", new)]);
        stories.push(("the other way round", vec![before, turned]));
        let swap = |a: &str, b: &str, c: &str| {
            root(&[
                data("a", a, "", ""),
                data("b", b, "", old),
                data("c", c, &id(if c == "1" { "a" } else { "b" }), new),
            ])
        };
        stories.push(("one for the other", vec![swap("1", "1", "1"), swap("2", "2", "2")]));
    }
    stories.extend(module_stories());
    stories
}

fn module_stories() -> Vec<Story> {
    let id = |name: &str| format!("terraform_data.{name}.id");
    let call = |input: &str, rest: &str| format!("module \"m\" {{\n  source = \"./m\"\n  in = {input}\n  {rest}\n}}\n");
    let module = |trigger: &str, first: &str| {
        let inside = [
            "variable \"in\" {\n  default = null\n}\nvariable \"back\" {\n  default = null\n}\n".to_owned(),
            data("x", "var.in", "", first),
            data("y", trigger, "var.back", first),
            "output \"out\" {\n  value = terraform_data.x.id\n}\noutput \"other\" {\n  value = terraform_data.y.id\n}\n".to_owned(),
        ];
        inside.concat()
    };
    let mut stories: Vec<Story> = Vec::new();
    for first in ["", FIRST] {
        let there_and_back = |a: &str, c: &str| {
            let parts = [
                data("a", a, "", ""),
                call(&id("a"), "back = terraform_data.b.id"),
                data("b", "1", "module.m.out", first),
                data("c", c, "module.m.other", ""),
            ];
            files(&[("main.tf", &parts.concat()), ("m/main.tf", &module("1", first))])
        };
        stories.push(("in and out of a module and in again", vec![there_and_back("1", "1"), there_and_back("2", "2")]));
        let after = |a: &str, trigger: &str| {
            let parts = [
                data("a", a, "", ""),
                call("1", "depends_on = [terraform_data.a]"),
                data("z", trigger, "", "depends_on = [module.m]"),
            ];
            files(&[("main.tf", &parts.concat()), ("m/main.tf", &module(trigger, first))])
        };
        stories.push(("modules that depend, and are depended on", vec![after("1", "1"), after("2", "2")]));
        let only = root(&[data("z", "2", "", first)]);
        stories.push(("a module goes that something depended on", vec![after("1", "1"), only.clone()]));
        let counted = |count: usize| {
            let parts = [
                format!("resource \"terraform_data\" \"a\" {{\n  count = {count}\n}}\n"),
                data("b", "terraform_data.a[*].id", "", first),
                data("c", "1", "length(terraform_data.a)", first),
            ];
            root(&parts)
        };
        stories.push(("fewer of what something counts", vec![counted(3), counted(1), counted(2)]));
        stories.push(("nothing is left", vec![there_and_back("1", "1"), root(&[])]));
        let one = data("a", "1", "", first) + &data("b", &id("a"), "", first);
        let away = root(&[data("b", "2", "", first)]);
        stories.push(("an orphan and what needed it", vec![root(&[one]), away, only]));
    }
    stories
}

#[test]
fn difficult_edits_have_an_order_where_opentofu_finds_one() {
    let runtime = runtime();
    let mut wrong = Vec::new();
    for (name, configurations) in stories() {
        let mut both = Both::new();
        for (at, files) in configurations.iter().enumerate() {
            if let Err(problem) = runtime.block_on(both.step(files)) {
                wrong.push(format!("{name}, step {at}: {problem}\n{}", shown(files)));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
