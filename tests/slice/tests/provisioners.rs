//! Provisioners: when they run, what they see, and what their failure means. What they do is tested where they are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use std::sync::{Arc, Mutex};

use common::{Given, Workspace, summary};
use groma_engine::events::{Event, Events};
use groma_engine::plan::Mode;
use groma_run::provisioners::{Programs, Surroundings};
use groma_state::ObjectStatus;
use tempfile::TempDir;

/// Keeps what happened to provisioned objects, one line each.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Events for Log {
    fn tell(&self, event: Event) {
        let line = match event {
            Event::ApplyStarted { address, action, .. } => format!("{address} {} starts", action.names().join("+")),
            Event::ApplyDone { address, action, .. } => format!("{address} {} done", action.names().join("+")),
            Event::ApplyFailed { address, action, .. } => format!("{address} {} failed", action.names().join("+")),
            Event::ProvisionStarted(address, kind) => format!("{address} {kind} starts"),
            Event::ProvisionOutput(address, _, line) if !line.starts_with("Executing") => format!("{address}: {line}"),
            Event::ProvisionDone(address, kind) => format!("{address} {kind} done"),
            Event::ProvisionFailed(address, kind) => format!("{address} {kind} failed"),
            _ => return,
        };
        self.0.lock().unwrap().push(line);
    }
}

fn workspace() -> (TempDir, Workspace, Arc<Log>) {
    let scratch = tempfile::tempdir().unwrap();
    let mut workspace = Workspace::new(scratch.path(), Given::built_in(scratch.path()));
    workspace.provisioners = Arc::new(Programs::new(Surroundings::in_directory(scratch.path().to_owned())));
    let log = Arc::new(Log::default());
    workspace.events = log.clone();
    (scratch, workspace, log)
}

fn status(workspace: &Workspace, resource: &str) -> Option<ObjectStatus> {
    let resource = workspace.state.resources.get(&resource.parse().unwrap())?;
    resource.instances.values().next()?.current.as_ref().map(|object| object.status)
}

fn summaries(found: &groma_model::diag::Diagnostics) -> Vec<String> {
    found.iter().map(|found| format!("{:?} {}", found.severity, found.summary)).collect()
}

#[tokio::test]
async fn they_run_one_after_the_other_when_an_object_is_new() {
    let (_scratch, mut workspace, log) = workspace();
    let config = |input: &str| {
        format!(
            r#"
resource "terraform_data" "a" {{
  count = 1
  input = "{input}"
  provisioner "local-exec" {{
    command = "echo ${{count.index}} ${{self.output}} > made; cat made"
  }}
  provisioner "local-exec" {{
    command = "echo again: ${{trimspace(file("made"))}}"
  }}
}}
"#
        )
    };
    workspace.write(&config("x"));
    workspace.apply().await;
    let expected = [
        "terraform_data.a[0] create starts",
        "terraform_data.a[0] local-exec starts",
        "terraform_data.a[0]: 0 x",
        "terraform_data.a[0] local-exec done",
        "terraform_data.a[0] local-exec starts",
        "terraform_data.a[0]: again: 0 x",
        "terraform_data.a[0] local-exec done",
        "terraform_data.a[0] create done",
    ];
    assert_eq!(log.take(), expected);

    workspace.write(&config("y"));
    assert_eq!(workspace.apply().await, ["update terraform_data.a[0]"]);
    assert_eq!(log.take(), ["terraform_data.a[0] update starts", "terraform_data.a[0] update done"]);
}

#[tokio::test]
async fn a_failure_taints_and_stops() {
    let (_scratch, mut workspace, log) = workspace();
    let config = |command: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  provisioner \"local-exec\" {{\n    command = \"{command}\"\n  }}\n  \
             provisioner \"local-exec\" {{\n    command = \"echo second\"\n  }}\n}}\n\
             resource \"terraform_data\" \"b\" {{\n  input = terraform_data.a.id\n}}\n"
        )
    };
    workspace.write(&config("exit 1"));
    let found = workspace.attempt().await;
    assert_eq!(summaries(&found), ["Error local-exec provisioner error"]);
    let error = found.iter().next().unwrap();
    assert_eq!(error.address.as_deref(), Some("terraform_data.a"));
    assert!(error.subject.is_some(), "points at the provisioner");
    assert_eq!(status(&workspace, "terraform_data.a"), Some(ObjectStatus::Tainted));
    assert_eq!(status(&workspace, "terraform_data.b"), None, "what needs it is not made");
    let told = log.take();
    assert_eq!(told.last().unwrap(), "terraform_data.a create failed");
    assert!(!told.iter().any(|line| line.contains("second")), "{told:?}");

    workspace.write(&config("exit 0"));
    assert_eq!(workspace.apply().await, ["delete+create terraform_data.a", "create terraform_data.b"]);
    assert_eq!(status(&workspace, "terraform_data.a"), Some(ObjectStatus::Ready));
}

