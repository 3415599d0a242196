//! The real git, on repositories of this machine.
#![cfg(unix)]

mod hostile;

use std::time::Duration;

use super::testing::{Lab, at, source};
use super::*;
use crate::address::GitSource;

fn read(lab: &Lab, name: &str) -> String {
    std::fs::read_to_string(lab.destination().join(name)).unwrap()
}

/// A repository whose commits are told apart by the content of `file`.
fn history() -> (Lab, Vec<String>) {
    let lab = Lab::new();
    lab.repository("repo", &[("file", "1")]);
    let first = lab.git("repo", &["rev-parse", "HEAD"]);
    lab.git("repo", &["tag", "v1"]);
    lab.git("repo", &["tag", "--annotate", "--message=x", "annotated"]);
    lab.git("repo", &["checkout", "--quiet", "-b", "feature/x"]);
    let second = lab.commit("repo", &[("file", "2"), ("dir/inner", "x")]);
    lab.git("repo", &["checkout", "--quiet", "main"]);
    let third = lab.commit("repo", &[("file", "3")]);
    (lab, vec![first, second, third])
}

#[tokio::test]
async fn everything_that_names_a_commit_can_be_checked_out() {
    let (lab, commits) = history();
    let url = lab.url("repo");
    let short = &commits[1][..8];
    for (reference, expected) in [
        ("main", 2),
        ("feature/x", 1),
        ("v1", 0),
        ("annotated", 0),
        (commits[1].as_str(), 1),
        (short, 1),
        ("HEAD", 2),
        ("refs/tags/v1", 0),
        ("main~1", 0),
    ] {
        let done = lab.check_out(&at(url.clone(), reference), &lab.settings()).await.unwrap();
        assert_eq!(done.commit, commits[expected], "{reference}");
        assert_eq!(read(&lab, "file"), (expected + 1).to_string(), "{reference}");
    }
    let done = lab.check_out(&source(url), &lab.settings()).await.unwrap();
    assert_eq!(done.commit, commits[2]);
}

#[tokio::test]
async fn the_repository_is_removed_unless_wanted() {
    let (lab, _) = history();
    lab.check_out(&source(lab.url("repo")), &lab.settings()).await.unwrap();
    assert!(!lab.destination().join(".git").exists());
    let keep = GitSettings { keep_repository: true, ..lab.settings() };
    lab.check_out(&source(lab.url("repo")), &keep).await.unwrap();
    assert!(lab.destination().join(".git").is_dir());
}

#[tokio::test]
async fn a_depth_limits_the_history() {
    let (lab, commits) = history();
    let keep = GitSettings { keep_repository: true, ..lab.settings() };
    for (reference, expected) in [(Some("main"), 2), (Some("v1"), 0), (None, 2)] {
        let shallow = GitSource { depth: Some(1), reference: reference.map(str::to_owned), ..source(lab.url("repo")) };
        let done = lab.check_out(&shallow, &keep).await.unwrap();
        assert_eq!(done.commit, commits[expected]);
        assert!(lab.destination().join(".git/shallow").exists() || expected == 0);
    }
    let by_commit = GitSource { depth: Some(1), ..at(lab.url("repo"), &commits[0]) };
    let error = lab.check_out(&by_commit, &keep).await.unwrap_err().to_string();
    assert!(error.contains("requires 'ref' to be a branch or tag name"), "{error}");
}

#[tokio::test]
async fn what_does_not_exist_is_named() {
    let (lab, _) = history();
    let error = lab.check_out(&at(lab.url("repo"), "nope"), &lab.settings()).await.unwrap_err().to_string();
    assert!(error.starts_with("invalid ref: \"nope\""), "{error}");
    let error = lab.check_out(&source(lab.url("missing")), &lab.settings()).await.unwrap_err();
    assert!(matches!(&error, GitError::Failed { action: "clone", .. }), "{error}");
    assert!(error.to_string().contains("missing"), "{error}");
    let empty = Lab::new();
    std::fs::create_dir(empty.path("repo")).unwrap();
    empty.git("repo", &["init", "--quiet"]);
    assert!(matches!(
        empty.check_out(&source(empty.url("repo")), &empty.settings()).await,
        Err(GitError::Reference { .. })
    ));
}

