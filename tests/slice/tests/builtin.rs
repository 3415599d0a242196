//! The engine over built-in providers: configurations that grow, change and shrink.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::{Given, Workspace};
use groma_engine::plan::Mode;

async fn steps(configs: &[(&str, &[&str])]) -> Workspace {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.keep();
    let mut workspace = Workspace::new(&dir, Given::built_in(&dir));
    for (config, expected) in configs {
        workspace.write(config);
        assert_eq!(workspace.apply().await, *expected, "{config}");
        let again = workspace.plan().await;
        assert!(again.is_empty(), "{config}: {:?}", common::summary(&again));
    }
    std::fs::remove_dir_all(&dir).unwrap();
    workspace
}

#[tokio::test]
async fn what_is_written_is_made_and_what_is_not_is_removed() {
    let one = r#"
resource "terraform_data" "a" { input = "x" }
resource "terraform_data" "b" { input = terraform_data.a.output }
output "b" { value = terraform_data.b.output }
"#;
    let changed = one.replace("\"x\"", "\"y\"");
    let workspace = steps(&[
        (one, &["create terraform_data.a", "create terraform_data.b"]),
        (&changed, &["update terraform_data.a", "update terraform_data.b"]),
        ("", &["delete terraform_data.a", "delete terraform_data.b"]),
    ])
    .await;
    assert!(workspace.state.resources.is_empty());
    assert!(workspace.state.outputs.is_empty());
}

