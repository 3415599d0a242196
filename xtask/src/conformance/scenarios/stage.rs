//! Playing a scenario with one program: what it said, planned, stored and would do next, as raw JSON per step.
//! Nothing is compared here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::script::{Action, Scenario, Step};
use super::world;
use crate::conformance::program::{Program, Run};
use crate::conformance::scratch;

const PLAN_FILE: &str = "tfplan";

/// A program in a directory of its own.
pub(super) struct Stage<'a> {
    program: &'a Program,
    /// The CLI configuration.
    settings: &'a Path,
    pub(super) dir: PathBuf,
    environment: BTreeMap<String, String>,
    /// The files of the scenario, by name.
    files: BTreeMap<String, String>,
    has_modules: bool,
}

impl<'a> Stage<'a> {
    /// An empty one. `role` keeps the directories of one program apart.
    pub(super) fn new(program: &'a Program, settings: &'a Path, scenario: &Scenario, role: &str) -> Result<Self> {
        let dir = scratch::empty("scenarios", &format!("{}-{role}", program.name), &scenario.name)?;
        let mut environment = BTreeMap::new();
        environment.insert("FIXTURE_WORLD".to_owned(), dir.join("world").display().to_string());
        if scenario.embedded {
            environment.insert("GROMA_BUILTIN".to_owned(), "always".to_owned());
        }
        Ok(Self { program, settings, dir, environment, files: BTreeMap::new(), has_modules: false })
    }

    /// Brings a step's files and variables in, without doing anything with them.
    pub(super) fn set(&mut self, step: &Step) -> Result<()> {
        for (name, value) in &step.environment {
            match value {
                Some(value) => self.environment.insert(name.clone(), value.clone()),
                None => self.environment.remove(name),
            };
        }
        for path in &step.deleted {
            self.files.remove(path);
            let path = self.dir.join(path);
            fs::remove_file(&path).with_context(|| format!("cannot delete {}", path.display()))?;
        }
        for (path, text) in step.files.iter().map(|(path, text)| (path.clone(), text.clone())) {
            self.write(&path, &text)?;
            self.files.insert(path, text);
        }
        if !step.files.is_empty() {
            self.require_fixtures()?;
        }
        Ok(())
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.dir.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Directories whose configuration uses the fixtures say where these come from, so that scenarios need not.
    fn require_fixtures(&mut self) -> Result<()> {
        let mut by_directory: BTreeMap<String, String> = BTreeMap::new();
        for (path, text) in self.files.iter().filter(|(path, _)| is_configuration(path)) {
            let directory = path.rsplit_once('/').map_or(String::new(), |(directory, _)| format!("{directory}/"));
            by_directory.entry(directory).or_default().push_str(text);
        }
        for (directory, text) in by_directory {
            if text.contains("required_providers") || !(text.contains("fixfw") || text.contains("fixsdk")) {
                continue;
            }
            let mut entries = String::new();
            for name in ["fixfw", "fixsdk"].into_iter().filter(|name| text.contains(name)) {
                entries.extend(["    ", name, " = {\n      source = \"groma/", name, "\"\n    }\n"]);
            }
            let text = format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n");
            self.write(&format!("{directory}fixtures.tf"), &text)?;
        }
        let has_modules = self.files.values().any(|text| text.contains("module \""));
        if has_modules && self.program.needs_init {
            self.run(&["get".to_owned()])?;
        }
        self.has_modules = has_modules;
        Ok(())
    }

    fn run(&self, arguments: &[String]) -> Result<Run> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let environment: Vec<(&str, &str)> =
            self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.program.run_in(&self.dir, &arguments, self.settings, &environment)
    }

