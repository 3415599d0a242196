//! Encoding and decoding an object of a megabyte. It is written down with its type, for others to do the same.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use groma_model::codec::{msgpack, type_json};
use groma_model::ty::Type;
use groma_model::value::Value;
use serde_json::json;

/// So many rows make a megabyte.
const ROWS: i64 = 4200;

/// An object as large providers have them: rows of texts, numbers, flags, tags and lists.
fn object() -> Value {
    let row = |index: i64| {
        let text = |what: &str| Value::string(format!("{what}-{index:06}"));
        let tags = ["Name", "Owner", "Environment"].map(|name| (name, text("tag value")));
        Value::object([
            ("id", text("i")),
            ("arn", text("arn:partition:service:region:account:resource/with-a-long-name")),
            ("size", Value::number(index)),
            ("ratio", Value::number(groma_model::number::Number::from(index * 7919))),
            ("enabled", Value::bool(index % 2 == 0)),
            ("description", if index % 3 == 0 { Value::null(Type::String) } else { text("a text of some words") }),
            ("tags", Value::map(Type::String, tags.into_iter().collect())),
            ("zones", Value::strings(["a", "b", "c"])),
        ])
    };
    let rows: Vec<Value> = (0..ROWS).map(row).collect();
    Value::object([("rows", Value::list(row(0).ty(), rows)), ("name", Value::string("everything"))])
}

pub(crate) fn measure(dir: &Path, runs: usize) -> Result<serde_json::Value> {
    let object = object();
    let ty = object.ty();
    let packed = msgpack::encode(&object, &ty)?;
    std::fs::create_dir_all(dir)?;
    std::fs::write(dir.join("object.msgpack"), &packed)?;
    std::fs::write(dir.join("type.json"), type_json::encode(&ty))?;
    let (mut encode, mut decode) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let (decoded, time) = timed(|| msgpack::decode(&packed, &ty))?;
        decode.push(time);
        ensure!(decoded == object, "it came back as something else");
        let (encoded, time) = timed(|| msgpack::encode(&decoded, &ty))?;
        encode.push(time);
        ensure!(encoded == packed, "it was encoded as something else");
    }
    let nanos = |times: &[Duration]| times.iter().map(|time| time.as_nanos() as u64).collect::<Vec<_>>();
    Ok(json!({ "bytes": packed.len(), "encode": nanos(&encode), "decode": nanos(&decode) }))
}

#[expect(clippy::disallowed_methods, reason = "this measures")]
fn timed<T, E: std::error::Error + Send + Sync + 'static>(
    work: impl FnOnce() -> Result<T, E>,
) -> Result<(T, Duration)> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed()))
}
