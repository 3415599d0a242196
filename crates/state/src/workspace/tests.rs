//! Names, files and choices.

use super::*;
use crate::State;

fn name(text: &str) -> WorkspaceName {
    WorkspaceName::parse(text).unwrap()
}

#[test]
fn names_are_safe_in_urls_and_paths() {
    for good in ["a", "Prod-1_x.y~z", "a:b@c=d+e&f$g", "...", "default"] {
        assert_eq!(name(good).as_str(), good);
    }
    for bad in ["", ".", "..", "a/b", "a b", "ü", "a%20", "a!", "a,b", "a;b", "a?b", "a\\b", "a\n", "(a)"] {
        assert!(matches!(WorkspaceName::parse(bad), Err(WorkspaceError::BadName(_))), "{bad:?}");
    }
}

#[test]
fn the_environment_goes_before_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut selection = Selection { data_dir: dir.path().join("data"), environment: None };
    assert!(selection.current().unwrap().is_default());
    selection.select(&name("blue")).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("data/environment")).unwrap(), "blue");
    assert_eq!(selection.current().unwrap(), name("blue"));
    fs::write(dir.path().join("data/environment"), " green\n").unwrap();
    assert_eq!(selection.current().unwrap(), name("green"));
    fs::write(dir.path().join("data/environment"), "\n").unwrap();
    assert!(selection.current().unwrap().is_default());
    selection.environment = Some(String::new());
    assert!(!selection.is_overridden());
    selection.environment = Some("red".to_owned());
    assert!(selection.is_overridden());
    assert_eq!(selection.current().unwrap(), name("red"));
    selection.environment = Some("a/b".to_owned());
    let error = selection.current().unwrap_err();
    assert_eq!(error.to_string(), "Invalid workspace name set using TF_WORKSPACE");
}

#[test]
fn a_choice_that_cannot_be_read_is_not_the_default() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("environment")).unwrap();
    let selection = Selection { data_dir: dir.path().to_owned(), environment: None };
    assert!(matches!(selection.current(), Err(WorkspaceError::Io { .. })));
}

#[test]
fn files_are_where_other_tools_have_them() {
    let paths = |local: &LocalWorkspaces, workspace: &str| {
        let paths = local.paths(&name(workspace));
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        (text(paths.read), text(paths.write), paths.backup.map_or("-".to_owned(), text))
    };
    let expect = |read: &str, write: &str, backup: &str| (read.to_owned(), write.to_owned(), backup.to_owned());
    let plain = LocalWorkspaces::default();
    let file = "terraform.tfstate";
    assert_eq!(paths(&plain, "default"), expect(file, file, "terraform.tfstate.backup"));
    let blue = "terraform.tfstate.d/blue/terraform.tfstate";
    assert_eq!(paths(&plain, "blue"), expect(blue, blue, &format!("{blue}.backup")));

    let some = |path: &str| Some(PathBuf::from(path));
    let configured = LocalWorkspaces { path: some("s"), workspace_dir: some("w"), ..LocalWorkspaces::default() };
    assert_eq!(paths(&configured, "default"), expect("s", "s", "s.backup"));
    let blue = "w/blue/terraform.tfstate";
    assert_eq!(paths(&configured, "blue"), expect(blue, blue, &format!("{blue}.backup")));

    let given = LocalWorkspaces { state: some("i"), state_out: some("o"), ..configured.clone() };
    assert_eq!(paths(&given, "default"), expect("i", "o", "o.backup"));
    assert_eq!(paths(&given, "blue"), expect("i", "o", "o.backup"));
    let none = LocalWorkspaces { backup: some("-"), ..given.clone() };
    assert_eq!(paths(&none, "blue"), expect("i", "o", "-"));
    let other = LocalWorkspaces { dir: "d".into(), backup: some("b"), ..given };
    assert_eq!(paths(&other, "blue"), expect("d/i", "d/o", "d/b"));
}

#[test]
fn workspaces_come_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let local = LocalWorkspaces { dir: dir.path().to_owned(), ..LocalWorkspaces::default() };
    let names = || local.list().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(), ["default"]);
    local.create(&name("b")).unwrap();
    local.create(&name("a")).unwrap();
    assert_eq!(names(), ["default", "a", "b"]);
    assert!(matches!(local.create(&name("a")), Err(WorkspaceError::Exists(_))));
    assert!(matches!(local.create(&name("default")), Err(WorkspaceError::Exists(_))));
    // Neither is a workspace.
    fs::write(dir.path().join("terraform.tfstate.d/file"), "").unwrap();
    fs::create_dir(dir.path().join("terraform.tfstate.d/a b")).unwrap();
    assert_eq!(names(), ["default", "a", "b"]);

    crate::write_file(&local.paths(&name("a")).write, &State::default()).unwrap();
    local.delete(&name("a")).unwrap();
    assert_eq!(names(), ["default", "b"]);
    assert!(matches!(local.delete(&name("a")), Err(WorkspaceError::Missing(_))));
    assert!(matches!(local.delete(&name("default")), Err(WorkspaceError::IsDefault)));
}
