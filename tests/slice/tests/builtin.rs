//! The engine over built-in providers: configurations that grow, change and shrink.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::{Given, Workspace};

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
