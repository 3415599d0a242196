//! Scenarios: sequences of configurations that groma and OpenTofu plan and apply with the same providers. After every step
//! plans, states, outputs, messages and exit codes must be the same; and what one stored, the other must understand: it plans
//! what the first would plan itself.

mod canon;
mod facets;
mod plugins;
mod script;
mod stage;
mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::allowed::Allowed;
use super::program::Program;
use super::{Case, Outcome, Programs, answers, corpus, pool, scratch};
use facets::Facets;
use plugins::Plugins;
use script::{Action, Scenario};
use stage::Stage;

/// Part of the key of kept answers: to be raised when what is recorded changes.
const HARNESS: &str = "4";

/// Part of the key of what is kept in names: to be raised when these are given otherwise.
const NAMES: &str = "3";

/// Lines of a difference that are shown per part of a step.
const SHOWN: usize = 12;

/// Compares all scenarios whose id contains the filter.
pub(super) fn compare(programs: &Programs, allowed: &Allowed, filter: &str) -> Result<Vec<Case>> {
    let plugins = Plugins::find()?;
    let mut scenarios = Vec::new();
    for path in corpus::entries("scenarios")? {
        let name = corpus::name_of(&path).trim_end_matches(".txt").to_owned();
        if id(&name).contains(filter) {
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            scenarios.push((script::parse(&name, &text)?, text));
        }
    }
    let cases = pool::map(&scenarios, |_, (scenario, text)| {
        let contest = Contest { programs, plugins: &plugins, scenario, text };
        contest.cases(allowed).with_context(|| format!("scenario {}", scenario.name))
    })?;
    Ok(cases.into_iter().flatten().collect())
}

fn id(name: &str) -> String {
    format!("scenarios/{name}")
}

/// One scenario with everybody who plays it.
struct Contest<'a> {
    programs: &'a Programs,
    plugins: &'a Plugins,
    scenario: &'a Scenario,
    text: &'a str,
}

impl Contest<'_> {
    /// One case if everything is equal, else one per part of a step that differs.
    fn cases(&self, allowed: &Allowed) -> Result<Vec<Case>> {
        let mut kept = Kept::load(&self.scenario.name, self.key())?;
        let tofu = self.oracle(&mut kept)?;
        let mut cases = self.expectations(&tofu);
        let groma = self.play(&self.programs.groma, self.groma_settings())?;
        let mut ours = facets::of(self.scenario, &groma);
        let mut theirs = facets::of(self.scenario, &tofu);
        self.crossings(&groma, &tofu, &mut kept, [&mut ours, &mut theirs])?;
        kept.save()?;
        for (index, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            cases.extend(self.differences(index + 1, ours, theirs, allowed));
        }
        if cases.is_empty() {
            let same = || Outcome { verdict: "the same".to_owned(), detail: String::new() };
            cases.push(Case { id: id(&self.scenario.name), groma: same(), tofu: same(), terraform: None });
        }
        Ok(cases)
    }

    /// All that OpenTofu's answers depend on.
    fn key(&self) -> String {
        answers::key(&self.programs.tofu, &[HARNESS.as_bytes(), self.plugins.identity.as_bytes(), self.text.as_bytes()])
    }

    fn groma_settings(&self) -> &Path {
        if self.scenario.embedded { &self.plugins.fixtures } else { &self.plugins.all }
    }

    /// What OpenTofu does, from an earlier run if there was one.
    fn oracle(&self, kept: &mut Kept) -> Result<Vec<Value>> {
        if let Some(records) = kept.document["records"].as_array() {
            return Ok(records.clone());
        }
        let records = self.play(&self.programs.tofu, &self.plugins.all)?;
        kept.document["records"] = Value::Array(records.clone());
        kept.changed = true;
        Ok(records)
    }

    /// The record of every step.
    fn play(&self, program: &Program, settings: &Path) -> Result<Vec<Value>> {
        let mut stage = Stage::new(program, settings, self.scenario, "plays")?;
        self.scenario.steps.iter().map(|step| stage.play(step)).collect()
    }

    /// A case for every expectation that OpenTofu does not meet: the scenario does not show what it was written for.
    fn expectations(&self, tofu: &[Value]) -> Vec<Case> {
        let mut cases = Vec::new();
        for (index, (step, record)) in self.scenario.steps.iter().zip(tofu).enumerate() {
            let lines = facets::summary(record);
            for expected in &step.expected {
                if !lines.iter().any(|line| line.contains(expected.as_str())) {
                    let id = format!("{} step {}: expects {expected}", id(&self.scenario.name), index + 1);
                    let tofu = Outcome { verdict: lines.join("\n"), detail: String::new() };
                    let groma = Outcome { verdict: String::new(), detail: String::new() };
                    cases.push(Case { id, groma, tofu, terraform: None });
                }
            }
        }
        cases
    }

    /// Each program plans what the other left behind, as it would plan its own.
    fn crossings(
        &self,
        groma: &[Value],
        tofu: &[Value],
        kept: &mut Kept,
        [ours, theirs]: [&mut [Facets]; 2],
    ) -> Result<()> {
        let mut on_theirs = Stage::new(&self.programs.groma, self.groma_settings(), self.scenario, "crosses")?;
        let mut on_ours = Stage::new(&self.programs.tofu, &self.plugins.all, self.scenario, "crosses")?;
        for (index, step) in self.scenario.steps.iter().enumerate() {
            on_theirs.set(step)?;
            on_ours.set(step)?;
            let (Action::Apply(arguments) | Action::Direct(arguments)) = &step.action else { continue };
            let Some(expected) = next_of(&theirs[index]) else { continue };
            on_theirs.forget()?;
            on_theirs.take_over(&tofu[index]["left"])?;
            let next = neutral(&on_theirs.next(arguments)?, &tofu[..=index], self.scenario);
            ours[index].insert("next.groma-after-tofu".to_owned(), next);
            theirs[index].insert("next.groma-after-tofu".to_owned(), expected.clone());
            let left = &groma[index]["left"];
            if groma[index]["states"].as_object().is_none_or(serde_json::Map::is_empty) {
                continue;
            }
            let key = crossing_key(index, &ours[index]["state"]);
            if kept.document["crossings"].get(&key).is_none() {
                on_ours.forget()?;
                on_ours.take_over(left)?;
                let next = neutral(&on_ours.next(arguments)?, &groma[..=index], self.scenario);
                kept.document["crossings"][&key] = next;
                kept.changed = true;
            }
            ours[index].insert("next.tofu-after-groma".to_owned(), kept.document["crossings"][&key].clone());
            theirs[index].insert("next.tofu-after-groma".to_owned(), expected);
        }
        Ok(())
    }

    /// The parts of a step that differ, and those that may but do not.
    fn differences(&self, number: usize, ours: &Facets, theirs: &Facets, allowed: &Allowed) -> Vec<Case> {
        let mut cases = Vec::new();
        let names: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        for name in names {
            let id = format!("{} step {number}: {name}", id(&self.scenario.name));
            let mut found = ours.get(name).cloned();
            if let (Some(found), Some(expected)) = (&mut found, theirs.get(name)) {
                facets::forgive_places(found, expected);
                facets::forgive_failures(found, expected);
            }
            let (groma, tofu) = sides(found.as_ref(), theirs.get(name));
            if groma != tofu || allowed.reason(&id).is_some() {
                let outcome = |verdict: String| Outcome { verdict, detail: String::new() };
                cases.push(Case { id, groma: outcome(groma), tofu: outcome(tofu), terraform: None });
            }
        }
        cases
    }
}

