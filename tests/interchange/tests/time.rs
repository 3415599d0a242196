//! The built-in `time` provider and the published plugin, asked the same questions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use groma_builtin::Outside;
use groma_interchange::texts::{function_without_texts, without_texts};
use groma_interchange::{Driven, Kept};
use groma_model::value::Value;
use groma_provider::api::Private;
use serde_json::{Value as Json, json};

async fn both() -> (Driven, Driven) {
    (Driven::builtin("time", &Outside::system(".")).await, Driven::plugin("GROMA_PROVIDER_TIME").await)
}

/// Configurations of each type; those of one type follow each other as changes.
fn configs() -> Vec<(&'static str, Vec<Json>)> {
    let base = "2020-01-31T10:20:30Z";
    let far = "2990-01-01T00:00:00+00:00";
    vec![
        (
            "time_static",
            vec![
                json!({}),
                json!({"triggers": {"a": "b"}}),
                json!({"rfc3339": base}),
                json!({"rfc3339": "2020-01-31T10:20:30+05:30"}),
                json!({"rfc3339": "2020-01-31T10:20:30+00:00"}),
                json!({"rfc3339": "(unknown)"}),
                json!({"triggers": "(unknown)", "rfc3339": base}),
            ],
        ),
        (
            "time_offset",
            vec![
                json!({"offset_days": 7}),
                json!({"offset_hours": -7}),
                json!({"offset_months": 1, "base_rfc3339": base}),
                json!({"offset_months": 13, "offset_seconds": 1, "offset_minutes": 5, "base_rfc3339": base}),
                json!({"offset_years": 1, "base_rfc3339": "2024-02-29T00:00:00-08:00"}),
                json!({"offset_years": 1, "base_rfc3339": "(unknown)"}),
                json!({"offset_years": 2, "base_rfc3339": base, "triggers": {"a": "b"}}),
            ],
        ),
        (
            "time_rotating",
            vec![
                json!({"rotation_days": 30}),
                json!({"rotation_years": 1}),
                json!({"rotation_months": 1, "rotation_hours": 3}),
                json!({"rotation_rfc3339": far}),
                json!({"rotation_rfc3339": "2990-01-01T00:00:00Z"}),
                json!({"rotation_years": 900, "rfc3339": base}),
                json!({"rotation_minutes": 5, "rfc3339": "2100-01-31T10:20:30Z", "triggers": {}}),
                json!({"rotation_days": 3, "triggers": "(unknown)"}),
            ],
        ),
        (
            "time_sleep",
            vec![
                json!({"create_duration": "1ms"}),
                json!({"create_duration": "2ms", "destroy_duration": "0.5ms"}),
                json!({"destroy_duration": "1ms", "triggers": {"a": null}}),
                json!({"create_duration": "(unknown)"}),
            ],
        ),
    ]
}

fn is_known(given: &Json) -> bool {
    given.as_object().unwrap().values().all(|value| value != "(unknown)")
}

/// The plugin plans `Z` where the configuration says `+00:00`, which no core accepts.
fn contradicts(given: &Json) -> bool {
    given["rotation_rfc3339"].as_str().is_some_and(|time| time.ends_with("+00:00"))
}

#[tokio::test]
async fn schemas_are_equal() {
    let (ours, theirs) = both().await;
    let (ours, theirs) = (ours.0.schema(), theirs.0.schema());
    assert_eq!(ours.metadata(), theirs.metadata());
    for (name, schema) in &theirs.resources {
        let (ours, theirs) = (ours.resources[name].get().unwrap(), schema.get().unwrap());
        assert_eq!(without_texts(ours), without_texts(theirs), "{name}");
    }
    for (name, function) in &theirs.functions {
        assert_eq!(function_without_texts(&ours.functions[name]), function_without_texts(function), "{name}");
    }
    assert_eq!(ours.identities, theirs.identities);
    assert_eq!(ours.provider.get().unwrap(), theirs.provider.get().unwrap());
}

#[tokio::test]
async fn plans_are_equal() {
    let (ours, theirs) = both().await;
    for (ty, configs) in configs() {
        for first in &configs {
            let (plan, expected) = (ours.plan(ty, None, first).await, theirs.plan(ty, None, first).await);
            assert_eq!(plan, expected, "new {ty} {first}");
            if !is_known(first) {
                continue;
            }
            let kept = theirs.create(ty, first).await;
            let kept = Kept { private: Private::default(), ..kept };
            for second in &configs {
                let (plan, expected) =
                    (ours.plan(ty, Some(&kept), second).await, theirs.plan(ty, Some(&kept), second).await);
                if contradicts(second) {
                    assert_eq!(plan.replaces, expected.replaces, "{ty} {first} to {second}");
                } else {
                    assert_eq!(plan, expected, "{ty} {first} to {second}");
                }
            }
        }
    }
}

#[tokio::test]
async fn objects_go_back_and_forth() {
    let (ours, theirs) = both().await;
    for (ty, configs) in configs() {
        for given in configs.iter().filter(|given| is_known(given)) {
            let version = ours.schema(ty).version;
            ours.agrees(ty, version, &theirs.create(ty, given).await.json(), given).await;
            theirs.agrees(ty, version, &ours.create(ty, given).await.json(), given).await;
        }
    }
}

