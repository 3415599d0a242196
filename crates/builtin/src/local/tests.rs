//! The `local` provider against a directory of its own.

use std::os::unix::fs::PermissionsExt as _;

use groma_model::value::Value;
use groma_provider::api::CallFunctionRequest;
use serde_json::json;

use crate::drive::Driver;
use crate::kit::outside::Outside;

fn driver(directory: &tempfile::TempDir) -> Driver {
    Driver::new((super::BUILTIN.make)(&Outside::system(directory.path())))
}

#[tokio::test]
async fn files_are_written_watched_and_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let driver = driver(&directory);
    let config = json!({"filename": "a/b/c.txt", "content": "hello", "file_permission": "0640"});
    let kept = driver.create("local_file", config.clone()).await;
    let path = directory.path().join("a/b/c.txt");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777 & !0o022, 0o640);
    assert_eq!(kept.text("id"), "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d");
    assert_eq!(kept.text("content_md5"), "5d41402abc4b2a76b9719d911017c592");
    assert_eq!(kept.text("content_base64sha256"), "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=");
    assert_eq!(kept.text("directory_permission"), "0777");
    assert!(driver.is_settled("local_file", &driver.read("local_file", &kept).await.unwrap(), config.clone()).await);

    std::fs::write(&path, "changed").unwrap();
    assert!(driver.read("local_file", &kept).await.is_none());
    std::fs::remove_file(&path).unwrap();
    assert!(driver.read("local_file", &kept).await.is_none());
    assert!(!driver.delete("local_file", &kept).await.diagnostics.has_errors());

    let again = driver.create("local_file", config).await;
    assert!(driver.delete("local_file", &again).await.object.is_null());
    assert!(!path.exists());
}

#[tokio::test]
async fn every_source_of_content_counts() {
    let directory = tempfile::tempdir().unwrap();
    let driver = driver(&directory);
    std::fs::write(directory.path().join("source"), [0xff, 0]).unwrap();
    for (ty, given, expected) in [
        ("local_file", json!({"sensitive_content": "s"}), &b"s"[..]),
        ("local_file", json!({"content_base64": "AAEC"}), &[0, 1, 2]),
        ("local_file", json!({"source": "source"}), &[0xff, 0]),
        ("local_sensitive_file", json!({"content": "x"}), b"x"),
        ("local_file", json!({"content": ""}), b""),
    ] {
        let mut config = given.clone();
        config["filename"] = "out".into();
        let kept = driver.create(ty, config.clone()).await;
        assert_eq!(std::fs::read(directory.path().join("out")).unwrap(), expected);
        assert!(driver.is_settled(ty, &kept, config).await);
        driver.delete(ty, &kept).await;
    }
    assert_eq!(
        driver.create("local_sensitive_file", json!({"filename": "p", "content": "x"})).await.text("file_permission"),
        "0700"
    );
}

#[tokio::test]
async fn changes_need_a_new_file() {
    let directory = tempfile::tempdir().unwrap();
    let driver = driver(&directory);
    let kept = driver.create("local_file", json!({"filename": "a", "content": "1"})).await;
    let plan = driver.plan("local_file", Some(&kept), json!({"filename": "a", "content": "2"})).await;
    assert_eq!(plan.requires_replace.iter().map(ToString::to_string).collect::<Vec<_>>(), [".content"]);
}

#[tokio::test]
async fn mistakes_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let driver = driver(&directory);
    let found = driver
        .validate("local_file", json!({"filename": "a", "content": "", "source": "b", "file_permission": "09"}))
        .await;
    let all: Vec<_> = found.iter().map(|d| (d.summary.as_str(), d.detail.as_str())).collect();
    assert!(
        all.contains(&(
            "Invalid File Permission String Value",
            "bad mode permission: string length should be 3 or 4 digits: 09"
        )),
        "{all:?}"
    );
    assert!(
        all.contains(&(
            "Invalid Attribute Combination",
            "2 attributes specified when one (and only one) of [sensitive_content,content_base64,source] is required"
        )),
        "{all:?}"
    );
    let found = driver.validate("local_file", json!({"filename": "a", "content": "", "file_permission": "0888"})).await;
    assert_eq!(found.len(), 1);
    let failed = driver.try_apply("local_file", None, json!({"filename": "x", "source": "missing"})).await;
    assert_eq!(failed.diagnostics.iter().next().unwrap().summary, "Create local file error");
    let missing = driver.try_data("local_file", json!({"filename": "missing"})).await;
    assert_eq!(missing.diagnostics.iter().next().unwrap().summary, "Read local file data source error");
}

#[tokio::test]
async fn states_of_the_first_published_version_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let driver = driver(&directory);
    std::fs::write(directory.path().join("a"), "hello").unwrap();
    let old = json!({
        "content": "hello", "content_base64": null, "directory_permission": "0777", "file_permission": "0777",
        "filename": "a", "id": "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d", "sensitive_content": null,
    });
    let kept = driver.upgrade("local_file", 0, old).await.unwrap();
    let read = driver.read("local_file", &kept).await.unwrap();
    assert!(driver.is_settled("local_file", &read, json!({"filename": "a", "content": "hello"})).await);
}

