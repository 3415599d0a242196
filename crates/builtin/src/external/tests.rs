//! The `external` provider with programs that every machine has.

use serde_json::json;

use crate::drive::Driver;
use crate::kit::outside::Outside;

fn driver() -> Driver {
    Driver::new((super::BUILTIN.make)(&Outside::system(std::env::temp_dir())))
}

fn shell(script: &str) -> serde_json::Value {
    json!({"program": ["sh", "-c", script]})
}

#[tokio::test]
async fn programs_read_the_query_and_give_the_result() {
    let config = json!({"program": ["cat", ""], "query": {"b": "<&>", "a": "1", "n": null}});
    let data = driver().data("external", config).await.json();
    assert_eq!(data["result"], json!({"a": "1", "b": "<&>", "n": ""}));
    assert_eq!(data["id"], "-");
    let data = driver().data("external", shell("echo '{\"x\": null}'")).await.json();
    assert_eq!(data["result"], json!({"x": ""}));
}

#[tokio::test]
async fn large_queries_and_results_do_not_block() {
    let config = json!({"program": ["cat"], "query": {"a": "x".repeat(1 << 20)}});
    let data = driver().data("external", config).await.json();
    assert_eq!(data["result"]["a"].as_str().unwrap().len(), 1 << 20);
}

#[tokio::test]
async fn failures_say_what_happened() {
    for (config, summary, part) in [
        (shell("echo oh no >&2; exit 4"), "External Program Execution Failed", "Error Message: oh no"),
        (shell("exit 4"), "External Program Execution Failed", "exit status 4"),
        (shell("exit 4"), "External Program Execution Failed", "no additional error messaging"),
        (shell("kill -9 $$"), "External Program Execution Failed", "signal: 9"),
        (shell("echo '{\"a\": 1}'"), "Unexpected External Program Results", "Result Error"),
        (shell("echo nonsense"), "Unexpected External Program Results", "JSON encoded map"),
        (json!({"program": ["no-such-program"]}), "External Program Lookup Failed", "not found in $PATH"),
        (json!({"program": ["./no-such-program"]}), "External Program Lookup Failed", "no such file"),
        (json!({"program": ["", null]}), "External Program Missing", "at least one non-empty value"),
        (json!({"program": []}), "Invalid Attribute Value", "list must contain at least 1 elements"),
    ] {
        let response = driver().try_data("external", config.clone()).await;
        let first = response.diagnostics.iter().next().unwrap();
        assert_eq!(first.summary, summary, "{config}");
        assert!(first.detail.contains(part), "{config}: {}", first.detail);
    }
}

#[tokio::test]
async fn programs_are_not_run_where_that_is_refused() {
    let outside = Outside { no_programs: Some("Set this to allow it.".to_owned()), ..Outside::system(".") };
    let driver = Driver::new((super::BUILTIN.make)(&outside));
    let response = driver.try_data("external", json!({"program": ["cat"]})).await;
    assert!(response.diagnostics.iter().next().unwrap().detail.contains("Set this to allow it."));
}

#[tokio::test]
async fn programs_end_when_the_run_is_given_up() {
    let driver = driver();
    let reading = driver.try_data("external", shell("sleep 60"));
    let stopping = async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        driver.0.stop().await.unwrap();
    };
    let (response, ()) = tokio::join!(reading, stopping);
    assert!(response.diagnostics.iter().next().unwrap().detail.contains("given up"));
}