#[tokio::test]
async fn instances_come_and_go() {
    steps(&[
        (
            "resource \"terraform_data\" \"a\" {\n  count = 2\n  input = count.index\n}\n",
            &["create terraform_data.a[0]", "create terraform_data.a[1]"],
        ),
        (
            "resource \"terraform_data\" \"a\" {\n  count = 1\n  input = count.index\n}\n",
            &["delete terraform_data.a[1]"],
        ),
        (
            "resource \"terraform_data\" \"a\" {\n  for_each = toset([\"x\"])\n  input = each.key\n}\n",
            &["delete terraform_data.a[0]", "create terraform_data.a[\"x\"]"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_replacement_is_ordered_as_asked() {
    let with = |trigger: &str, lifecycle: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  triggers_replace = \"{trigger}\"\n  {lifecycle}\n}}\n\
             resource \"terraform_data\" \"b\" {{ input = terraform_data.a.id }}\n"
        )
    };
    let first = "lifecycle {\n    create_before_destroy = true\n  }";
    let workspace = steps(&[
        (&with("1", ""), &["create terraform_data.a", "create terraform_data.b"]),
        (&with("2", ""), &["delete+create terraform_data.a", "update terraform_data.b"]),
        (&with("3", first), &["create+delete terraform_data.a", "update terraform_data.b"]),
    ])
    .await;
    let a = &workspace.state.resources[&"terraform_data.a".parse().unwrap()];
    assert!(a.instances.values().all(|instance| instance.deposed.is_empty()));
}

#[tokio::test]
async fn modules_and_secrets_and_data() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    std::fs::create_dir(dir.join("m")).unwrap();
    std::fs::write(
        dir.join("m/main.tf"),
        "variable \"n\" {}\nresource \"random_password\" \"p\" { length = var.n }\n\
         resource \"local_file\" \"f\" {\n  filename = \"${path.root}/${var.n}.txt\"\n  content  = random_password.p.result\n}\n\
         output \"p\" {\n  value     = random_password.p.result\n  sensitive = true\n}\n",
    )
    .unwrap();
    let mut workspace = Workspace::new(dir, Given::built_in(dir));
    workspace.write(
        "module \"m\" {\n  source   = \"./m\"\n  for_each = { a = 8, b = 9 }\n  n        = each.value\n}\n\
         output \"lengths\" { value = { for k, v in module.m : k => nonsensitive(length(v.p)) } }\n",
    );
    assert_eq!(
        workspace.apply().await,
        [
            "create module.m[\"a\"].local_file.f",
            "create module.m[\"a\"].random_password.p",
            "create module.m[\"b\"].local_file.f",
            "create module.m[\"b\"].random_password.p",
        ]
    );
    assert_eq!(std::fs::read_to_string(dir.join("9.txt")).unwrap().len(), 9);
    assert!(workspace.plan().await.is_empty());
    std::fs::remove_file(dir.join("9.txt")).unwrap();
    let plan = workspace.plan().await;
    assert_eq!(common::summary(&plan), ["create module.m[\"b\"].local_file.f"]);
    assert_eq!(plan.drift.len(), 1);
}

#[tokio::test]
async fn everything_goes_in_reverse_order() {
    let scratch = tempfile::tempdir().unwrap();
    let mut workspace = Workspace::new(scratch.path(), Given::built_in(scratch.path()));
    workspace.write(
        "resource \"terraform_data\" \"a\" { count = 2 }\n\
         resource \"terraform_data\" \"b\" {\n  count = 2\n  input = terraform_data.a[count.index].id\n}\n\
         output \"x\" { value = terraform_data.b[0].output }\n",
    );
    assert_eq!(workspace.apply().await.len(), 4);
    workspace.options.mode = Mode::Destroy;
    assert_eq!(
        workspace.apply().await,
        [
            "delete terraform_data.a[0]",
            "delete terraform_data.a[1]",
            "delete terraform_data.b[0]",
            "delete terraform_data.b[1]"
        ]
    );
    assert!(workspace.state.resources.is_empty() && workspace.state.outputs.is_empty());
}

#[tokio::test]
async fn objects_follow_their_addresses() {
    steps(&[
        ("resource \"terraform_data\" \"a\" {}\n", &["create terraform_data.a"]),
        ("resource \"terraform_data\" \"a\" { count = 1 }\n", &[]),
        (
            "resource \"terraform_data\" \"b\" { count = 1 }\nmoved {\n  from = terraform_data.a\n  to   = terraform_data.c\n}\n\
             moved {\n  from = terraform_data.c\n  to   = terraform_data.b\n}\n",
            &[],
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_target_brings_what_it_needs_and_nothing_else() {
    let scratch = tempfile::tempdir().unwrap();
    let mut workspace = Workspace::new(scratch.path(), Given::built_in(scratch.path()));
    workspace.write(
        "resource \"terraform_data\" \"a\" {}\n\
         resource \"terraform_data\" \"b\" {\n  count = 2\n  input = terraform_data.a.id\n}\n\
         resource \"terraform_data\" \"c\" {}\n",
    );
    workspace.options.targets = vec!["terraform_data.b[1]".parse().unwrap()];
    assert_eq!(workspace.apply().await, ["create terraform_data.a", "create terraform_data.b[1]"]);
    workspace.options.targets.clear();
    workspace.options.excludes = vec!["terraform_data.c".parse().unwrap()];
    assert_eq!(workspace.apply().await, ["create terraform_data.b[0]"]);
}

#[tokio::test]
async fn making_first_spreads_to_what_is_needed() {
    let config = |trigger: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{ triggers_replace = \"{trigger}\" }}\n\
             resource \"terraform_data\" \"b\" {{\n  triggers_replace = terraform_data.a.id\n  \
             lifecycle {{\n    create_before_destroy = true\n  }}\n}}\n"
        )
    };
    steps(&[
        (&config("1"), &["create terraform_data.a", "create terraform_data.b"]),
        (&config("2"), &["create+delete terraform_data.a", "create+delete terraform_data.b"]),
    ])
    .await;
}

#[tokio::test]
async fn objects_are_taken_in_and_let_go() {
    let workspace = steps(&[
        (
            "resource \"random_integer\" \"n\" {\n  min = 1\n  max = 9\n}\nlocals {\n  ids = { n = \"5,1,9\" }\n}\n\
             import {\n  for_each = local.ids\n  to       = random_integer.n\n  id       = each.value\n}\n\
             output \"n\" { value = random_integer.n.result }\n",
            &[],
        ),
        (
            "removed {\n  from = random_integer.n\n  lifecycle {\n    destroy = false\n  }\n}\n",
            &["forget random_integer.n"],
        ),
    ])
    .await;
    assert!(workspace.state.resources.is_empty());
}