#[tokio::test]
async fn a_failure_that_does_not_count_is_only_shown() {
    let (_scratch, mut workspace, log) = workspace();
    workspace.write(
        "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"exit 1\"\n    \
         on_failure = continue\n  }\n  provisioner \"local-exec\" {\n    command = \"echo second\"\n  }\n}\n",
    );
    let found = workspace.attempt().await;
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(status(&workspace, "terraform_data.a"), Some(ObjectStatus::Ready));
    let told = log.take();
    assert!(told.contains(&"terraform_data.a local-exec failed".to_owned()), "{told:?}");
    assert!(told.contains(&"terraform_data.a: second".to_owned()), "{told:?}");
}

#[tokio::test]
async fn some_run_before_an_object_goes() {
    let (_scratch, mut workspace, log) = workspace();
    let config = |count: usize, command: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  count = {count}\n  input = \"in${{count.index}}\"\n  \
             provisioner \"local-exec\" {{\n    when    = destroy\n    command = \"{command}\"\n  }}\n}}\n"
        )
    };
    workspace.write(&config(2, "echo ${count.index} ${self.output}"));
    workspace.apply().await;
    log.take();

    workspace.write(&config(1, "exit 1"));
    let found = workspace.attempt().await;
    assert_eq!(summaries(&found), ["Error local-exec provisioner error"]);
    let both = &workspace.state.resources[&"terraform_data.a".parse().unwrap()].instances;
    assert_eq!(both.len(), 2, "it is still there");
    assert!(both.values().all(|instance| instance.current.as_ref().unwrap().status == ObjectStatus::Ready));
    log.take();

    workspace.write(&config(1, "echo bye ${count.index} ${self.output}"));
    assert_eq!(workspace.apply().await, ["delete terraform_data.a[1]"]);
    let expected = [
        "terraform_data.a[1] delete starts",
        "terraform_data.a[1] local-exec starts",
        "terraform_data.a[1]: bye 1 in1",
        "terraform_data.a[1] local-exec done",
        "terraform_data.a[1] delete done",
    ];
    assert_eq!(log.take(), expected);

    workspace.options.mode = Mode::Destroy;
    workspace.apply().await;
    assert!(log.take().contains(&"terraform_data.a[0]: bye 0 in0".to_owned()));
    assert!(workspace.state.resources.is_empty());
}

#[tokio::test]
async fn damaged_objects_go_without() {
    let (_scratch, mut workspace, log) = workspace();
    workspace.write(
        "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"exit 1\"\n  }\n  \
         provisioner \"local-exec\" {\n    when    = destroy\n    command = \"echo bye\"\n  }\n}\n",
    );
    assert!(workspace.attempt().await.has_errors());
    log.take();
    workspace.options.mode = Mode::Destroy;
    workspace.apply().await;
    assert_eq!(log.take(), ["terraform_data.a delete starts", "terraform_data.a delete done"]);
}

#[tokio::test]
async fn a_replacement_that_comes_first_leaves_without() {
    let (_scratch, mut workspace, log) = workspace();
    let config = |trigger: &str, first: bool| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  triggers_replace = \"{trigger}\"\n  lifecycle {{\n    \
             create_before_destroy = {first}\n  }}\n  provisioner \"local-exec\" {{\n    when    = destroy\n    \
             command = \"echo bye ${{self.triggers_replace}}\"\n  }}\n}}\n"
        )
    };
    workspace.write(&config("1", false));
    workspace.apply().await;
    workspace.write(&config("2", false));
    workspace.apply().await;
    assert!(log.take().contains(&"terraform_data.a: bye 1".to_owned()));
    workspace.write(&config("3", true));
    workspace.apply().await;
    let told = log.take();
    assert!(!told.iter().any(|line| line.contains("bye")), "{told:?}");
}