    /// Does what a step says, and records everything.
    pub(super) fn play(&mut self, step: &Step) -> Result<Value> {
        self.set(step)?;
        let mut record = Map::new();
        for edit in &step.world {
            // A program that did not make the object has failed before; the scenario goes on.
            if let Err(problem) = world::edit(&self.dir.join("world"), edit) {
                record.insert("world".to_owned(), json!(problem.to_string()));
            }
        }
        // A plan of an earlier step must not pass for this one's.
        drop(fs::remove_file(self.dir.join(PLAN_FILE)));
        match &step.action {
            Action::Plan(arguments) => {
                self.plan(arguments, &mut record)?;
            }
            Action::Apply(arguments) => {
                if self.plan(arguments, &mut record)? {
                    let mut all = vec!["apply".to_owned(), "-json".to_owned(), "-input=false".to_owned()];
                    all.extend(step.apply_arguments.iter().cloned());
                    all.push(PLAN_FILE.to_owned());
                    record.insert("apply".to_owned(), said(&self.run(&all)?));
                }
                self.look(arguments, &mut record)?;
            }
            Action::Direct(arguments) => {
                let all = ["apply", "-auto-approve", "-json", "-input=false"].map(str::to_owned).to_vec();
                record.insert("apply".to_owned(), said(&self.run(&[all, arguments.clone()].concat())?));
                self.look(arguments, &mut record)?;
            }
            Action::Run(arguments) => {
                let run = self.run(arguments)?;
                record.insert("run".to_owned(), answered(arguments, &run));
                record.insert("states".to_owned(), self.states()?);
            }
        }
        Ok(Value::Object(record))
    }

    /// Plans and shows the plan. True if it can be applied.
    fn plan(&self, arguments: &[String], record: &mut Map<String, Value>) -> Result<bool> {
        let first = ["plan", "-json", "-input=false", "-out=tfplan"].map(str::to_owned).to_vec();
        let run = self.run(&[first, arguments.to_vec()].concat())?;
        record.insert("plan".to_owned(), said(&run));
        if self.dir.join(PLAN_FILE).exists() {
            let shown = self.run(&["show", "-json", PLAN_FILE].map(str::to_owned))?;
            record.insert("planned".to_owned(), document(&shown));
        }
        Ok(run.succeeded())
    }

    /// Everything that can be seen after an apply.
    fn look(&self, arguments: &[String], record: &mut Map<String, Value>) -> Result<()> {
        record.insert("states".to_owned(), self.states()?);
        record.insert("left".to_owned(), self.left()?);
        record.insert("shown".to_owned(), document(&self.run(&["show", "-json"].map(str::to_owned))?));
        if self.files.values().any(|text| text.contains("output \"")) {
            record.insert("outputs".to_owned(), document(&self.run(&["output", "-json"].map(str::to_owned))?));
        }
        if !arguments.iter().any(|argument| argument == "-destroy") {
            record.insert("next".to_owned(), self.next(arguments)?);
        }
        Ok(())
    }

    /// What the program would do now, in brief.
    pub(super) fn next(&self, arguments: &[String]) -> Result<Value> {
        let mut all =
            ["plan", "-json", "-input=false", "-detailed-exitcode", "-lock=false"].map(str::to_owned).to_vec();
        all.extend(arguments.iter().filter(|argument| argument.starts_with("-var")).cloned());
        let run = self.run(&all)?;
        let said = said(&run);
        let events = said["events"].as_array().map(Vec::as_slice).unwrap_or_default();
        let kept = ["planned_change", "resource_drift", "outputs"];
        let events: Vec<&Value> =
            events.iter().filter(|event| kept.iter().any(|kind| event["type"] == *kind)).collect();
        let diagnostics = said["diagnostics"].as_array().map(Vec::as_slice).unwrap_or_default();
        let errors: Vec<&Value> = diagnostics.iter().filter(|found| found["severity"] == "error").collect();
        Ok(json!({ "exit": said["exit"], "events": events, "diagnostics": errors, "noise": [] }))
    }

    /// All states, by file.
    fn states(&self) -> Result<Value> {
        let mut states = Map::new();
        for (path, text) in self.left_files()? {
            if path.ends_with(".tfstate") && !path.starts_with(".terraform/") {
                states.insert(path, serde_json::from_str(&text).unwrap_or_else(|_| json!({ "no JSON": text })));
            }
        }
        Ok(Value::Object(states))
    }

    /// What lies in the directory beside the scenario's own files.
    fn left(&self) -> Result<Value> {
        Ok(Value::Object(self.left_files()?.into_iter().map(|(path, text)| (path, Value::String(text))).collect()))
    }

