//! The parts of a plan file, from what they are made of to bytes and back.

use std::collections::{BTreeMap, BTreeSet};

use groma_engine::plan::Plan;
use groma_engine::plan_file;
use groma_model::address::Provider;
use groma_model::codec::json;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_provider::install::Locks;
use groma_state::{Layout, State};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::container::{ABOUT, Container, Part, sha256};
use super::{Contents, SavedPlan, Snapshot};

const PLAN: &str = "plan";
const VARIABLES: &str = "variables";
const CONFIGURATION: &str = "configuration";
const PROVIDERS: &str = "providers";
const BACKEND: &str = "backend";
const STATE: &str = "state";

/// Where a state is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackendRecord {
    /// The type of the backend.
    pub kind: String,
    /// Its settings, as JSON.
    pub config: serde_json::Value,
    /// The workspace.
    pub workspace: String,
}

/// Which version of a provider was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockRecord {
    /// The version.
    pub version: String,
    /// What its packages may be like.
    pub hashes: Vec<String>,
}

/// Which snapshot of which state a plan was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateRecord {
    /// The line of states. Empty if there was no state.
    pub lineage: String,
    /// Where on it.
    pub serial: u64,
    /// A hash of what was in it.
    pub content: String,
}

impl StateRecord {
    /// Of a state as it was read.
    pub fn of(state: &State) -> Result<Self, String> {
        let text = groma_state::encode(state, Layout::Compact).map_err(|problem| problem.to_string())?;
        // The heading says which snapshot it is and who wrote it, and comes first.
        let content = text.find("\"outputs\":").map_or(text.as_str(), |at| &text[at..]);
        let (lineage, serial) = (state.lineage.clone(), state.serial);
        Ok(Self { lineage, serial, content: sha256(content.as_bytes()) })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    seconds: i64,
    nanoseconds: u32,
}

/// Values as JSON with their types, since what was given need not be of the variable's type yet.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variables {
    values: BTreeMap<String, String>,
    ephemeral: BTreeSet<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanHeading {
    errored: bool,
    /// Of all objects in it: without their schemas it cannot be read.
    providers: BTreeSet<String>,
}

/// All parts of a plan file.
pub(super) fn of(contents: &Contents<'_>) -> Result<Vec<Part>, String> {
    let heading = PlanHeading { errored: contents.plan.errored, providers: providers(contents.plan) };
    let mut plan = json_bytes(&heading)?;
    plan.push(b'\n');
    plan.extend(plan_file::encode(contents.plan).map_err(|problem| format!("The plan cannot be saved: {problem}."))?);
    let (seconds, nanoseconds) = contents.time;
    let state = StateRecord::of(contents.state).map_err(|problem| format!("The state cannot be saved: {problem}."))?;
    let parts = [
        (PLAN, plan),
        (VARIABLES, json_bytes(&variables(contents)?)?),
        (CONFIGURATION, contents.configuration.to_bytes()),
        (PROVIDERS, json_bytes(&locks(contents.locks))?),
        (BACKEND, json_bytes(contents.backend)?),
        (STATE, json_bytes(&state)?),
        (ABOUT, json_bytes(&About { seconds, nanoseconds })?),
    ];
    Ok(parts.into_iter().map(|(name, bytes)| Part { name: name.to_owned(), bytes }).collect())
}

fn providers(plan: &Plan) -> BTreeSet<String> {
    let changes = plan.changes.iter().chain(&plan.drift);
    let mut found: BTreeSet<&Provider> = changes.map(|change| &change.provider.config.provider).collect();
    found.extend(plan.prior_state.providers());
    found.into_iter().map(Provider::to_string).collect()
}

fn json_bytes(value: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(value).map_err(|problem| problem.to_string())
}

fn variables(contents: &Contents<'_>) -> Result<Variables, String> {
    let mut found = Variables { values: BTreeMap::new(), ephemeral: BTreeSet::new() };
    for (name, input) in contents.inputs {
        let variable = contents.declared.get(name);
        let (value, marks) = input.value.clone().unmark_deep();
        if marks.is_ephemeral() || variable.is_some_and(groma_lang::config::Variable::is_ephemeral) {
            found.ephemeral.insert(name.to_string());
            continue;
        }
        let text = json::encode(&value, &Type::Dynamic)
            .map_err(|problem| format!("The value of var.{name} cannot be saved: {problem}."))?;
        found.values.insert(name.to_string(), text);
    }
    Ok(found)
}

/// What is locked, by provider.
pub(super) fn locks(locks: &Locks) -> BTreeMap<String, LockRecord> {
    let record = |lock: &groma_provider::install::ProviderLock| {
        let hashes = lock.hashes().iter().map(|hash| hash.as_str().to_owned()).collect();
        (lock.provider.to_string(), LockRecord { version: lock.version.to_string(), hashes })
    };
    locks.iter().map(record).collect()
}

/// The plan again. The checksums are right, but that says nothing about who wrote the file.
pub(super) fn read(container: &Container) -> Result<SavedPlan, String> {
    let plan = container.part(PLAN)?;
    let newline = plan.iter().position(|byte| *byte == b'\n').ok_or_else(|| unreadable(PLAN))?;
    let (heading, plan) = plan.split_at(newline);
    let heading: PlanHeading = serde_json::from_slice(heading).map_err(|_| unreadable(PLAN))?;
    let parsed = heading.providers.iter().map(|provider| Provider::parse_source(provider));
    let providers = parsed.collect::<Result<_, _>>().map_err(|_| unreadable(PLAN))?;
    let About { seconds, nanoseconds } = json_part(container, ABOUT)?;
    let Variables { values, ephemeral } = json_part(container, VARIABLES)?;
    let mut variables = BTreeMap::new();
    for (name, text) in values {
        let value = json::decode(&text, &Type::Dynamic).map_err(|_| unreadable(VARIABLES))?;
        variables.insert(Str::from(name), value);
    }
    let configuration = Snapshot::from_bytes(container.part(CONFIGURATION)?);
    Ok(SavedPlan {
        id: container.id(),
        plan: plan.get(1..).unwrap_or_default().to_vec(),
        errored: heading.errored,
        providers,
        time: (seconds, nanoseconds),
        variables,
        ephemeral: ephemeral.into_iter().map(Str::from).collect(),
        configuration: configuration.ok_or_else(|| unreadable(CONFIGURATION))?,
        locks: json_part(container, PROVIDERS)?,
        backend: json_part(container, BACKEND)?,
        state: json_part(container, STATE)?,
    })
}

fn json_part<T: DeserializeOwned>(container: &Container, name: &str) -> Result<T, String> {
    serde_json::from_slice(container.part(name)?).map_err(|_| unreadable(name))
}

fn unreadable(part: &str) -> String {
    format!("The part {part:?} of the plan file cannot be read. Make a new plan.")
}