#[tokio::test]
async fn changes_have_equal_results() {
    let (ours, theirs) = both().await;
    for (ty, configs) in configs() {
        for first in configs.iter().filter(|given| is_known(given)) {
            let kept = theirs.create(ty, first).await;
            for second in configs.iter().filter(|given| is_known(given) && !contradicts(given)) {
                if !theirs.plan(ty, Some(&kept), second).await.replaces.is_empty() {
                    continue;
                }
                let (result, expected) =
                    (ours.apply(ty, Some(&kept), second).await, theirs.apply(ty, Some(&kept), second).await);
                assert_eq!(result.object, expected.object, "{ty} {first} to {second}");
            }
        }
    }
}

#[tokio::test]
async fn bad_configurations_are_refused_alike() {
    let (ours, theirs) = both().await;
    for (ty, given) in [
        ("time_static", json!({"rfc3339": "abc"})),
        ("time_static", json!({"rfc3339": "2020-02-30T00:00:00Z"})),
        ("time_static", json!({"rfc3339": ""})),
        ("time_offset", json!({})),
        ("time_offset", json!({"offset_days": "(unknown)"})),
        ("time_offset", json!({"offset_days": 1, "base_rfc3339": "2020-01-01"})),
        ("time_rotating", json!({})),
        ("time_rotating", json!({"rotation_days": 0, "rotation_hours": -1})),
        ("time_rotating", json!({"rotation_rfc3339": "x", "rfc3339": "y"})),
        ("time_sleep", json!({})),
        ("time_sleep", json!({"create_duration": "(unknown)"})),
        ("time_sleep", json!({"create_duration": "1h30m", "destroy_duration": "-5s"})),
        ("time_sleep", json!({"create_duration": "1.s", "destroy_duration": ""})),
        ("time_sleep", json!({"create_duration": "1.5s"})),
    ] {
        assert_eq!(ours.validate(ty, &given).await, theirs.validate(ty, &given).await, "{ty} {given}");
    }
    // These are told in other words: the plugin calls them a mistake of its own.
    let given = json!({"offset_days": 1.5, "offset_hours": 1e20});
    let places = |told: Vec<(String, String, String)>| {
        told.into_iter().map(|(summary, path, _)| (summary, path)).collect::<Vec<_>>()
    };
    let (ours, theirs) = (ours.validate("time_offset", &given).await, theirs.validate("time_offset", &given).await);
    assert_eq!(places(ours), places(theirs));
}

#[tokio::test]
async fn imports_are_equal() {
    let (ours, theirs) = both().await;
    for (ty, id) in [
        ("time_static", "2020-02-12T06:36:13Z"),
        ("time_static", "2020-02-12T06:36:13.5+01:00"),
        ("time_static", "x"),
        ("time_offset", "2020-01-31T00:00:00Z,1,2,3,4,5,6"),
        ("time_offset", "2020-01-31T00:00:00Z,,1,,,,"),
        ("time_offset", "2020-01-31T00:00:00Z,,,,,,"),
        ("time_offset", "2020-01-31T00:00:00Z,x,,,,,"),
        ("time_offset", "x,1,,,,,"),
        ("time_offset", "x"),
        ("time_rotating", "2020-01-31T00:00:00Z,,1,,,"),
        ("time_rotating", "2020-01-31T00:00:00Z,2021-01-01T00:00:00Z"),
        ("time_rotating", "2020-01-31T00:00:00Z,1,2,3,4,5"),
        ("time_rotating", "2020-01-31T00:00:00Z,,,,,"),
        ("time_rotating", "2020-01-31T00:00:00Z,"),
        ("time_rotating", "x,1,,,,"),
        ("time_rotating", "1,2,3"),
        ("time_sleep", ","),
        ("time_sleep", "x,"),
        ("time_sleep", "1s"),
    ] {
        assert_eq!(ours.import(ty, id).await, theirs.import(ty, id).await, "{ty} {id}");
    }
    let without_id = |imported: Result<Json, Vec<String>>| imported.map(|mut object| object["id"].take());
    let (mut mine, mut other) =
        (ours.import("time_sleep", "30s,1h").await, theirs.import("time_sleep", "30s,1h").await);
    for imported in [&mut mine, &mut other] {
        assert!(without_id(imported.clone()).unwrap().is_string());
        imported.as_mut().unwrap()["id"] = Json::Null;
    }
    assert_eq!(mine, other);
}

#[tokio::test]
async fn functions_are_equal() {
    let (ours, theirs) = both().await;
    let texts = |list: &[&str]| list.iter().map(|text| Value::string(*text)).collect::<Vec<_>>();
    let times =
        ["2020-02-29T23:59:59Z", "2021-01-03T00:00:00+14:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "x"];
    let durations = ["1h", "1h2m3.004005006s", "-1.5h", "1us", "1µs", "0", "5", "", "0.1s", "2540400h10m10s"];
    let numbers = [0, -1, 1_690_328_596, 253_402_300_800, -62_135_596_801];
    for (name, arguments) in [
        ("rfc3339_parse", texts(&times)),
        ("duration_parse", texts(&durations)),
        ("unix_timestamp_parse", numbers.map(Value::from).to_vec()),
    ] {
        for argument in arguments {
            let (result, expected) =
                (ours.call(name, argument.clone()).await, theirs.call(name, argument.clone()).await);
            assert_eq!(result, expected, "{name}({argument:?})");
        }
    }
}
