//! The `time` provider against a clock that stands still.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use groma_model::path::Path;
use groma_provider::api::{CallFunctionRequest, Outcome, Provider};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::drive::Driver;
use crate::kit::outside::Clock;
use crate::published;

/// A clock that is moved by hand, and by sleeping.
struct Hand(AtomicU64);

#[async_trait]
impl Clock for Hand {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.0.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        self.0.fetch_add(duration.as_secs(), Ordering::SeqCst);
    }
}

/// 2020-02-12T06:36:13Z
const NOW: u64 = 1_581_489_373;

fn started() -> (Driver, Arc<Hand>) {
    let clock = Arc::new(Hand(AtomicU64::new(NOW)));
    let outside = Outside { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Outside::system(".") };
    (Driver::new(make(&outside)), clock)
}

#[test]
fn schemas_are_those_of_the_published_plugin() {
    let provider = make(&Outside::system("."));
    assert_eq!(published::schemas(&provider), published::recorded(include_str!("published.json")));
}

#[tokio::test]
async fn a_static_time_stays() {
    let (time, clock) = started();
    let kept = time.create("time_static", json!({})).await;
    assert_eq!(
        kept.json(),
        json!({
            "day": 12, "hour": 6, "id": "2020-02-12T06:36:13Z", "minute": 36, "month": 2,
            "rfc3339": "2020-02-12T06:36:13Z", "second": 13, "triggers": null, "unix": NOW, "year": 2020,
        })
    );
    clock.0.fetch_add(1_000_000, Ordering::SeqCst);
    assert!(time.is_settled("time_static", &kept, json!({})).await);
    let plan = time.plan("time_static", Some(&kept), json!({"triggers": {"a": "b"}})).await;
    assert_eq!(plan.requires_replace, [Path::root().attr("rfc3339"), Path::root().attr("triggers")]);
    let plan = time.plan("time_static", None, json!({"rfc3339": "2000-01-31T00:00:00+01:00"})).await;
    assert!(plan.planned.is_wholly_known(), "a given time can be planned with");
    let kept = time.create("time_static", json!({"rfc3339": "2000-01-31T00:00:00+00:00"})).await;
    assert_eq!(kept.text("rfc3339"), "2000-01-31T00:00:00+00:00", "as it was written");
}

#[tokio::test]
async fn a_bad_time_is_told_with_its_path() {
    let (time, _) = started();
    let found = time.validate("time_static", json!({"rfc3339": "yesterday"})).await;
    let problem = found.iter().next().unwrap();
    assert_eq!(problem.summary, "Invalid RFC3339 String Value");
    assert_eq!(problem.path, Some(at("rfc3339")));
    assert!(problem.detail.contains("cannot parse \"yesterday\" as \"2006\""), "{}", problem.detail);
}

#[tokio::test]
async fn an_offset_moves_in_place() {
    let (time, clock) = started();
    let config = json!({"offset_days": 7, "offset_months": 1});
    let kept = time.create("time_offset", config.clone()).await;
    assert_eq!(kept.text("rfc3339"), "2020-03-19T06:36:13Z");
    clock.0.fetch_add(500, Ordering::SeqCst);
    assert!(time.is_settled("time_offset", &kept, config).await);
    let config = json!({"offset_years": -1});
    let plan = time.plan("time_offset", Some(&kept), config.clone()).await;
    assert!(plan.requires_replace.is_empty() && plan.planned.is_wholly_known());
    let moved = time.apply("time_offset", Some(&kept), config).await;
    assert_eq!(moved.text("rfc3339"), "2019-02-12T06:36:13Z");
    assert_eq!(moved.text("base_rfc3339"), kept.text("base_rfc3339"));
    let found = time.validate("time_offset", json!({})).await;
    assert_eq!(
        found.iter().next().unwrap().detail,
        "At least one of these attributes must be configured: \
         [offset_seconds,offset_minutes,offset_hours,offset_days,offset_months,offset_years]"
    );
}

#[tokio::test]
async fn a_rotation_is_due_when_its_time_has_passed() {
    let (time, clock) = started();
    let config = json!({"rotation_days": 30});
    let kept = time.create("time_rotating", config.clone()).await;
    assert_eq!(kept.text("rotation_rfc3339"), "2020-03-13T06:36:13Z");
    assert!(time.is_settled("time_rotating", &kept, config.clone()).await);
    clock.0.fetch_add(30 * 86_400, Ordering::SeqCst);
    assert!(time.read("time_rotating", &kept).await.is_some(), "on the second it is not past");
    clock.0.fetch_add(1, Ordering::SeqCst);
    assert!(time.read("time_rotating", &kept).await.is_none());
    let plan = time.plan("time_rotating", Some(&kept), json!({"rotation_days": 60})).await;
    assert_eq!(plan.requires_replace, [at("rotation_rfc3339")]);
    clock.0.store(NOW, Ordering::SeqCst);
    let plan = time.plan("time_rotating", Some(&kept), json!({"rotation_days": 60})).await;
    assert!(plan.requires_replace.is_empty() && plan.planned.is_wholly_known());
    let found = time.validate("time_rotating", json!({"rotation_hours": 0})).await;
    assert_eq!(found.iter().next().unwrap().detail, "Attribute rotation_hours value must be at least 1, got: 0");
}