#[tokio::test]
async fn removed_blocks_have_the_last_word() {
    let (_scratch, mut workspace, log) = workspace();
    workspace.write("resource \"terraform_data\" \"a\" {\n  for_each = toset([\"k\"])\n  input = \"x\"\n}\n");
    workspace.apply().await;
    log.take();
    workspace.write(
        "removed {\n  from = terraform_data.a\n  lifecycle {\n    destroy = true\n  }\n  provisioner \"local-exec\" {\n    \
         when    = destroy\n    command = \"echo bye ${each.key} ${self.input}\"\n  }\n}\n",
    );
    assert_eq!(workspace.apply().await, ["delete terraform_data.a[\"k\"]"]);
    assert!(log.take().contains(&"terraform_data.a[\"k\"]: bye k x".to_owned()));
}

#[tokio::test]
async fn secrets_are_not_shown() {
    let (_scratch, mut workspace, log) = workspace();
    workspace.write(
        "variable \"secret\" {\n  default   = \"hunter2\"\n  sensitive = true\n}\nresource \"terraform_data\" \"a\" {\n  \
         provisioner \"local-exec\" {\n    command = \"echo ${var.secret}; exit 1\"\n  }\n}\n",
    );
    let found = workspace.attempt().await;
    assert!(!format!("{found:?}").contains("hunter2"), "{found:?}");
    let told = log.take();
    assert!(!told.iter().any(|line| line.contains("hunter2")), "{told:?}");
    let hidden = "terraform_data.a: (output suppressed due to sensitive value in config)";
    assert_eq!(told.iter().filter(|line| *line == hidden).count(), 2, "{told:?}");
}

#[tokio::test]
async fn what_was_not_provisioned_before_an_interrupt_is_damaged() {
    struct Interrupting(groma_engine::interrupt::Interrupt);
    impl Events for Interrupting {
        fn tell(&self, event: Event) {
            if matches!(event, Event::ProvisionDone(..)) {
                self.0.ask();
            }
        }
    }
    let (_scratch, mut workspace, _) = workspace();
    workspace.events = Arc::new(Interrupting(workspace.interrupt.clone()));
    workspace.write(
        "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"true\"\n  }\n  \
         provisioner \"local-exec\" {\n    command = \"touch never\"\n  }\n}\n",
    );
    let found = workspace.attempt().await;
    assert!(found.has_errors());
    assert_eq!(status(&workspace, "terraform_data.a"), Some(ObjectStatus::Tainted));
    assert!(!workspace.dir.join("never").exists());
}

#[tokio::test]
async fn letting_go_of_a_provisioner_damages_its_object() {
    struct Interrupting(groma_engine::interrupt::Interrupt);
    impl Events for Interrupting {
        fn tell(&self, event: Event) {
            if matches!(&event, Event::ProvisionOutput(_, _, line) if line == "started") {
                self.0.ask();
                self.0.ask();
            }
        }
    }
    let (_scratch, mut workspace, _) = workspace();
    workspace.events = Arc::new(Interrupting(workspace.interrupt.clone()));
    workspace.write(
        "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"echo started; sleep 600\"\n  \
         }\n}\n",
    );
    let found = workspace.attempt().await;
    assert!(found.has_errors());
    assert_eq!(status(&workspace, "terraform_data.a"), Some(ObjectStatus::Tainted));
}

#[tokio::test]
async fn configuration_is_generated_for_what_is_imported() {
    let (_scratch, mut workspace, _) = workspace();
    let import = "import {\n  to = terraform_data.a\n  id = \"one\"\n}\n";
    workspace.write(import);
    let (plan, found) = workspace.try_plan().await;
    assert!(plan.is_none());
    assert_eq!(summaries(&found), ["Error Configuration for import target does not exist"]);

    workspace.options.generate_config = true;
    let plan = workspace.plan().await;
    assert!(summary(&plan).is_empty(), "{:?}", summary(&plan));
    let text = plan.changes[0].generated_config.clone().unwrap();
    assert_eq!(text, "resource \"terraform_data\" \"a\" {\n  input            = null\n  triggers_replace = null\n}");
    workspace.apply().await;
    workspace.write(&format!("{import}{text}\n"));
    assert!(workspace.plan().await.is_empty());

    for (to, summary) in [
        ("terraform_data.b[0]", "Configuration generation for count and for_each resources not supported"),
        ("module.m.terraform_data.b", "Cannot generate configuration for resource inside sub-module"),
    ] {
        workspace.write(&format!("import {{\n  to = {to}\n  id = \"one\"\n}}\n"));
        let (_, found) = workspace.try_plan().await;
        assert_eq!(summaries(&found), [format!("Error {summary}")]);
    }
}
