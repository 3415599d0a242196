//! What plugins cost: our client beside a bare one on the same transport, in turns, in one process. `xtask bench` runs it
//! and judges; it prints times in nanoseconds as JSON.

mod bare;
mod codec;
mod messages;
mod operate;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use groma_model::value::Value;
use groma_provider::api::{ClientCapabilities, ConfigureRequest, Private, Provider as _, ReadRequest};
use groma_provider::wire::{Launch, PluginProvider, SchemaCache, schema_of};
use serde_json::json;

/// The resource that all of this is about.
pub(crate) const TYPE: &str = "time_static";

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["start", program, runs] => start(Path::new(program), runs.parse()?).await?,
        ["warm", program, dir, runs] => warm(Path::new(program), Path::new(dir), runs.parse()?).await?,
        ["read", program, calls, runs] => read(Path::new(program), calls.parse()?, runs.parse()?).await?,
        ["operate", program, count, stage] => {
            operate::run(Path::new(program), count.parse()?, operate::Stage::parse(stage)?).await?;
            json!({})
        }
        ["codec", dir, runs] => codec::measure(&PathBuf::from(dir), runs.parse()?)?,
        _ => bail!(
            "usage: wirebench start PROGRAM RUNS | warm PROGRAM DIR RUNS | read PROGRAM CALLS RUNS | \
             operate PROGRAM COUNT plan|apply|second-plan|destroy | codec DIR RUNS"
        ),
    };
    print(&result)
}

#[expect(clippy::print_stdout, reason = "the result")]
fn print(result: &serde_json::Value) -> Result<()> {
    println!("{}", serde_json::to_string(result)?);
    Ok(())
}

/// Runs something and takes its time.
#[expect(clippy::disallowed_methods, reason = "this measures")]
pub(crate) async fn timed<T>(work: impl Future<Output = Result<T>>) -> Result<(T, Duration)> {
    let start = Instant::now();
    let result = work.await?;
    Ok((result, start.elapsed()))
}

fn shown(ours: &[Duration], bare: &[Duration]) -> serde_json::Value {
    let nanos = |times: &[Duration]| times.iter().map(|time| time.as_nanos() as u64).collect::<Vec<_>>();
    json!({ "ours": nanos(ours), "bare": nanos(bare) })
}

/// From nothing to a schema that can be used.
async fn start(program: &Path, runs: usize) -> Result<serde_json::Value> {
    let launch = Launch::new(program);
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    // The first of each warms up.
    for run in 0..=runs {
        let opened = async {
            let plugin = PluginProvider::open(&launch, None).await?;
            plugin.schema().resources.get(TYPE).context("no such type")?.get()?;
            Ok(plugin)
        };
        let (plugin, time) = timed(opened).await?;
        plugin.shutdown().await?;
        let opened = async {
            let client = bare::Client::start(program).await?;
            let mut calls = client.calls();
            let schemas = calls.schemas().await?;
            anyhow::ensure!(schemas.resources.contains_key(TYPE), "no such type");
            calls.identity_schemas().await?;
            Ok(client)
        };
        let (client, bare_time) = timed(opened).await?;
        client.end().await;
        if run > 0 {
            ours.push(time);
            bare.push(bare_time);
        }
    }
    Ok(shown(&ours, &bare))
}

/// From nothing to a schema that is known already, and to one that is not.
async fn warm(program: &Path, dir: &Path, runs: usize) -> Result<serde_json::Value> {
    let launch = Launch::new(program);
    schema_of(&launch, &SchemaCache::new(dir)).await?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let known = async {
            let known = schema_of(&launch, &SchemaCache::new(dir)).await?;
            known.schema().resources.get(TYPE).context("no such type")?.get()?;
            Ok(())
        };
        ours.push(timed(known).await?.1);
        let asked = async {
            let client = bare::Client::start(program).await?;
            client.calls().schemas().await?;
            Ok(client)
        };
        let (client, time) = timed(asked).await?;
        client.end().await;
        bare.push(time);
    }
    Ok(shown(&ours, &bare))
}

/// Calls that follow each other.
async fn read(program: &Path, calls: usize, runs: usize) -> Result<serde_json::Value> {
    let plugin = PluginProvider::open(&Launch::new(program), None).await?;
    let client = bare::Client::start(program).await?;
    let mut bare_calls = client.calls();
    bare_calls.schemas().await?;
    let config = Value::empty_object();
    let capabilities = ClientCapabilities::default();
    plugin.configure(ConfigureRequest { terraform_version: "1.12.0".into(), config, capabilities }).await?;
    bare_calls.configure().await?;
    let object = object(&plugin)?;
    let packed = groma_model::codec::msgpack::encode(&object, &object.ty())?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for run in 0..=runs {
        let all = async {
            for _ in 0..calls {
                let request = ReadRequest {
                    type_name: TYPE.into(),
                    current: object.clone(),
                    private: Private::default(),
                    identity: None,
                    provider_meta: None,
                };
                anyhow::ensure!(!plugin.read(request).await?.object.is_null(), "it is gone");
            }
            Ok(())
        };
        let ((), time) = timed(all).await?;
        let all = async {
            for _ in 0..calls {
                bare_calls.read(TYPE, &packed).await?;
            }
            Ok(())
        };
        let ((), bare_time) = timed(all).await?;
        if run > 0 {
            ours.push(time);
            bare.push(bare_time);
        }
    }
    plugin.shutdown().await?;
    client.end().await;
    Ok(shown(&ours, &bare))
}

/// An object as the plugin would have made it.
fn object(plugin: &PluginProvider) -> Result<Value> {
    let schema = plugin.schema().resources.get(TYPE).context("no such type")?.get()?;
    let known = [
        ("id", Value::string("2020-02-12T06:36:13Z")),
        ("rfc3339", Value::string("2020-02-12T06:36:13Z")),
        ("day", Value::number(12)),
        ("hour", Value::number(6)),
        ("minute", Value::number(36)),
        ("month", Value::number(2)),
        ("second", Value::number(13)),
        ("unix", Value::number(1_581_489_373_i64)),
        ("year", Value::number(2020)),
    ];
    let attributes = schema.block.attributes.iter().map(|(name, attribute)| {
        let given = known.iter().find(|(known, _)| *known == name.as_str()).map(|(_, value)| value.clone());
        (name.clone(), given.unwrap_or_else(|| Value::null(attribute.implied_type())))
    });
    Ok(Value::object(attributes))
}
