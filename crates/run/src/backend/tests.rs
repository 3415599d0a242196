//! The record of a backend and what it is compared with.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::session::Start;

fn directory(config: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("main.tf"), config).unwrap();
    dir
}

fn session(dir: &Path) -> Session {
    Session::new(Start::in_directory(dir.to_owned()))
}

/// Prepares the directory; gives what came of it, or the summary of the first error.
fn init(dir: &Path, wishes: BackendWishes<'_>) -> Result<BackendReady, String> {
    let mut session = session(dir);
    let (root, found) = session.load_root();
    assert!(!found.has_errors(), "{found:?}");
    let (ready, found) = session.init_backend(&root, wishes, None);
    ready.ok_or_else(|| found.iter().next().unwrap().summary.clone())
}

/// Where the state of the default workspace is, or the summary and reason of the first error.
fn place(dir: &Path) -> Result<String, String> {
    let mut session = session(dir);
    let (root, found) = session.load_root();
    assert!(!found.has_errors(), "{found:?}");
    let inputs = session.root_inputs(&root);
    match session.backend(&root, &inputs, &PathOverrides::default()) {
        Ok(backend) => {
            let paths = backend.local().unwrap().paths(&WorkspaceName::default_workspace());
            Ok(paths.read.strip_prefix(dir).unwrap().display().to_string())
        }
        Err(found) => {
            let first = found.iter().next().unwrap();
            Err(format!("{} | {}", first.summary, first.detail.lines().next().unwrap()))
        }
    }
}

const AT_X: &str = "terraform {\n  backend \"local\" {\n    path = \"st/x.tfstate\"\n  }\n}\n";
const STATE: &str = r#"{"version": 4, "terraform_version": "1.12.6", "serial": 3, "lineage": "l",
    "outputs": {"a": {"value": 1, "type": "number"}}, "resources": []}"#;

#[test]
fn the_record_is_as_others_write_it() {
    let dir = directory(AT_X);
    assert_eq!(init(dir.path(), BackendWishes::default()), Ok(BackendReady::Configured("local".to_owned())));
    let text = fs::read_to_string(dir.path().join(".terraform/terraform.tfstate")).unwrap();
    let expected = r#"{
    "version": 3,
    "backend": {
        "type": "local",
        "config": {
            "path": "st/x.tfstate",
            "workspace_dir": null
        },
        "hash": 3761973635
    }
}
"#;
    assert_eq!(text, expected);
    assert_eq!(place(dir.path()), Ok("st/x.tfstate".to_owned()));
    assert_eq!(init(dir.path(), BackendWishes::default()), Ok(BackendReady::Unchanged));
}

#[test]
fn a_backend_must_be_prepared_as_it_is_written() {
    let dir = directory("");
    assert_eq!(place(dir.path()), Ok("terraform.tfstate".to_owned()));
    fs::write(dir.path().join("main.tf"), AT_X).unwrap();
    let required = "Backend initialization required, please run \"groma init\"";
    let reason = "Reason: Initial configuration of the requested backend \"local\"";
    assert_eq!(place(dir.path()), Err(format!("{required} | {reason}")));
    init(dir.path(), BackendWishes::default()).unwrap();
    fs::write(dir.path().join("main.tf"), AT_X.replace('x', "y")).unwrap();
    let reason = "Reason: Backend configuration block has changed";
    assert_eq!(place(dir.path()), Err(format!("{} | {reason}", required.replace(", ", ": "))));
    assert_eq!(init(dir.path(), BackendWishes::default()), Err("Backend configuration changed".to_owned()));
    fs::write(dir.path().join("main.tf"), "").unwrap();
    let reason = "Reason: Unsetting the previously set backend \"local\"";
    assert_eq!(place(dir.path()), Err(format!("{required} | {reason}")));
    fs::write(dir.path().join("main.tf"), AT_X.replace("local", "gcs")).unwrap();
    assert!(place(dir.path()).unwrap_err().starts_with("Unsupported backend type | The backend \"gcs\""));
}

#[test]
fn settings_are_evaluated_and_added_to() {
    let dir = directory(
        "variable \"n\" { default = \"a\" }\nterraform {\n  backend \"local\" {\n    path = \"${var.n}.tfstate\"\n  }\n}\n",
    );
    let more = ["workspace_dir=elsewhere".to_owned()];
    init(dir.path(), BackendWishes { config: &more, ..BackendWishes::default() }).unwrap();
    let mut session = session(dir.path());
    let (root, _) = session.load_root();
    let inputs = session.root_inputs(&root);
    let backend = session.backend(&root, &inputs, &PathOverrides::default()).unwrap();
    let expected = serde_json::json!({ "path": "a.tfstate", "workspace_dir": "elsewhere" });
    assert_eq!(backend.settings.to_json(), expected);
    let wrong = ["bucket=b".to_owned()];
    let refused = init(dir.path(), BackendWishes { config: &wrong, reconfigure: true, ..BackendWishes::default() });
    assert_eq!(refused, Err("Invalid backend configuration argument".to_owned()));
}

#[test]
fn a_state_is_taken_along_only_if_asked_for() {
    let dir = directory(AT_X);
    fs::write(dir.path().join("terraform.tfstate"), STATE).unwrap();
    let refused = init(dir.path(), BackendWishes::default());
    assert_eq!(refused, Err("Error asking for state migration action".to_owned()));
    assert!(!dir.path().join("st").exists());
    init(dir.path(), BackendWishes { force_copy: true, ..BackendWishes::default() }).unwrap();
    let copied = groma_state::read_file(&dir.path().join("st/x.tfstate")).unwrap().unwrap();
    assert_eq!((copied.serial, copied.lineage.as_str()), (3, "l"));
    assert!(dir.path().join("terraform.tfstate").exists());
}

#[test]
fn a_torn_record_is_said_so() {
    let dir = directory(AT_X);
    fs::create_dir(dir.path().join(".terraform")).unwrap();
    fs::write(dir.path().join(".terraform/terraform.tfstate"), "{\"version\": 3, \"back").unwrap();
    assert!(place(dir.path()).unwrap_err().starts_with("Failed to load the backend record | "));
    init(dir.path(), BackendWishes { reconfigure: true, ..BackendWishes::default() }).unwrap();
    assert_eq!(place(dir.path()), Ok("st/x.tfstate".to_owned()));
}