#[tokio::test]
async fn data_sources_read_files() {
    let directory = tempfile::tempdir().unwrap();
    let driver = driver(&directory);
    std::fs::write(directory.path().join("a"), b"hel\xfflo").unwrap();
    for ty in ["local_file", "local_sensitive_file"] {
        let data = driver.data(ty, json!({"filename": "a"})).await;
        assert_eq!(data.text("content"), "hel\u{fffd}lo");
        assert_eq!(data.text("content_base64"), "aGVs/2xv");
        assert_eq!(data.text("id"), data.text("content_sha1"));
    }
}

#[tokio::test]
async fn directories_exist_or_not() {
    let directory = tempfile::tempdir().unwrap();
    let driver = driver(&directory);
    std::fs::create_dir(directory.path().join("d")).unwrap();
    std::fs::write(directory.path().join("f"), "").unwrap();
    let mut results = Vec::new();
    for path in ["d", "nothing", "f"] {
        let request = CallFunctionRequest { name: "direxists".into(), arguments: vec![Value::string(path)] };
        results.push(driver.0.call_function(request).await.unwrap().result);
    }
    assert_eq!(results[0].as_ref().unwrap(), &Value::bool(true));
    assert_eq!(results[1].as_ref().unwrap(), &Value::bool(false));
    let error = results[2].as_ref().unwrap_err();
    assert_eq!(error.text, "Invalid file mode detected: \"f\" was found, but is not a directory");
    assert_eq!(error.argument, Some(0));
}

#[tokio::test]
async fn programs_run_unless_that_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let driver = driver(&directory);
    let config = json!({"command": "sh", "arguments": ["-c", "cat; echo no >&2; exit 3"], "stdin": "in"});
    let failed = driver.try_data("local_command", config.clone()).await;
    let first = failed.diagnostics.iter().next().unwrap();
    assert_eq!(first.summary, "Command Execution Failed");
    assert!(
        first.detail.contains("Command Error: no\n") && first.detail.ends_with("exit status 3"),
        "{}",
        first.detail
    );
    let mut allowed = config;
    allowed["allow_non_zero_exit_code"] = true.into();
    let data = driver.data("local_command", allowed.clone()).await;
    assert_eq!((data.text("stdout"), data.text("stderr")), ("in".to_owned(), "no\n".to_owned()));
    assert_eq!(data.get("exit_code"), 3i64.into());
    assert_eq!(driver.open("local_command", allowed.clone()).await.text("stdout"), "in");
    let missing = driver.try_data("local_command", json!({"command": "no-such-program"})).await;
    assert_eq!(missing.diagnostics.iter().next().unwrap().summary, "Command Lookup Failed");

    let outside = Outside { no_programs: Some(String::new()), ..Outside::system(directory.path()) };
    let driver = Driver::new((super::BUILTIN.make)(&outside));
    let refused = driver.try_data("local_command", allowed).await;
    assert!(refused.diagnostics.iter().next().unwrap().detail.contains("may not be started here"));
}

#[tokio::test]
async fn files_of_others_are_out_of_reach() {
    use crate::kit::confines::Confines;

    let directory = tempfile::tempdir().unwrap();
    let own = directory.path().join("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(directory.path().join("theirs"), "canary").unwrap();
    std::os::unix::fs::symlink(directory.path(), own.join("up")).unwrap();
    let files = Some(Confines::new(std::slice::from_ref(&own), "Ask ana."));
    let driver = Driver::new((super::BUILTIN.make)(&Outside { files, ..Outside::system(&own) }));
    let refused = |diagnostics: &groma_model::diag::Diagnostics| {
        let detail = diagnostics.iter().next().unwrap().detail.clone();
        assert!(detail.contains("theirs is outside") && detail.contains("Ask ana."), "{detail}");
    };
    for path in ["../theirs", "up/theirs"] {
        for ty in ["local_file", "local_sensitive_file"] {
            refused(&driver.try_data(ty, json!({"filename": path})).await.diagnostics);
            refused(&driver.try_apply(ty, None, json!({"filename": path, "content": "x"})).await.diagnostics);
            refused(&driver.try_apply(ty, None, json!({"filename": "x", "source": path})).await.diagnostics);
        }
        let request = CallFunctionRequest { name: "direxists".into(), arguments: vec![Value::string("up")] };
        assert!(driver.0.call_function(request).await.unwrap().result.is_err());
    }
    assert_eq!(std::fs::read_to_string(directory.path().join("theirs")).unwrap(), "canary");
    let kept = driver.create("local_file", json!({"filename": "deep/x", "content": "mine"})).await;
    assert!(driver.delete("local_file", &kept).await.object.is_null() && !own.join("deep/x").exists());
}
