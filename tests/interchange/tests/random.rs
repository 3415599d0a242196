//! The built-in `random` provider and the published plugin 3.6.0, the newest that can be built from the module proxy, asked
//! the same questions. What is younger than that is named where it is left out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use groma_builtin::Outside;
use groma_interchange::texts::without_texts;
use groma_interchange::{Driven, Kept};
use groma_model::text::Str;
use groma_provider::api::Private;
use serde_json::{Value as Json, json};

const TYPES: [&str; 8] = [
    "random_bytes",
    "random_id",
    "random_integer",
    "random_password",
    "random_pet",
    "random_shuffle",
    "random_string",
    "random_uuid",
];

async fn both() -> (Driven, Driven) {
    let ours = Driven::builtin("random", &Outside::system(".")).await;
    (ours, Driven::plugin("GROMA_PROVIDER_RANDOM_CURRENT").await)
}

/// Configurations of a type, which follow each other as changes.
fn configs(ty: &str) -> Vec<Json> {
    let mut own = match ty {
        "random_bytes" => vec![json!({"length": 1}), json!({"length": 40}), json!({"length": "(unknown)"})],
        "random_id" => vec![
            json!({"byte_length": 4}),
            json!({"byte_length": 8, "prefix": "p-"}),
            json!({"byte_length": 8, "prefix": ""}),
            json!({"byte_length": 4, "prefix": "(unknown)"}),
        ],
        "random_integer" => vec![
            json!({"min": 1, "max": 1}),
            json!({"min": -5, "max": 9_007_199_254_740_993_i64, "seed": "s"}),
            json!({"min": "(unknown)", "max": 1}),
        ],
        "random_pet" => vec![
            json!({}),
            json!({"length": 2, "separator": "-"}),
            json!({"length": 1, "prefix": "x", "separator": ""}),
            json!({"length": "(unknown)"}),
        ],
        "random_shuffle" => vec![
            json!({"input": []}),
            json!({"input": ["a", "b", "c"], "seed": "s"}),
            json!({"input": ["a", "b", "c"], "result_count": 7, "seed": "s"}),
            json!({"input": "(unknown)"}),
        ],
        "random_uuid" => vec![json!({})],
        _ => vec![
            json!({"length": 8}),
            json!({"length": 8, "numeric": true, "special": true, "min_upper": 0}),
            json!({"length": 8, "number": false}),
            json!({"length": 8, "numeric": false, "min_lower": 2, "min_special": 1, "override_special": "-_"}),
            json!({"length": 100, "number": true, "numeric": true, "override_special": ""}),
            json!({"length": 3, "min_upper": 1, "min_numeric": 1, "min_special": 1, "lower": false}),
            json!({"length": 8, "numeric": "(unknown)"}),
            json!({"length": "(unknown)", "override_special": "(unknown)"}),
        ],
    };
    let first = own[0].clone();
    for keepers in [json!({}), json!({"a": "1"}), json!({"a": "1", "b": null}), json!({"a": null}), json!("(unknown)")]
    {
        let mut kept = first.clone();
        kept["keepers"] = keepers;
        own.push(kept);
    }
    own
}

fn is_known(given: &Json) -> bool {
    given.as_object().unwrap().values().all(|value| value != "(unknown)")
}

#[tokio::test]
async fn schemas_are_equal() {
    let (ours, theirs) = both().await;
    assert_eq!(theirs.0.schema().metadata().resources, TYPES.map(Str::from));
    for ty in TYPES {
        assert_eq!(without_texts(&ours.schema(ty)), without_texts(&theirs.schema(ty)), "{ty}");
    }
    let (ours, theirs) = (ours.0.schema(), theirs.0.schema());
    assert_eq!(ours.provider.get().unwrap(), theirs.provider.get().unwrap());
    assert_eq!(ours.identities, theirs.identities);
}

#[tokio::test]
async fn plans_are_equal() {
    let (ours, theirs) = both().await;
    for ty in TYPES {
        let configs = configs(ty);
        for first in &configs {
            let (plan, expected) = (ours.plan(ty, None, first).await, theirs.plan(ty, None, first).await);
            assert_eq!(plan, expected, "new {ty} {first}");
            if !is_known(first) {
                continue;
            }
            let kept = Kept { private: Private::default(), ..theirs.create(ty, first).await };
            for second in &configs {
                // Of unknown keepers where there were none, the plugin says that they change in place. They may not.
                if second["keepers"] == "(unknown)"
                    && first["keepers"].as_object().is_none_or(serde_json::Map::is_empty)
                {
                    continue;
                }
                let (plan, expected) =
                    (ours.plan(ty, Some(&kept), second).await, theirs.plan(ty, Some(&kept), second).await);
                assert_eq!(plan, expected, "{ty} {first} to {second}");
            }
        }
    }
}