/// A brief verdict about what others left, in the names that these others' values have.
fn neutral(next: &Value, records: &[Value], scenario: &Scenario) -> Value {
    let mut records = records.to_vec();
    if let Some(last) = records.last_mut() {
        last["next"] = next.clone();
    }
    facets::of(scenario, &records).pop().and_then(|facets| next_of(&facets)).unwrap_or_default()
}

/// What a program would do next.
fn next_of(facets: &Facets) -> Option<Value> {
    Some(json!({ "verdict": facets.get("next")?, "events": facets.get("next.stream")? }))
}

/// What another plan depends on: the step and the state, in names.
fn crossing_key(index: usize, state: &Value) -> String {
    use sha2::Digest as _;
    let hash = sha2::Sha256::digest(format!("{NAMES} {}", canon::line(state)).as_bytes());
    let short = hash.iter().take(16).fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
    format!("{} {short:032x}", index + 1)
}

/// The leaves that differ, one per line, for either side.
fn sides(ours: Option<&Value>, theirs: Option<&Value>) -> (String, String) {
    let leaves = |value: Option<&Value>| {
        let mut found = BTreeMap::new();
        if let Some(value) = value {
            canon::leaves(value, "", &mut found);
        }
        found
    };
    let (ours, theirs) = (leaves(ours), leaves(theirs));
    let side = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
        let differs = one.iter().filter(|(path, value)| other.get(*path) != Some(value));
        let mut lines: Vec<String> = differs.map(|(path, value)| format!("{path} = {value}")).collect();
        if lines.len() > SHOWN {
            let more = lines.len() - SHOWN;
            lines.truncate(SHOWN);
            lines.push(format!("… and {more} more"));
        }
        lines.join("\n")
    };
    (side(&ours, &theirs), side(&theirs, &ours))
}

/// OpenTofu's answers about a scenario from earlier runs.
struct Kept {
    file: PathBuf,
    document: Value,
    changed: bool,
}

impl Kept {
    /// Reads them, unless they are about something else.
    fn load(name: &str, key: String) -> Result<Self> {
        let dir = scratch::root()?.join("answers-scenarios");
        std::fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let file = dir.join(format!("{name}.json"));
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let document = serde_json::from_str(&text).ok().filter(|document: &Value| document["key"] == key.as_str());
        let document = document.unwrap_or_else(|| json!({ "key": key, "crossings": {} }));
        Ok(Self { file, document, changed: false })
    }

    fn save(&self) -> Result<()> {
        if !self.changed {
            return Ok(());
        }
        let unfinished = self.file.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&unfinished, self.document.to_string())?;
        std::fs::rename(&unfinished, &self.file).context("cannot move the answers into place")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_can_be_read_and_says_what_it_expects() {
        for path in corpus::entries("scenarios").unwrap() {
            let name = corpus::name_of(&path).trim_end_matches(".txt").to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let scenario = script::parse(&name, &text).unwrap();
            assert!(text.starts_with("# "), "{name} does not say what it is about");
            assert!(scenario.steps.iter().any(|step| !step.expected.is_empty()), "{name} expects nothing");
        }
    }

    #[test]
    fn only_what_differs_is_shown() {
        let (ours, theirs) = sides(Some(&json!({ "a": 1, "b": 2 })), Some(&json!({ "a": 1, "b": 3, "c": {} })));
        assert_eq!((ours.as_str(), theirs.as_str()), (".b = 2", ".b = 3\n.c = {}"));
    }
}