#[tokio::test]
async fn repositories_inside_are_fetched_from_other_machines() {
    let lab = Lab::new();
    lab.repository("inner", &[("inside", "inner")]);
    let server = lab.serve();
    let inner_url = server.url(&lab.publish("inner")).to_string();
    lab.repository("outer", &[("outside", "outer")]);
    lab.git("outer", &["submodule", "--quiet", "add", &inner_url, "sub"]);
    lab.commit("outer", &[]);
    let url = server.url(&lab.publish("outer")).to_string();

    lab.check_out(&source(url.clone()), &lab.settings()).await.unwrap();
    assert_eq!((read(&lab, "outside"), read(&lab, "sub/inside")), ("outer".into(), "inner".into()));
    assert!(!lab.destination().join("sub/.git").exists());

    let without = GitSettings { submodules: false, ..lab.settings() };
    lab.check_out(&source(url), &without).await.unwrap();
    assert!(!lab.destination().join("sub/inside").exists());
}

#[tokio::test]
async fn repositories_inside_are_not_fetched_from_this_machine() {
    let lab = Lab::new();
    lab.repository("inner", &[("inside", "inner")]);
    lab.repository("outer", &[("outside", "outer")]);
    lab.git("outer", &["submodule", "--quiet", "add", &lab.url("inner"), "sub"]);
    lab.commit("outer", &[]);
    let error = lab.check_out(&source(lab.url("outer")), &lab.settings()).await.unwrap_err().to_string();
    assert!(error.contains("transport 'file' not allowed"), "{error}");
}

#[tokio::test]
async fn repositories_of_this_machine_can_be_out_of_reach() {
    let (lab, _) = history();
    let isolated = GitSettings::isolated(Vec::new());
    assert!(matches!(lab.check_out(&source(lab.url("repo")), &isolated).await, Err(GitError::Unsafe(_))));
    let server = lab.serve();
    let url = server.url(&lab.publish("repo")).to_string();
    lab.check_out(&source(url), &isolated).await.unwrap();
}

