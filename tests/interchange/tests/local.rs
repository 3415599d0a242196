//! The built-in `local` provider against the published one: that of 2026, and the oldest that can be built.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeMap;

use groma_builtin::Outside;
use groma_interchange::Driven;
use groma_interchange::opentofu::{Stored, Workspace};
use groma_model::schema::{AttributeKind, Block};
use groma_model::text::Str;
use groma_provider::api::LazySchema;
use serde_json::{Value as Json, json};

const CURRENT: &str = "GROMA_PROVIDER_LOCAL_CURRENT";
const OLD: &str = "GROMA_PROVIDER_LOCAL";

async fn ours() -> Driven {
    Driven::builtin("local", &Outside::system(std::env::temp_dir())).await
}

/// Names, types and flags; documentation is everybody's own.
fn shape(block: &Block) -> Vec<String> {
    let attribute = |(name, attribute): (&Str, &groma_model::schema::Attribute)| {
        let AttributeKind::Type(ty) = &attribute.ty else { panic!("{name} has nested attributes") };
        let flags = [
            ("required", attribute.required),
            ("optional", attribute.optional),
            ("computed", attribute.computed),
            ("sensitive", attribute.sensitive),
            ("write only", attribute.write_only),
            ("deprecated", attribute.deprecated),
        ];
        let flags: Vec<&str> = flags.iter().filter(|(_, on)| *on).map(|(flag, _)| *flag).collect();
        format!("{name} {ty:?} {}", flags.join(" "))
    };
    block.attributes.iter().map(attribute).collect()
}

fn shapes(schemas: &BTreeMap<Str, LazySchema>) -> BTreeMap<String, (i64, Vec<String>)> {
    let one = |(name, lazy): (&Str, &LazySchema)| {
        let schema = lazy.get().unwrap();
        (name.to_string(), (schema.version, shape(&schema.block)))
    };
    schemas.iter().map(one).collect()
}

#[tokio::test]
async fn schemas_are_the_same() {
    let (ours, theirs) = (ours().await, Driven::plugin(CURRENT).await);
    let (mine, other) = (ours.0.schema(), theirs.0.schema());
    assert_eq!(shapes(&mine.resources), shapes(&other.resources));
    assert_eq!(shapes(&mine.data_sources), shapes(&other.data_sources));
    assert_eq!(shapes(&mine.ephemerals), shapes(&other.ephemerals));
    let names = |driven: &Driven| driven.0.schema().functions.keys().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
}

/// Ways to write a file; the name is added.
fn ways(dir: &std::path::Path) -> Vec<(&'static str, Json)> {
    std::fs::write(dir.join("source"), "from a file").unwrap();
    let source = dir.join("source");
    vec![
        ("local_file", json!({"content": "text\n"})),
        ("local_file", json!({"content": ""})),
        ("local_file", json!({"content_base64": "AAECAw==", "file_permission": "0600"})),
        ("local_file", json!({"sensitive_content": "secret", "directory_permission": "0755"})),
        ("local_file", json!({"source": source.to_str().unwrap()})),
        ("local_sensitive_file", json!({"content": "secret"})),
        ("local_sensitive_file", json!({"content_base64": "AAECAw=="})),
    ]
}

#[tokio::test]
async fn states_go_back_and_forth() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (ours().await, Driven::plugin(CURRENT).await);
    for (at, (ty, mut given)) in ways(dir.path()).into_iter().enumerate() {
        given["filename"] = dir.path().join(format!("deep/{at}/file")).to_str().unwrap().into();
        let (mine, other) = (ours.create(ty, &given).await.json(), theirs.create(ty, &given).await.json());
        assert_eq!(mine, other, "{ty} {given}");
        ours.agrees(ty, 0, &other, &given).await;
        theirs.agrees(ty, 0, &mine, &given).await;
    }
}

#[tokio::test]
async fn plans_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (ours().await, Driven::plugin(CURRENT).await);
    let name = dir.path().join("file").to_str().unwrap().to_owned();
    let before = json!({"filename": name, "content": "a"});
    let kept = ours.create("local_file", &before).await;
    for after in [
        before.clone(),
        json!({"filename": name, "content": "b"}),
        json!({"filename": name, "content_base64": "YQ=="}),
        json!({"filename": name, "content": "a", "file_permission": "0644"}),
        json!({"filename": format!("{name}2"), "content": "(unknown)"}),
    ] {
        let (mine, other) =
            (ours.plan("local_file", None, &after).await, theirs.plan("local_file", None, &after).await);
        assert_eq!(mine, other, "{after}");
        let mine = ours.plan("local_file", Some(&kept), &after).await;
        assert_eq!(mine, theirs.plan("local_file", Some(&kept), &after).await, "{after}");
    }
}

