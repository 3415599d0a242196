//! Stacks whose configurations are in a repository: what is pushed is carried out, what is broken is told and mended, and what nobody wants any more
//! goes without the repository.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use groma_testkit::servers::git::{GitRepository, GitServer};

use crate::stage::Stage;

const REPOSITORY: &str = "infra";

/// A Stack that follows a repository.
fn followed(repository: &str) -> String {
    format!(
        "apiVersion: groma.dev/v1alpha1\nkind: Stack\nmetadata:\n  name: app\nspec:\n  source:\n    git:\n      url: {repository}\n      \
         ref: {{branch: main}}\n      interval: 1s\n  path: app\n  interval: 1s\n  approval: {{mode: auto}}\n"
    )
}

/// A page, beside whose configuration its text is.
fn page(stage: &Stage) -> String {
    format!(
        "resource \"local_file\" \"page\" {{\n  filename = \"{}\"\n  content  = file(\"${{path.module}}/../texts/page.txt\")\n}}\n",
        stage.path("out/page.txt").display()
    )
}

/// A Stack that has applied the first commit.
fn given(server: &GitServer) -> (Stage, GitRepository, String) {
    let stage = Stage::new();
    let repository = server.repository(REPOSITORY);
    let first = repository.commit("main", "a page", &[("app/main.tf", &page(&stage)), ("texts/page.txt", "one")]);
    stage.write("app.yaml", &followed(repository.url()));
    applied(&stage, &first);
    assert_eq!(stage.read("out/page.txt"), "one");
    (stage, repository, first)
}

fn applied(stage: &Stage, commit: &str) {
    stage.wait_for(&format!("{commit}, applied"), || {
        let status = stage.status("app");
        status["ready"] == "True" && status["status"]["applied"]["revision"] == format!("main@sha1:{commit}")
    });
}

fn runs(stage: &Stage) -> u64 {
    stage.status("app")["status"]["lastRun"]["number"].as_u64().unwrap_or_default()
}

#[test]
fn what_is_pushed_is_applied_and_what_is_broken_is_told_and_mended() {
    let server = GitServer::new();
    let (stage, repository, _) = given(&server);
    // A file outside of the directory of the configuration, which is read.
    let second = repository.commit("main", "another text", &[("texts/page.txt", "two")]);
    applied(&stage, &second);
    assert_eq!((stage.read("out/page.txt").as_str(), runs(&stage)), ("two", 2));
    // One that is not.
    let third = repository.commit("main", "words", &[("read.md", "words")]);
    stage.wait_for("the third one", || {
        stage.status("app")["status"]["source"]["revision"] == format!("main@sha1:{third}")
    });
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(runs(&stage), 2);

    let before = stage.state("app");
    repository.commit("main", "by mistake", &[("app/main.tf", &page(&stage).replace("content  =", "content  = ="))]);
    stage.wait_until("app", "False", "main.tf:3");
    assert_eq!((stage.read("out/page.txt").as_str(), stage.state("app")), ("two", before));
    let last = repository.commit("main", "mended", &[("app/main.tf", &page(&stage)), ("texts/page.txt", "three")]);
    applied(&stage, &last);
    assert_eq!(stage.read("out/page.txt"), "three");
}

#[test]
fn a_stack_goes_without_its_repository() {
    let server = GitServer::new();
    let (stage, ..) = given(&server);
    drop(server);
    stage.wait_until("app", "False", "");
    assert_eq!(stage.read("out/page.txt"), "one");
    stage.remove("app.yaml");
    stage.wait_for("the end", || !stage.path(".groma/status/default/app.yaml").exists());
    assert!(!stage.path("out/page.txt").exists());
    assert!(!stage.path(".groma/states/default/app").exists());
}

/// All files below a directory, with when they were written; but for those of runs that are under way.
fn files(directory: &Path, found: &mut BTreeMap<String, (SystemTime, u64)>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with(".groma/runs") {
            files(&path, found);
        } else if let Ok(known) = entry.metadata()
            && known.is_file()
        {
            found.insert(path.display().to_string(), (known.modified().unwrap(), known.len()));
        }
    }
}

#[test]
fn nothing_is_written_while_nothing_is_new() {
    let server = GitServer::new();
    let (stage, repository, _) = given(&server);
    // What was written about the first run is through.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let written = || {
        let mut found = BTreeMap::new();
        files(stage.dir.path(), &mut found);
        found
    };
    let (before, looks, fetches) = (written(), server.looks(REPOSITORY), server.fetches(REPOSITORY));
    assert!(before.len() > 3, "{before:?}");
    stage.wait_for("twenty looks", || server.looks(REPOSITORY) >= looks + 20);
    assert_eq!(written(), before);
    assert_eq!((server.fetches(REPOSITORY), runs(&stage)), (fetches, 1));
    // It is not that nobody looks.
    let next = repository.commit("main", "another text", &[("texts/page.txt", "two")]);
    applied(&stage, &next);
    assert_eq!(stage.read("out/page.txt"), "two");
}
