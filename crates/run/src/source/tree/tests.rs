//! Trees on disk.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

async fn taken(make: impl FnOnce(&Path), limits: Limits) -> Result<Tree, SourceError> {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("tree");
    fs::create_dir(&root).unwrap();
    make(&root);
    Tree::take_in(directory, root, "main@sha1:0".to_owned(), None, limits).await
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    }
}

fn asked(root: &str) -> Question {
    Question { root: root.to_owned(), var_files: Vec::new(), programs: false }
}

#[tokio::test]
async fn states_and_what_tools_leave_are_left_out() {
    let files = [
        ("main.tf", ""),
        ("terraform.tfstate", "{}"),
        ("a/terraform.tfstate.backup", "{}"),
        ("a/x.tf", ""),
        (".terraform/modules/modules.json", ""),
        (".git/config", ""),
    ];
    let tree = taken(|root| write(root, &files), Limits::default()).await.unwrap();
    assert_eq!(Files::paths(&tree), ["a/x.tf", "main.tf"]);
    let mut states = tree.states.clone();
    states.sort();
    assert_eq!(states, ["a/terraform.tfstate.backup", "terraform.tfstate"]);
}

#[tokio::test]
async fn links_inside_are_files_and_those_that_lead_out_are_refused() {
    let inside = |root: &Path| {
        write(root, &[("a/x.json", "1")]);
        symlink("a/x.json", root.join("y.json")).unwrap();
        symlink("a", root.join("b")).unwrap();
        symlink("nowhere", root.join("c")).unwrap();
    };
    let tree = taken(inside, Limits::default()).await.unwrap();
    assert_eq!(Files::paths(&tree), ["a/x.json", "b/x.json", "y.json"]);
    assert_eq!(tree.read("y.json").unwrap(), b"1");
    let outside = |root: &Path| symlink("/etc/hostname", root.join("l")).unwrap();
    let said = taken(outside, Limits::default()).await.unwrap_err();
    assert!(said.message.contains("the link \"l\" to \"/etc/hostname\" leads out"), "{said}");
    let around = |root: &Path| {
        fs::create_dir(root.join("d")).unwrap();
        symlink("..", root.join("d/e")).unwrap();
        symlink("..", root.join("d/f")).unwrap();
    };
    assert!(taken(around, Limits { files: 1_000, ..Limits::default() }).await.is_err());
}

#[tokio::test]
async fn limits_are_named() {
    let large = |root: &Path| write(root, &[("a", &"x".repeat(1_000))]);
    let said = taken(large, Limits { bytes: 500, ..Limits::default() }).await.unwrap_err();
    assert_eq!(
        (said.kind, said.message.as_str()),
        (Trouble::TooLarge, "the source is larger than the limit of 500 bytes")
    );
    let many = |root: &Path| write(root, &[("a", ""), ("b", ""), ("c", "")]);
    let said = taken(many, Limits { files: 2, ..Limits::default() }).await.unwrap_err();
    assert_eq!(said.message, "the source has more files than the limit of 2");
}

#[tokio::test]
async fn only_what_matters_makes_another_hash() {
    let of = |main: &'static str, other: &'static str| async move {
        let files = [("infra/main.tf", main), ("docs/a.md", other)];
        let tree = taken(|root| write(root, &files), Limits::default()).await.unwrap();
        let selection = tree.select(&asked("infra")).unwrap();
        let carried: Vec<String> = tree.contents(&selection).unwrap().into_keys().collect();
        assert_eq!(carried, ["docs/a.md", "infra/main.tf"], "a small tree goes as it is");
        (selection.hash.clone(), tree.digest.clone())
    };
    let (hash, digest) = of("a = 1", "x").await;
    let (same, other) = of("a = 1", "y").await;
    assert_eq!(hash, same);
    assert_ne!(digest, other);
    assert_ne!(of("a = 2", "x").await.0, hash);
}

#[tokio::test]
async fn of_a_large_tree_only_what_matters_goes_with_runs() {
    let mut noise = vec![0_u8; 5 << 20];
    getrandom::fill(&mut noise).unwrap();
    let make = |root: &Path| {
        write(root, &[("infra/main.tf", "x = file(\"run.sh\")"), ("infra/run.sh", "")]);
        fs::set_permissions(root.join("infra/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(root.join("noise"), &noise).unwrap();
    };
    let tree = taken(make, Limits::default()).await.unwrap();
    let selection = tree.select(&asked("infra")).unwrap();
    let carried: Vec<String> = tree.contents(&selection).unwrap().into_keys().collect();
    assert_eq!(carried, ["infra/main.tf", "infra/run.sh"]);
    assert_eq!(tree.programs(&selection).into_iter().collect::<Vec<_>>(), ["infra/run.sh"]);
}

#[tokio::test]
async fn more_than_a_run_can_take_is_refused() {
    let make = |root: &Path| {
        let large = fs::File::create(root.join("large")).unwrap();
        large.set_len(MOST_CARRIED + 1).unwrap();
        write(root, &[("main.tf", "x = [")]);
    };
    let tree = taken(make, Limits::default()).await.unwrap();
    let said = tree.select(&asked(".")).unwrap_err();
    assert_eq!(said.kind, Trouble::TooLarge);
    assert!(said.message.contains("more than the limit of 67108864, as main.tf cannot be read"), "{said}");
}