#[tokio::test]
async fn mistakes_are_told_in_the_same_words() {
    let (ours, theirs) = (ours().await, Driven::plugin(CURRENT).await);
    for (ty, given) in [
        ("local_file", json!({"filename": "x"})),
        ("local_file", json!({"filename": "x", "content": "", "source": "y"})),
        ("local_file", json!({"filename": "x", "content": "(unknown)", "source": "y"})),
        ("local_file", json!({"filename": "x", "content": "", "file_permission": "7"})),
        ("local_file", json!({"filename": "x", "content": "", "file_permission": "0999"})),
        ("local_file", json!({"filename": "x", "content": "", "directory_permission": "+777"})),
        ("local_file", json!({"filename": "x", "content": "", "directory_permission": "-777"})),
        ("local_file", json!({"filename": "x", "content": "", "directory_permission": "1777"})),
        ("local_sensitive_file", json!({"filename": "x"})),
        ("local_sensitive_file", json!({"filename": "x", "content": "", "content_base64": ""})),
    ] {
        assert_eq!(ours.validate(ty, &given).await, theirs.validate(ty, &given).await, "{ty} {given}");
    }
}

#[tokio::test]
async fn data_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (ours().await, Driven::plugin(CURRENT).await);
    let file = dir.path().join("file");
    std::fs::write(&file, b"text \xff\x00").unwrap();
    for (ty, given) in [
        ("local_file", json!({"filename": file.to_str().unwrap()})),
        ("local_sensitive_file", json!({"filename": file.to_str().unwrap()})),
        ("local_command", json!({"command": "cat", "stdin": "in"})),
        (
            "local_command",
            json!({"command": "sh", "arguments": ["-c", "echo \"$1\"; exit 3", null, "x", "y"], "allow_non_zero_exit_code": true}),
        ),
        ("local_command", json!({"command": "true", "working_directory": dir.path().to_str().unwrap()})),
    ] {
        assert_eq!(ours.data(ty, &given).await, theirs.data(ty, &given).await, "{ty} {given}");
    }
    for (ty, given) in [
        ("local_file", json!({"filename": dir.path().join("none").to_str().unwrap()})),
        ("local_command", json!({"command": "no-such-program"})),
        ("local_command", json!({"command": "false"})),
    ] {
        let heads = |told: &[(String, String, String)]| {
            told.iter().map(|(summary, path, _)| (summary.clone(), path.clone())).collect::<Vec<_>>()
        };
        let (mine, other) = (ours.data(ty, &given).await.1, theirs.data(ty, &given).await.1);
        assert_eq!(heads(&mine), heads(&other), "{ty} {given}");
    }
}

#[tokio::test]
async fn directories_exist_for_both() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let (ours, theirs) = (ours().await, Driven::plugin(CURRENT).await);
    for name in ["", "none", "file", "file/below"] {
        let path = groma_model::value::Value::string(dir.path().join(name).to_str().unwrap());
        let (mine, other) = (ours.call("direxists", path.clone()).await, theirs.call("direxists", path).await);
        assert_eq!(mine.is_err(), other.is_err(), "{name}");
        if name == "file" || mine.is_ok() {
            assert_eq!(mine, other, "{name}");
        }
    }
}

#[tokio::test]
async fn files_of_version_1_are_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, old) = (ours().await, Driven::plugin(OLD).await);
    let current = Driven::plugin(CURRENT).await;
    for (at, (ty, mut given)) in ways(dir.path()).into_iter().enumerate() {
        // That came later.
        if ty != "local_file" || !given["source"].is_null() {
            continue;
        }
        given["filename"] = dir.path().join(at.to_string()).to_str().unwrap().into();
        let stored = old.create(ty, &given).await.json();
        let kept = ours.take_over(ty, 0, &stored).await;
        assert_eq!(kept.json(), current.take_over(ty, 0, &stored).await.json(), "{given}");
        let planned = ours.plan(ty, Some(&kept), &given).await;
        assert_eq!(planned, current.plan(ty, Some(&kept), &given).await, "{given}");
    }
}

#[tokio::test]
async fn files_go_back_and_forth_through_opentofu() {
    let (dir, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let name = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let resources = [
        ("local_file", json!({"filename": name("a"), "content": "text"})),
        ("local_sensitive_file", json!({"filename": name("b"), "content_base64": "AAEC", "file_permission": "0600"})),
    ];
    let workspace = Workspace::new(dir.path(), &resources, &[("local", CURRENT)]);
    let ours = ours().await;
    for stored in workspace.apply() {
        let given = &resources.iter().find(|(ty, _)| *ty == stored.ty).unwrap().1;
        ours.agrees(&stored.ty, stored.version, &stored.attributes, given).await;
    }
    let mut made = Vec::new();
    for (ty, given) in &resources {
        let attributes = ours.create(ty, given).await.json();
        made.push((Stored { ty: (*ty).to_owned(), version: 0, attributes }, "registry.opentofu.org/hashicorp/local"));
    }
    workspace.store(&made);
    workspace.sees_no_changes();
}
