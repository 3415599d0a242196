//! The calls of a whole operation, from a client that does nothing else: as many of each as `groma` makes for so many `time_static`, with as
//! many under way at a time. Nothing is read, evaluated, compared or written down.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use groma_model::codec::{json, msgpack};
use groma_model::ty::Type;
use groma_model::value::Value;
use tokio::task::JoinSet;

use crate::TYPE;
use crate::bare::{Calls, Client};
use crate::messages::{Applied, Apply, Capabilities, DynamicValue, Plan, Planned, RawState, Upgrade, Validate};

/// How many calls are under way at a time.
const PARALLELISM: usize = 10;

/// What is done, one process each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Validates and plans.
    Plan,
    /// Plans, and makes everything.
    Apply,
    /// Reads, and plans that nothing changes.
    SecondPlan,
    /// Reads, plans and deletes.
    Destroy,
}

impl Stage {
    pub(crate) fn parse(name: &str) -> Result<Self> {
        Ok(match name {
            "plan" => Self::Plan,
            "apply" => Self::Apply,
            "second-plan" => Self::SecondPlan,
            "destroy" => Self::Destroy,
            _ => bail!("{name} is no stage"),
        })
    }
}

/// What goes over the wire.
struct Bytes {
    config: Vec<u8>,
    object: Vec<u8>,
    stored: Vec<u8>,
    nothing: Vec<u8>,
}

/// Goes through a stage.
pub(crate) async fn run(program: &Path, count: usize, stage: Stage) -> Result<()> {
    let client = Client::start(program).await?;
    let bytes = Arc::new(Bytes::new()?);
    let mut calls = client.calls();
    // What the block says is checked once, before any of its instances.
    calls.validate(validation(&bytes)).await?;
    calls.prepare().await?;
    calls.configure().await?;
    each(&client, count, &bytes, move |calls, bytes| planned(calls, bytes, stage)).await?;
    if matches!(stage, Stage::Apply | Stage::Destroy) {
        calls.prepare().await?;
        each(&client, count, &bytes, move |calls, bytes| applied(calls, bytes, stage)).await?;
    }
    client.end().await;
    Ok(())
}

/// Does something as often as there are objects.
async fn each<F>(client: &Client, count: usize, bytes: &Arc<Bytes>, work: impl Fn(Calls, Arc<Bytes>) -> F) -> Result<()>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        if tasks.len() >= PARALLELISM {
            tasks.join_next().await.context("no task")???;
        }
        tasks.spawn(work(client.calls(), Arc::clone(bytes)));
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

/// What planning one object takes.
async fn planned(mut calls: Calls, bytes: Arc<Bytes>, stage: Stage) -> Result<()> {
    let exists = matches!(stage, Stage::SecondPlan | Stage::Destroy);
    if stage != Stage::Destroy {
        calls.validate(validation(&bytes)).await?;
    }
    if exists {
        calls.upgrade(upgrade(&bytes)).await?;
        calls.read(TYPE, &bytes.object).await?;
    }
    let (prior, wanted) = match stage {
        Stage::Plan | Stage::Apply => (&bytes.nothing, &bytes.config),
        Stage::SecondPlan => (&bytes.object, &bytes.object),
        Stage::Destroy => (&bytes.object, &bytes.nothing),
    };
    let config = if stage == Stage::Destroy { &bytes.nothing } else { &bytes.config };
    calls.plan(plan(prior, wanted, config)).await.map(drop)
}

/// What carrying out one change takes.
async fn applied(mut calls: Calls, bytes: Arc<Bytes>, stage: Stage) -> Result<()> {
    if stage == Stage::Destroy {
        calls.upgrade(upgrade(&bytes)).await?;
        let gone = calls.apply(apply(&bytes.object, bytes.nothing.clone(), &bytes.nothing, Vec::new())).await?;
        ensure!(packed(&gone)? == bytes.nothing, "it is still there");
        return Ok(());
    }
    calls.validate(validation(&bytes)).await?;
    let Planned { planned_state, planned_private } =
        calls.plan(plan(&bytes.nothing, &bytes.config, &bytes.config)).await?;
    let planned_state = planned_state.context("no plan")?.msgpack;
    let made = calls.apply(apply(&bytes.nothing, planned_state, &bytes.config, planned_private)).await?;
    ensure!(packed(&made)? != bytes.nothing, "it was not made");
    Ok(())
}

impl Bytes {
    fn new() -> Result<Self> {
        let texts = ["id", "rfc3339"].map(|name| (name, Type::String, Value::string("2020-02-12T06:36:13Z")));
        let numbers = [("day", 12), ("hour", 6), ("minute", 36), ("month", 2), ("second", 13), ("year", 2020)];
        let numbers = numbers.map(|(name, number)| (name, Type::Number, Value::number(number)));
        let others = [
            ("unix", Type::Number, Value::number(1_581_489_373_i64)),
            ("triggers", Type::map(Type::String), Value::null(Type::map(Type::String))),
        ];
        let all: Vec<(&str, Type, Value)> = texts.into_iter().chain(numbers).chain(others).collect();
        let object = Value::object(all.iter().map(|(name, _, value)| (*name, value.clone())));
        let config = Value::object(all.iter().map(|(name, ty, _)| (*name, Value::null(ty.clone()))));
        Ok(Self {
            config: msgpack::encode(&config, &config.ty())?,
            object: msgpack::encode(&object, &object.ty())?,
            stored: json::encode(&object, &object.ty())?.into_bytes(),
            nothing: msgpack::encode(&Value::null(object.ty()), &object.ty())?,
        })
    }
}

fn value(bytes: &[u8]) -> DynamicValue {
    DynamicValue { msgpack: bytes.to_vec(), json: Vec::new() }
}

fn packed(applied: &Applied) -> Result<Vec<u8>> {
    Ok(applied.new_state.clone().context("no answer")?.msgpack)
}

fn capabilities() -> Capabilities {
    Capabilities { deferral_allowed: false, write_only_attributes_allowed: true }
}

fn validation(bytes: &Bytes) -> Validate {
    Validate { type_name: TYPE.to_owned(), config: Some(value(&bytes.config)), capabilities: Some(capabilities()) }
}

fn upgrade(bytes: &Bytes) -> Upgrade {
    let raw_state = Some(RawState { json: bytes.stored.clone() });
    Upgrade { type_name: TYPE.to_owned(), version: 0, raw_state }
}

fn plan(prior: &[u8], proposed: &[u8], config: &[u8]) -> Plan {
    Plan {
        type_name: TYPE.to_owned(),
        prior_state: Some(value(prior)),
        proposed_new_state: Some(value(proposed)),
        config: Some(value(config)),
        prior_private: Vec::new(),
        capabilities: Some(capabilities()),
    }
}

fn apply(prior: &[u8], planned: Vec<u8>, config: &[u8], planned_private: Vec<u8>) -> Apply {
    Apply {
        type_name: TYPE.to_owned(),
        prior_state: Some(value(prior)),
        planned_state: Some(DynamicValue { msgpack: planned, json: Vec::new() }),
        config: Some(value(config)),
        planned_private,
    }
}