#[tokio::test]
async fn sleeping_takes_time_and_can_be_given_up() {
    let (time, clock) = started();
    let config = json!({"create_duration": "30s", "destroy_duration": "1.5m"});
    let kept = time.create("time_sleep", config.clone()).await;
    assert_eq!(kept.text("id"), "2020-02-12T06:36:43Z");
    assert!(time.is_settled("time_sleep", &kept, config).await);
    let longer = json!({"create_duration": "40s"});
    let changed = time.apply("time_sleep", Some(&kept), longer).await;
    assert_eq!((changed.text("id"), clock.0.load(Ordering::SeqCst)), (kept.text("id"), NOW + 30), "no waiting again");
    assert_eq!(time.delete("time_sleep", &kept).await.outcome, Outcome::Done);
    assert_eq!(clock.0.load(Ordering::SeqCst), NOW + 120);

    time.0.stop().await.unwrap();
    let stopped = time.delete("time_sleep", &kept).await;
    assert_eq!(stopped.outcome, Outcome::NothingMade);
    assert_eq!(stopped.object, kept.object, "what was not deleted is still there");

    let found = time.validate("time_sleep", json!({"create_duration": "1h30m"})).await;
    assert!(found.iter().next().unwrap().detail.ends_with("For example, \"30s\" for 30 seconds., got: 1h30m"));
    let found = time.validate("time_sleep", json!({})).await;
    let details: Vec<&str> = found.iter().map(|problem| problem.detail.as_str()).collect();
    assert_eq!(
        details,
        [
            "At least one attribute out of [destroy_duration,create_duration] must be specified",
            "At least one attribute out of [create_duration,destroy_duration] must be specified"
        ]
    );
}

#[tokio::test]
async fn everything_can_be_imported() {
    let (time, _) = started();
    let base = "2020-01-31T00:00:00Z";
    for (ty, id, config) in [
        ("time_static", base.to_owned(), json!({"triggers": {}})),
        (
            "time_offset",
            format!("{base},1,1,,,,-5"),
            json!({"offset_years": 1, "offset_months": 1, "offset_seconds": -5, "triggers": {}}),
        ),
        (
            "time_rotating",
            format!("{base},200,,,,7"),
            json!({"rotation_years": 200, "rotation_minutes": 7, "triggers": {}}),
        ),
        ("time_rotating", format!("{base},2100-01-01T00:00:00Z"), json!({"triggers": {}})),
        ("time_sleep", "30s,".to_owned(), json!({"create_duration": "30s", "triggers": {}})),
    ] {
        let kept = time.import(ty, &id).await.unwrap();
        assert!(time.is_settled(ty, &kept, config).await, "{ty} {id}: {:?}", kept.object);
    }
    for (ty, id) in [
        ("time_static", "x"),
        ("time_offset", "2020-01-31T00:00:00Z,,,,,,"),
        ("time_offset", "2020-01-31T00:00:00Z"),
        ("time_offset", "2020-01-31T00:00:00Z,a,,,,,"),
        ("time_rotating", ",x"),
        ("time_rotating", "2020-01-31T00:00:00Z,,,,,"),
        ("time_sleep", ","),
        ("time_sleep", "1,2,3"),
        ("time_sleep", "5 minutes,"),
    ] {
        assert!(time.import(ty, id).await.is_err(), "{ty} {id}");
    }
}

async fn call(name: &str, argument: Value) -> Result<serde_json::Value, String> {
    let provider = make(&Outside::system("."));
    let request = CallFunctionRequest { name: name.into(), arguments: vec![argument] };
    let result = provider.call_function(request).await.unwrap().result.map_err(|error| error.text)?;
    assert!(result.is_of_type(&provider.schema().functions[name].returns));
    Ok(serde_json::from_str(&groma_model::codec::json::encode_plain(&result).unwrap()).unwrap())
}

#[tokio::test]
async fn functions_give_what_the_plugin_gives() {
    let parts = json!({
        "day": 25, "hour": 23, "iso_week": 30, "iso_year": 2023, "minute": 43, "month": 7, "month_name": "July",
        "second": 16, "unix": 1_690_328_596, "weekday": 2, "weekday_name": "Tuesday", "year": 2023, "year_day": 206,
    });
    assert_eq!(call("rfc3339_parse", "2023-07-25T23:43:16Z".into()).await.unwrap(), parts);
    let parsed = call("unix_timestamp_parse", Value::from(1_690_328_596)).await.unwrap();
    assert_eq!((&parsed["rfc3339"], &parsed["iso_week"]), (&json!("2023-07-25T23:43:16Z"), &json!(30)));
    let duration = call("duration_parse", "1h30m0.5s".into()).await.unwrap();
    assert_eq!((&duration["milliseconds"], &duration["seconds"]), (&json!(5_400_500), &json!(5400.5)));
    assert_eq!(
        call("duration_parse", "abcdef".into()).await.unwrap_err(),
        "Error parsing duration string: \"abcdef\" is not a valid duration string"
    );
    assert_eq!(
        call("rfc3339_parse", "abcdef".into()).await.unwrap_err(),
        "Error parsing RFC3339 timestamp: \"abcdef\" is not a valid RFC3339 timestamp"
    );
}

proptest! {
    #[test]
    fn a_rotation_is_always_after_its_base(unix in 0_i64..4_000_000_000, period in 1_i64..1_000, which in 0_usize..5) {
        let base = Moment::from_unix(unix).to_rfc3339();
        let name = ["rotation_minutes", "rotation_hours", "rotation_days", "rotation_months", "rotation_years"][which];
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (time, _) = started();
        let kept = runtime.block_on(time.create("time_rotating", json!({"rfc3339": base.clone(), name: period})));
        let rotation = Moment::parse(&kept.text("rotation_rfc3339")).unwrap();
        prop_assert!(rotation.is_after(Moment::parse(&base).unwrap()));
        prop_assert_eq!(kept.get("unix").as_number().unwrap().to_i64(), Some(rotation.unix()));
    }
}
