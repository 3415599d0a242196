//! Objects that old published plugins made are taken over without a change. Newer versions of those cannot be built from
//! the module proxy.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use groma_builtin::Outside;
use groma_interchange::Driven;
use serde_json::json;

#[tokio::test]
async fn random_of_version_2() {
    let ours = Driven::builtin("random", &Outside::system(".")).await;
    let old = Driven::plugin("GROMA_PROVIDER_RANDOM").await;
    for (ty, given) in [
        ("random_id", json!({"byte_length": 4})),
        ("random_id", json!({"byte_length": 9, "prefix": "p-", "keepers": {"a": "b"}})),
        ("random_integer", json!({"min": 1, "max": 50_000})),
        ("random_integer", json!({"min": -3, "max": 9_007_199_254_740_992_i64, "seed": "x"})),
        ("random_pet", json!({})),
        ("random_pet", json!({"length": 3, "prefix": "x", "separator": "_"})),
        ("random_shuffle", json!({"input": ["a", "b", "c"]})),
        ("random_shuffle", json!({"input": ["a", "b", "c"], "result_count": 2, "seed": "x"})),
        ("random_string", json!({"length": 8})),
        ("random_string", json!({"length": 20, "min_numeric": 4, "special": false, "keepers": {"k": "1"}})),
        ("random_string", json!({"length": 6, "override_special": "/@"})),
        ("random_uuid", json!({})),
        ("random_uuid", json!({"keepers": {}})),
    ] {
        let stored = old.create(ty, &given).await.json();
        let kept = ours.take_over(ty, old.schema(ty).version, &stored).await;
        let planned = ours.plan(ty, Some(&kept), &given).await;
        assert!(planned.problems.is_empty() && planned.replaces.is_empty(), "{ty} {given}: {planned:?}");
        // Maps without entries were not stored then.
        if given["keepers"] != json!({}) {
            assert_eq!(planned.object, kept.object, "{ty} {given}");
        }
    }
}

#[tokio::test]
async fn seeds_give_what_they_always_gave() {
    let ours = Driven::builtin("random", &Outside::system(".")).await;
    let old = Driven::plugin("GROMA_PROVIDER_RANDOM").await;
    let input: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    for seed in ["a", "12345", "Übung", "a rather long seed of many words", "\n"] {
        for (ty, given) in [
            ("random_integer", json!({"min": 0, "max": 6, "seed": seed})),
            ("random_integer", json!({"min": 1, "max": 64, "seed": seed})),
            ("random_integer", json!({"min": -1_000_000_007, "max": 5_000_000_000_i64, "seed": seed})),
            ("random_shuffle", json!({"input": input, "seed": seed})),
            ("random_shuffle", json!({"input": ["a", "b", "c"], "result_count": 11, "seed": seed})),
        ] {
            let (mine, theirs) = (ours.create(ty, &given).await.json(), old.create(ty, &given).await.json());
            assert_eq!(mine["result"], theirs["result"], "{ty} {given}");
        }
    }
}

#[tokio::test]
async fn null_of_version_1() {
    let ours = Driven::builtin("null", &Outside::system(".")).await;
    let old = Driven::plugin("GROMA_PROVIDER_NULL").await;
    for given in [json!({}), json!({"triggers": {"a": "b"}}), json!({"triggers": {"a": "b", "n": null}})] {
        let stored = old.create("null_resource", &given).await.json();
        let kept = ours.take_over("null_resource", 0, &stored).await;
        let planned = ours.plan("null_resource", Some(&kept), &given).await;
        assert!(planned.problems.is_empty() && planned.replaces.is_empty(), "{given}: {planned:?}");
    }
}

#[tokio::test]
async fn imports_are_those_of_old() {
    let ours = Driven::builtin("random", &Outside::system(".")).await;
    let old = Driven::plugin("GROMA_PROVIDER_RANDOM").await;
    for (ty, id, given) in [
        ("random_id", "p-,AQID_w", json!({"byte_length": 4, "prefix": "p-"})),
        ("random_integer", "3,1,5,x", json!({"min": 1, "max": 5, "seed": "x"})),
        ("random_uuid", "aabbccdd-1122-3344-5566-77889900aabb", json!({})),
    ] {
        let theirs = old.import(ty, id).await.unwrap();
        let mine = ours.import(ty, id).await.unwrap();
        assert_eq!(mine["id"], theirs["id"], "{ty}");
        ours.agrees(ty, ours.schema(ty).version, &mine, &given).await;
    }
}