#[tokio::test]
async fn objects_go_back_and_forth() {
    let (ours, theirs) = both().await;
    for ty in TYPES {
        for given in configs(ty).iter().filter(|given| is_known(given)) {
            let version = ours.schema(ty).version;
            let made = theirs.create(ty, given).await;
            ours.agrees(ty, version, &made.json(), given).await;
            let mine = ours.create(ty, given).await;
            theirs.agrees(ty, version, &mine.json(), given).await;
            if given["seed"].is_string() {
                assert_eq!(mine.object, made.object, "{ty} {given}");
            }
        }
    }
}

#[tokio::test]
async fn changes_have_equal_results() {
    let (ours, theirs) = both().await;
    for ty in TYPES {
        let configs = configs(ty);
        for first in configs.iter().filter(|given| is_known(given)) {
            let kept = theirs.create(ty, first).await;
            for second in configs.iter().filter(|given| is_known(given)) {
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
        ("random_bytes", json!({"length": 0})),
        ("random_string", json!({"length": 0})),
        ("random_string", json!({"length": -3, "min_upper": 1})),
        ("random_password", json!({"length": 3, "min_upper": 2, "min_lower": 2})),
        ("random_password", json!({"length": 3, "min_upper": 2, "min_lower": "(unknown)"})),
        ("random_password", json!({"length": "(unknown)", "min_lower": 5})),
        ("random_id", json!({"byte_length": 0})),
        ("random_integer", json!({"min": 5, "max": 1})),
    ] {
        assert_eq!(ours.validate(ty, &given).await, theirs.validate(ty, &given).await, "{ty} {given}");
    }
    let both_names = json!({"length": 3, "number": true, "numeric": false});
    let (mine, other) =
        (ours.plan("random_string", None, &both_names).await, theirs.plan("random_string", None, &both_names).await);
    assert_eq!(mine.problems.first(), other.problems.first());
}

#[tokio::test]
async fn imports_are_equal() {
    let (ours, theirs) = both().await;
    for (ty, id) in [
        ("random_bytes", "AQID"),
        ("random_bytes", "?"),
        ("random_id", "AQID_w"),
        ("random_id", "a,b-,AQID_w"),
        ("random_id", ",AQID_w"),
        ("random_id", "AQID/w"),
        ("random_integer", "3,1,5"),
        ("random_integer", "3,1,5,x"),
        ("random_integer", "3,1"),
        ("random_integer", "a,1,2"),
        ("random_string", "text"),
        ("random_uuid", "AABBCCDD-1122-3344-5566-77889900aabb"),
        ("random_uuid", "aabb"),
        ("random_pet", "x"),
        ("random_shuffle", "x"),
    ] {
        let (mut mine, mut other) = (ours.import(ty, id).await, theirs.import(ty, id).await);
        // Since 3.6.1 an import knows no keepers, where it knew that there are none.
        for object in [&mut mine, &mut other].into_iter().flatten() {
            object["keepers"].take();
        }
        assert_eq!(mine, other, "{ty} {id}");
    }
    let (mut mine, mut other) = (
        ours.import("random_password", "secret").await.unwrap(),
        theirs.import("random_password", "secret").await.unwrap(),
    );
    for object in [&mut mine, &mut other] {
        assert!(object["bcrypt_hash"].take().as_str().unwrap().starts_with("$2a$10$"));
    }
    assert_eq!(mine, other);
}

#[tokio::test]
async fn old_objects_are_upgraded_alike() {
    let (ours, theirs) = both().await;
    let old = json!({
        "id": "none", "keepers": {"a": "b"}, "length": 4, "lower": true, "min_lower": 0, "min_numeric": 1,
        "min_special": 0, "min_upper": 0, "number": true, "override_special": null, "result": "abc1", "special": false,
        "upper": true,
    });
    let imported = json!({"id": "none", "length": null, "number": null, "result": "abcd"});
    for (ty, versions) in [("random_string", 1..=2), ("random_password", 0..=3)] {
        for version in versions {
            for stored in [&old, &imported] {
                let mut stored = stored.clone();
                if ty == "random_password" && version > 0 {
                    // The hash of `abc1`, and a wrong one for `abcd`.
                    stored["bcrypt_hash"] = json!("$2a$04$VGgXMPLBSE3ZkUZ9S.WR7.AdFRjJ3JMNGAbQ6IeRW5OgDiSIu/ToC");
                }
                if version >= if ty == "random_string" { 2 } else { 3 } {
                    stored["numeric"] = stored["number"].clone();
                }
                let (mut mine, mut other) = (
                    ours.take_over(ty, version, &stored).await.json(),
                    theirs.take_over(ty, version, &stored).await.json(),
                );
                if ty == "random_password" {
                    // A hash that is made anew has a salt of its own.
                    let hashes = [mine["bcrypt_hash"].take(), other["bcrypt_hash"].take()];
                    let kept = hashes.each_ref().map(|hash| *hash == stored["bcrypt_hash"]);
                    assert_eq!(kept[0], kept[1], "{version} {stored}");
                }
                assert_eq!(mine, other, "{ty} {version} {stored}");
            }
        }
    }
}