#[tokio::test]
async fn settings_of_the_user_hold_only_where_they_should() {
    let (lab, _) = history();
    let server = lab.serve();
    let base = server.url(&lab.publish("repo")).to_string();
    let config = format!("[url \"{base}\"]\n insteadOf = https://git.invalid/repo\n");
    std::fs::write(lab.path("home/.gitconfig"), config).unwrap();
    lab.check_out(&source("https://git.invalid/repo"), &lab.settings()).await.unwrap();
    let isolated = GitSettings::isolated(Vec::new());
    assert!(lab.check_out(&source("https://git.invalid/repo"), &isolated).await.is_err());
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the time it takes is what is tested")]
async fn a_server_that_hangs_is_given_up_with_all_processes() {
    let lab = Lab::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("git://127.0.0.1:{port}/repo-that-hangs-{port}");
    let settings = GitSettings { timeout: Duration::from_millis(300), ..lab.settings() };
    let start = std::time::Instant::now();
    let error = lab.check_out(&source(url.clone()), &settings).await.unwrap_err();
    assert!(matches!(error, GitError::Timeout { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
    for _ in 0..100 {
        if !is_running(&url) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("git is still running");
}

fn is_running(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).contains(argument))
}

#[tokio::test]
async fn passwords_are_not_shown() {
    let lab = Lab::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://user:hunter2@127.0.0.1:{port}/x?private_token=hunter2");
    let error = lab.check_out(&source(url), &lab.settings()).await.unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(shown.contains(&port.to_string()) && !shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn a_missing_git_is_named() {
    let lab = Lab::new();
    let settings = GitSettings { program: "/nonexistent/git".into(), ..lab.settings() };
    let error = lab.check_out(&source("https://example.test/x"), &settings).await.unwrap_err();
    assert!(error.to_string().starts_with("git must be available and on the PATH"), "{error}");
}

#[tokio::test]
async fn a_key_is_handed_to_ssh_in_a_private_file_that_does_not_stay() {
    let lab = Lab::new();
    let log = lab.path("log");
    let script = lab.path("ssh");
    lab.trap(&script);
    let words =
        "#!/bin/sh\nfor word; do last=\"$key\"; [ \"$previous\" = -i ] && key=\"$word\"; previous=\"$word\"; done\n";
    std::fs::write(
        &script,
        format!("{words}{{ echo \"$key\"; stat -c %a \"$key\"; cat \"$key\"; }} > '{}'\nexit 1\n", log.display()),
    )
    .unwrap();
    let settings = GitSettings { ssh_command: Some(format!("sh {}", script.display())), ..lab.settings() };
    let key = base64::engine::general_purpose::STANDARD.encode("the key");
    let with_key = GitSource { ssh_key: Some(key), ..source("ssh://git@example.test/x.git") };
    assert!(matches!(lab.check_out(&with_key, &settings).await, Err(GitError::Failed { .. })));
    let log = std::fs::read_to_string(log).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[1..], ["600", "the key"]);
    assert!(!Path::new(lines[0]).exists());
    let bad = GitSource { ssh_key: Some("!".into()), ..with_key };
    assert!(matches!(lab.check_out(&bad, &settings).await, Err(GitError::SshKey)));
}

/// Through the guard everything is as it was, and nothing leads to where it may not.
#[tokio::test]
async fn repositories_are_where_they_may_be() {
    let (lab, commits) = history();
    let path = lab.publish("repo");
    let server = lab.serve();
    let url = format!("http://127.0.0.1:{}{path}", server.url("/").port().unwrap());
    let within = |allowed: &[&str]| {
        let allowed: Vec<groma_network::Range> = allowed.iter().map(|range| range.parse().unwrap()).collect();
        GitSettings { networks: Some(Networks::new("-allow", &allowed, &[])), ..lab.settings() }
    };
    for refused in [
        url.clone(),
        url.replace("127.0.0.1", "localhost"),
        url.replace("http", "ssh"),
        url.replace("127.0.0.1", "0x7f.1"),
    ] {
        let failed = lab.check_out(&source(refused.clone()), &within(&[])).await.unwrap_err();
        assert!(matches!(failed, GitError::Refused { .. }), "{refused}: {failed}");
        assert!(
            failed.to_string().contains("-allow=127.0.0.1/32") || failed.to_string().contains("-allow=::1/128"),
            "{failed}"
        );
    }
    let failed = lab.check_out(&source(url.replace("http", "git")), &within(&["127.0.0.0/8"])).await.unwrap_err();
    assert!(matches!(failed, GitError::Unsafe(_)), "{failed}");
    assert!(server.asked().is_empty());
    let done = lab.check_out(&source(url.clone()), &within(&["127.0.0.0/8"])).await.unwrap();
    assert_eq!(done.commit, commits[2]);

    // Repositories inside are asked for on the same way.
    let inside = url.replace("127.0.0.1", "127.0.0.9");
    lab.commit("repo", &[(".gitmodules", &format!("[submodule \"in\"]\n\tpath = in\n\turl = {inside}\n"))]);
    lab.git("repo", &["update-index", "--add", "--cacheinfo", &format!("160000,{},in", commits[0])]);
    lab.git("repo", &["commit", "--quiet", "--message=x"]);
    lab.publish("repo");
    let failed = lab.check_out(&source(url.clone()), &within(&["127.0.0.1"])).await.unwrap_err();
    assert!(failed.to_string().contains("-allow=127.0.0.9/32"), "{failed}");
}
