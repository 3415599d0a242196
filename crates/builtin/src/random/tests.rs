//! The `random` provider: what is drawn, what replaces, what is imported, and objects of old versions.

use groma_model::value::Value;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::drive::{Driver, Kept};
use crate::kit::at;
use crate::published;

fn random() -> Driver {
    Driver::new(make(&Outside::system(".")))
}

fn strings(kept: &Kept, name: &str) -> Vec<String> {
    let value = kept.get(name);
    value.as_elements().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

#[test]
fn schemas_keep_the_rules() {
    let schemas = published::schemas(&make(&Outside::system(".")));
    assert_eq!(schemas["resource_schemas"]["random_password"]["version"], 3);
    assert_eq!(schemas["resource_schemas"]["random_string"]["version"], 2);
    assert_eq!(schemas["resource_schemas"].as_object().unwrap().len(), 10);
}

#[tokio::test]
async fn what_is_drawn_once_stays() {
    let random = random();
    for (ty, config) in [
        ("random_bytes", json!({"length": 3})),
        ("random_id", json!({"byte_length": 4, "prefix": "p-"})),
        ("random_integer", json!({"min": -5, "max": 5})),
        ("random_password", json!({"length": 12, "min_numeric": 3})),
        ("random_pet", json!({})),
        ("random_shuffle", json!({"input": ["a", "b", "c"], "result_count": 5})),
        ("random_string", json!({"length": 5, "number": false, "override_special": "é"})),
        ("random_uuid", json!({})),
        ("random_uuid4", json!({})),
        ("random_uuid7", json!({})),
    ] {
        let kept = random.create(ty, config.clone()).await;
        assert!(random.is_settled(ty, &kept, config.clone()).await, "{ty}");
        let read = random.read(ty, &kept).await.unwrap();
        assert_eq!(read.object, kept.object);
        let mut with_keepers = config.clone();
        with_keepers["keepers"] = json!({"a": "1"});
        let plan = random.plan(ty, Some(&kept), with_keepers).await;
        assert_eq!(plan.requires_replace, [at("keepers")], "{ty}");
        let upgraded = random.upgrade(ty, random.0.schema().resources[ty].get().unwrap().version, kept.json()).await;
        assert_eq!(upgraded.unwrap().object, kept.object, "{ty}");
        let mut with_null = config;
        with_null["keepers"] = json!({"a": null});
        let plan = random.plan(ty, Some(&kept), with_null).await;
        assert_eq!(plan.requires_replace.is_empty(), ty != "random_bytes", "{ty}");
        assert_ne!(plan.planned, kept.object, "{ty}");
    }
}

#[tokio::test]
async fn ids_are_written_in_all_ways() {
    let random = random();
    let kept = random.import("random_id", "a,b-,AQID_w").await.unwrap();
    assert_eq!(
        kept.json(),
        json!({
            "b64_std": "a,b-AQID/w==", "b64_url": "a,b-AQID_w", "byte_length": 4, "dec": "a,b-16909311",
            "hex": "a,b-010203ff", "id": "AQID_w", "keepers": null, "prefix": "a,b-",
        })
    );
    assert!(random.is_settled("random_id", &kept, json!({"byte_length": 4, "prefix": "a,b-"})).await);
    assert!(random.import("random_id", "!").await.is_err());
    let kept = random.create("random_id", json!({"byte_length": 0})).await;
    assert_eq!((kept.text("dec"), kept.text("id")), ("0".to_owned(), String::new()));
}

#[tokio::test]
async fn seeds_give_what_the_published_plugin_gives() {
    let random = random();
    // From the published plugin's own tests, and from version 2.0.0 of it.
    for (seed, min, max, expected) in [("12345", 1, 3, 3), ("123456", 1, 3, 2)] {
        let kept = random.create("random_integer", json!({"min": min, "max": max, "seed": seed})).await;
        assert_eq!(kept.json()["result"], expected);
        assert_eq!(kept.text("id"), expected.to_string());
    }
    let shuffled = |count: u64| json!({"input": ["a", "b", "c", "d", "e"], "seed": "-", "result_count": count});
    for (count, expected) in [(0, "acbed"), (3, "acb"), (12, "acbedaedcbab")] {
        let kept = random.create("random_shuffle", shuffled(count)).await;
        assert_eq!(strings(&kept, "result").concat(), expected);
    }
    let kept = random.create("random_shuffle", json!({"input": [], "seed": "-"})).await;
    assert!(strings(&kept, "result").is_empty());
}

#[tokio::test]
async fn passwords_have_their_hash() {
    let random = random();
    let kept = random.create("random_password", json!({"length": 90, "special": false})).await;
    let (password, hash) = (kept.text("result"), kept.text("bcrypt_hash"));
    assert!(hash.starts_with("$2a$10$"));
    assert!(bcrypt::verify(&password.as_bytes()[..72], &hash).unwrap());
    assert_eq!(kept.text("id"), "none");
    let opened = random.open("random_password", json!({"length": 8})).await;
    assert!(bcrypt::verify(opened.text("result"), &opened.text("bcrypt_hash")).unwrap());
    assert_eq!(opened.get("numeric"), Value::bool(true));
    let opened = random.open("random_bytes", json!({"length": 8})).await;
    assert_eq!(opened.text("hex").len(), 16);
}

#[tokio::test]
async fn old_and_new_names_of_digits_go_together() {
    let random = random();
    let kept = random.create("random_string", json!({"length": 4, "number": false})).await;
    assert_eq!((kept.get("number"), kept.get("numeric")), (Value::bool(false), Value::bool(false)));
    assert!(random.is_settled("random_string", &kept, json!({"length": 4, "numeric": false})).await);
    let plan = random.plan("random_string", Some(&kept), json!({"length": 4})).await;
    assert_eq!(plan.requires_replace, [at("number"), at("numeric")]);
    let plan = random.plan("random_string", None, json!({"length": 4, "number": true, "numeric": false})).await;
    let problem = plan.diagnostics.iter().next().unwrap();
    assert_eq!(problem.summary, "Number and numeric are both configured with different values");
}

#[tokio::test]
async fn wishes_that_cannot_come_true_are_refused() {
    let random = random();
    for (ty, config, detail) in [
        ("random_string", json!({"length": 0}), "Attribute length value must be at least 1, got: 0"),
        (
            "random_password",
            json!({"length": 3, "min_upper": 2, "min_lower": 2}),
            "Attribute length value must be at least sum of min_upper + min_lower + min_numeric + min_special, got: 3",
        ),
        (
            "random_string",
            json!({"length": 3, "upper": false, "lower": false, "numeric": false, "special": false}),
            "At least one attribute out of [special,upper,lower,numeric] must be specified as true",
        ),
        ("random_string", json!({"length": 1.5}), "Value 1.5 of length is not an integer."),
        (
            "random_id",
            json!({"byte_length": 1e30}),
            "Value 1000000000000000000000000000000 of byte_length cannot be represented as a 64-bit integer.",
        ),
        ("random_bytes", json!({"length": -1}), "Attribute length value must be at least 1, got: -1"),
    ] {
        let found = random.validate(ty, config).await;
        assert_eq!(found.iter().next().unwrap().detail, detail);
    }
    let failed = random.try_apply("random_integer", None, json!({"min": 2, "max": 1})).await;
    let problem = failed.diagnostics.iter().next().unwrap();
    assert!(problem.detail.starts_with("The minimum (min) value needs to be smaller"), "{problem:?}");
    for (ty, config) in [
        ("random_id", json!({"byte_length": -1})),
        ("random_id", json!({"byte_length": 1e15})),
        ("random_shuffle", json!({"input": ["a"], "result_count": -3})),
        ("random_integer", json!({"min": i64::MIN, "max": i64::MAX, "seed": "x"})),
    ] {
        assert!(random.try_apply(ty, None, config).await.diagnostics.has_errors(), "{ty}");
    }
}

#[tokio::test]
async fn imports_need_no_change() {
    let random = random();
    for (ty, id, config) in [
        ("random_bytes", "AQID", json!({"length": 3})),
        ("random_integer", "3,1,5", json!({"min": 1, "max": 5})),
        ("random_integer", "3,1,5,x", json!({"min": 1, "max": 5, "seed": "x"})),
        ("random_password", "sécret", json!({"length": 6})),
        ("random_string", "text", json!({"length": 4})),
        ("random_uuid", "AABBCCDD-0000-0000-0000-000000000000", json!({})),
        ("random_uuid4", "{aabbccdd-0000-4000-8000-000000000000}", json!({})),
    ] {
        let kept = random.import(ty, id).await.unwrap();
        assert!(random.is_settled(ty, &kept, config).await, "{ty} {id}: {:?}", kept.json());
    }
    for (ty, id) in [("random_integer", "1,2"), ("random_integer", "a,1,2"), ("random_uuid", "x"), ("random_pet", "x")]
    {
        assert!(random.import(ty, id).await.is_err(), "{ty} {id}");
    }
}

#[tokio::test]
async fn objects_of_old_versions_are_brought_up() {
    let random = random();
    let old = json!({"id": "none", "keepers": null, "length": null, "result": "abcd", "number": null, "b64": "x"});
    let kept = random.upgrade("random_password", 0, old).await.unwrap();
    assert!(bcrypt::verify("abcd", &kept.text("bcrypt_hash")).unwrap());
    assert!(random.is_settled("random_password", &kept, json!({"length": 4})).await, "{:?}", kept.json());

    let wrong = bcrypt::hash("other", 4).unwrap();
    let old = |hash: &str| json!({"id": "none", "length": 4, "result": "abcd", "number": false, "bcrypt_hash": hash});
    let kept = random.upgrade("random_password", 2, old(&wrong)).await.unwrap();
    assert!(bcrypt::verify("abcd", &kept.text("bcrypt_hash")).unwrap());
    assert_eq!(kept.get("numeric"), Value::bool(false));
    let right = bcrypt::hash("abcd", 4).unwrap();
    for version in [1, 2] {
        let kept = random.upgrade("random_password", version, old(&right)).await.unwrap();
        assert_eq!(kept.text("bcrypt_hash"), right);
    }

    let old = json!({"id": "abcd", "length": 4, "result": "abcd", "number": true, "special": false, "lower": true,
                     "upper": true, "min_lower": 0, "min_numeric": 0, "min_special": 0, "min_upper": 0});
    let kept = random.upgrade("random_string", 1, old).await.unwrap();
    assert!(random.is_settled("random_string", &kept, json!({"length": 4, "special": false})).await);
    let too_new = random.upgrade("random_string", 9, json!({})).await.unwrap_err();
    assert_eq!(too_new.iter().next().unwrap().summary, "Resource instance managed by newer provider version");
}

#[tokio::test]
async fn an_empty_list_of_special_characters_may_go() {
    let random = random();
    let mut kept = random.create("random_string", json!({"length": 4, "override_special": ""})).await;
    let plan = random.plan("random_string", Some(&kept), json!({"length": 4})).await;
    assert!(plan.requires_replace.is_empty());
    kept = random.apply("random_string", Some(&kept), json!({"length": 4})).await;
    let plan = random.plan("random_string", Some(&kept), json!({"length": 4, "override_special": "!"})).await;
    assert_eq!(plan.requires_replace, [at("override_special")]);
}

#[tokio::test]
async fn pets_have_as_many_words_as_asked_for() {
    let random = random();
    for (length, words) in [(0, 2), (1, 1), (2, 2), (4, 4)] {
        let kept = random.create("random_pet", json!({"length": length, "separator": "_"})).await;
        assert_eq!(kept.text("id").split('_').count(), words);
    }
    let kept = random.create("random_pet", json!({"prefix": "my"})).await;
    assert!(kept.text("id").starts_with("my-"));
    assert_eq!(kept.json()["length"], 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn texts_keep_their_minima(
        (upper, lower, numeric, special) in (0_usize..6, 0_usize..6, 0_usize..6, 0_usize..6),
        more in 1_usize..20,
        flags: [bool; 3],
    ) {
        let length = upper + lower + numeric + special + more;
        let mut wishes = crate::kit::Object::of(&Value::empty_object());
        wishes.set_int("length", length as i64);
        for (name, count) in
            [("min_upper", upper), ("min_lower", lower), ("min_numeric", numeric), ("min_special", special)]
        {
            wishes.set_int(name, count as i64);
        }
        for (name, flag) in ["upper", "lower", "special"].into_iter().zip(flags) {
            wishes.set(name, flag);
        }
        wishes.set("override_special", "é☃");
        let drawn = text::draw(&Chance::of(&Outside::system(".")), &wishes).unwrap();
        let count = |test: fn(char) -> bool| drawn.chars().filter(|c| test(*c)).count();
        let is_special = |c: char| "é☃".contains(c);
        let counts = [
            (count(|c| c.is_ascii_uppercase()), upper, flags[0]),
            (count(|c| c.is_ascii_lowercase()), lower, flags[1]),
            (count(|c| c.is_ascii_digit()), numeric, true),
            (count(is_special), special, flags[2]),
        ];
        prop_assert_eq!(counts.iter().map(|(count, _, _)| count).sum::<usize>(), length);
        for (count, least, included) in counts {
            prop_assert!(count >= least && (included || count == least));
        }
    }

    #[test]
    fn numbers_stay_in_their_range(a: i64, b: i64) {
        let (min, max) = (a.min(b), a.max(b));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let kept = runtime.block_on(random().create("random_integer", json!({"min": min, "max": max})));
        let result = kept.get("result").as_number().unwrap().to_i64().unwrap();
        prop_assert!((min..=max).contains(&result));
    }
}