    fn left_files(&self) -> Result<BTreeMap<String, String>> {
        let mut files = BTreeMap::new();
        list(&self.dir, "", &mut files)?;
        files.retain(|path, text| {
            let passing = path.ends_with(".backup") || path.ends_with(".lock.info") || path == PLAN_FILE;
            !passing && self.files.get(path) != Some(text) && !path.ends_with("fixtures.tf")
        });
        Ok(files)
    }

    /// Takes over what another program left behind. Only a stage on which the same steps were set can do that.
    pub(super) fn take_over(&self, left: &Value) -> Result<()> {
        for (path, text) in left.as_object().into_iter().flatten() {
            self.write(path, text.as_str().unwrap_or_default())?;
        }
        Ok(())
    }

    /// Removes everything but the scenario's own files and what was installed.
    pub(super) fn forget(&self) -> Result<()> {
        for path in self.left_files()?.keys() {
            fs::remove_file(self.dir.join(path))?;
        }
        for (path, text) in &self.files {
            self.write(path, text)?;
        }
        Ok(())
    }
}

/// Text files below a directory, without what is installed or in passing.
fn list(dir: &Path, prefix: &str, files: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if name == ".terraform/modules" || name == ".terraform/providers" {
            continue;
        }
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{name}/"), files)?;
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            files.insert(name, text);
        }
    }
    Ok(())
}

/// What a command with `-json` said: exit code, diagnostics and events.
fn said(run: &Run) -> Value {
    let mut diagnostics = Vec::new();
    let mut events = Vec::new();
    let mut noise = Vec::new();
    for line in run.text().lines() {
        match serde_json::from_str::<Value>(line) {
            Ok(event) if event["type"] == "diagnostic" => diagnostics.push(diagnostic(&event["diagnostic"])),
            Ok(event) if event["type"] == "version" || event["type"] == "log" => {}
            Ok(event) => events.push(event),
            Err(_) => noise.push(line.to_owned()),
        }
    }
    diagnostics.retain(|found| found["summary"] != "Provider development overrides are in effect");
    let stderr = if run.code == Some(0) || run.code == Some(2) { "" } else { run.stderr.trim() };
    json!({ "exit": run.code, "diagnostics": diagnostics, "events": events, "noise": noise, "stderr": stderr })
}

/// What of a diagnostic is kept.
fn diagnostic(found: &Value) -> Value {
    let place = match (found["range"]["filename"].as_str(), found["range"]["start"]["line"].as_u64()) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => "-".to_owned(),
    };
    json!({
        "severity": found["severity"], "summary": found["summary"], "place": place, "address": found["address"],
        "detail": found["detail"],
    })
}

/// Whether a file is read by the programs.
fn is_configuration(path: &str) -> bool {
    let path = Path::new(path);
    let ending = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.split_once('.'));
    ending.is_some_and(|(_, ending)| ["tf", "tf.json"].contains(&ending))
}

/// The JSON that a command printed, or why there is none.
fn document(run: &Run) -> Value {
    serde_json::from_slice(&run.stdout)
        .unwrap_or_else(|_| json!({ "exit": run.code, "no JSON": run.text(), "stderr": run.stderr.trim() }))
}

/// What another command answered. Its text is kept only where it is meant for programs.
fn answered(arguments: &[String], run: &Run) -> Value {
    let command: Vec<&str> = arguments.iter().map(String::as_str).take_while(|word| !word.starts_with('-')).collect();
    let told = matches!(
        command.as_slice(),
        ["state", "list", ..] | ["workspace", "list" | "show", ..] | ["output", ..] | ["show", ..] | ["state", "pull"]
    );
    let text = plain(&run.text());
    let output = if told {
        serde_json::from_str(&text).unwrap_or_else(|_| json!(text.lines().collect::<Vec<_>>()))
    } else {
        Value::Null
    };
    let summaries = |text: &str| -> Vec<String> {
        let summary = |line: &str| {
            let line = line.trim_start_matches(['│', '╷', '╵', ' ']);
            let found = line.starts_with("Error: ") || line.starts_with("Warning: ");
            (found && !line.contains("Provider development overrides")).then(|| line.to_owned())
        };
        text.lines().filter_map(summary).collect()
    };
    let problems = [summaries(&text), summaries(&plain(&run.stderr))].concat();
    json!({ "exit": run.code, "output": output, "problems": problems })
}

/// A text without colours.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}
