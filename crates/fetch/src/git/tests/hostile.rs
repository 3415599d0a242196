//! Addresses, references and repositories that try to run a command. None may, whether they are refused or not.

use std::os::unix::fs::symlink;

use super::super::testing::{Lab, at, source};
use super::*;
use crate::address::{Package, RemoteSource};

#[tokio::test]
async fn addresses_that_are_commands_are_refused() {
    let lab = Lab::new();
    lab.repository("repo", &[("file", "x")]);
    lab.trap(&lab.path("trap"));
    let (canary, trap) = (lab.canary().display().to_string(), lab.path("trap").display().to_string());
    let addresses = [
        format!("ext::sh -c touch% {canary}"),
        format!("ext::{trap}"),
        format!("EXT::{trap}"),
        format!("ext::{trap} ://x"),
        "fd::0".to_owned(),
        format!("--upload-pack={trap}"),
        format!("-u{trap}"),
        format!("--config=core.sshCommand={trap}"),
        format!("ssh://-oProxyCommand={trap}/x"),
        format!("ssh://git@-oProxyCommand={trap}/x"),
        format!("ssh://%2doProxyCommand={trap}/x"),
        format!("ssh://-F{trap}@example.test/x"),
        format!("ssh://example.test/--upload-pack={trap}"),
        format!("git+ssh://-oProxyCommand={trap}/x"),
        "-oProxyCommand=x:y".to_owned(),
        format!("file://-u{trap}"),
        lab.path("repo").display().to_string(),
        format!("{}\n--upload-pack={trap}", lab.url("repo")),
    ];
    for address in addresses {
        let result = lab.check_out(&source(address.clone()), &lab.settings()).await;
        assert!(matches!(result, Err(GitError::Unsafe(_))), "{address}: {result:?}");
        // The same, as a configuration would have it.
        let Ok(parsed) = RemoteSource::parse(&format!("git::{address}")) else { continue };
        let Ok(Package::Git(git)) = parsed.package() else { continue };
        let _ = lab.check_out(&git, &lab.settings()).await;
    }
}

#[tokio::test]
async fn references_that_are_options_are_refused() {
    let lab = Lab::new();
    lab.repository("repo", &[("file", "x")]);
    lab.trap(&lab.path("trap"));
    let trap = lab.path("trap").display().to_string();
    for reference in [
        format!("--upload-pack={trap}"),
        format!("--exec={trap}"),
        "-b".into(),
        "--".into(),
        "--orphan=x".into(),
        format!("-c core.fsmonitor={trap}"),
    ] {
        for depth in [None, Some(1)] {
            let hostile = GitSource { depth, ..at(lab.url("repo"), &reference) };
            let result = lab.check_out(&hostile, &lab.settings()).await;
            assert!(matches!(result, Err(GitError::Unsafe(_))), "{reference}: {result:?}");
        }
    }
}

#[tokio::test]
async fn settings_that_run_commands_are_switched_off_even_if_the_user_has_them() {
    let lab = Lab::new();
    lab.repository("repo", &[("file", "x")]);
    let template = lab.path("template");
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "post-merge"] {
        lab.trap(&template.join("hooks").join(hook));
        lab.trap(&lab.path("hooks").join(hook));
    }
    lab.trap(&lab.path("trap"));
    let trap = lab.path("trap").display().to_string();
    for config in [
        format!("[init]\n templateDir = {}\n", template.display()),
        format!("[core]\n hooksPath = {}\n", lab.path("hooks").display()),
        format!("[core]\n fsmonitor = {trap}\n"),
        "[protocol \"ext\"]\n allow = always\n".to_owned(),
    ] {
        std::fs::write(lab.path("home/.gitconfig"), &config).unwrap();
        lab.check_out(&source(lab.url("repo")), &lab.settings())
            .await
            .unwrap_or_else(|error| panic!("{config}: {error}"));
    }
    let config =
        format!("[protocol \"ext\"]\n allow = always\n[url \"ext::{trap} \"]\n insteadOf = https://rewritten.test/\n");
    std::fs::write(lab.path("home/.gitconfig"), config).unwrap();
    assert!(lab.check_out(&source("https://rewritten.test/x"), &lab.settings()).await.is_err());
}

#[tokio::test]
async fn settings_of_the_repository_run_nothing() {
    let lab = Lab::new();
    lab.trap(&lab.path("trap"));
    let trap = lab.path("trap").display().to_string();
    for (name, setting) in [
        ("a", "uploadpack.packObjectsHook"),
        ("b", "core.fsmonitor"),
        ("c", "core.alternateRefsCommand"),
        ("d", "core.sshCommand"),
        ("e", "core.pager"),
        ("f", "core.hooksPath"),
        ("g", "filter.evil.smudge"),
    ] {
        lab.repository(name, &[("file", "x"), (".gitattributes", "file filter=evil diff=evil\n")]);
        lab.git(name, &["config", setting, &trap]);
        for hook in ["post-checkout", "pre-auto-gc", "reference-transaction"] {
            lab.trap(&lab.path(name).join(".git/hooks").join(hook));
        }
        let _ = lab.check_out(&source(lab.url(name)), &lab.settings()).await;
        let shallow = GitSource { depth: Some(1), ..source(lab.url(name)) };
        let _ = lab.check_out(&shallow, &lab.settings()).await;
    }
}

#[tokio::test]
async fn files_of_the_repository_that_look_like_settings_are_just_files() {
    let lab = Lab::new();
    lab.trap(&lab.path("trap"));
    let trap = lab.path("trap").display().to_string();
    let config = format!(
        "[core]\n fsmonitor = {trap}\n hooksPath = {trap}\n bare = true\n[filter \"evil\"]\n smudge = {trap}\n"
    );
    lab.repository(
        "repo",
        &[
            (".gitconfig", &config),
            ("config", &config),
            ("HEAD", "ref: refs/heads/main\n"),
            ("objects/x", ""),
            ("refs/x", ""),
            ("embedded/HEAD", "ref: refs/heads/main\n"),
            ("embedded/config", &config),
            ("embedded/objects/x", ""),
            ("embedded/refs/x", ""),
            (".lfsconfig", &config),
            (".gitattributes", "* filter=evil\n"),
            ("hooks/post-checkout", "#!/bin/sh\n"),
        ],
    );
    lab.check_out(&source(lab.url("repo")), &lab.settings()).await.unwrap();
    assert!(lab.destination().join("embedded/config").is_file());
}

/// A repository that says by hand what its submodules are.
fn with_submodule(lab: &Lab, name: &str, modules: &str, path: &str) {
    lab.repository(name, &[("file", "x"), (".gitmodules", modules)]);
    let commit = lab.git(name, &["rev-parse", "HEAD"]);
    // A path that git refuses to add leaves a repository with the description only.
    let entry = format!("160000,{commit},{path}");
    let _ = std::process::Command::new("git")
        .args(["update-index", "--add", "--cacheinfo", &entry])
        .current_dir(lab.path(name))
        .output();
    lab.git(
        name,
        &["-c", "user.name=t", "-c", "user.email=t@example.test", "commit", "--quiet", "--allow-empty", "--message=x"],
    );
}

#[tokio::test]
async fn submodules_run_nothing() {
    let lab = Lab::new();
    lab.trap(&lab.path("trap"));
    lab.repository("inner", &[("file", "x")]);
    lab.trap(&lab.path("inner/.git/hooks/post-checkout"));
    let (trap, inner) = (lab.path("trap").display().to_string(), lab.url("inner"));
    let section = |name: &str, path: &str, rest: &str| format!("[submodule \"{name}\"]\n path = {path}\n {rest}\n");
    let cases = [
        (section("s", "s", &format!("url = ext::{trap}")), "s"),
        (section("s", "s", &format!("url = {inner}\n update = !{trap}")), "s"),
        (section("s", "s", &format!("url = -u{trap}")), "s"),
        (section("s", "s", &format!("url = --upload-pack={trap}")), "s"),
        (section("s", "s", &format!("url = ssh://-oProxyCommand={trap}/x")), "s"),
        (section("s", "s", &format!("url = {inner}")), "s"),
        (section("s", "s", &format!("url = {}", lab.path("inner").display())), "s"),
        (section("s", "s", "url = ./../inner"), "s"),
        (section("../../hooks", "s", &format!("url = {inner}")), "s"),
        (section("../modules/evil", "s", &format!("url = {inner}")), "s"),
        (section("s", ".git/hooks", &format!("url = {inner}")), ".git/hooks"),
        (section("s", "../outside", &format!("url = {inner}")), "../outside"),
        (section("s", "-c", &format!("url = {inner}")), "-c"),
        (
            section(
                "s",
                "s",
                &format!("url = {inner}\n branch = --upload-pack={trap}\n fetchRecurseSubmodules = true"),
            ),
            "s",
        ),
        (section("s", "s", &format!("url = \"http://127.0.0.1:1/\\n[core]\\nfsmonitor={trap}\"")), "s"),
    ];
    for (index, (modules, path)) in cases.iter().enumerate() {
        let name = format!("repo{index}");
        with_submodule(&lab, &name, modules, path);
        let _ = lab.check_out(&source(lab.url(&name)), &lab.settings()).await;
        assert!(!lab.path("outside").exists());
        assert!(!lab.destination().join("s/file").exists(), "a repository of this machine was fetched: {modules}");
    }
}

#[tokio::test]
async fn links_that_lead_outside_are_refused() {
    let lab = Lab::new();
    std::fs::write(lab.path("secret"), "secret").unwrap();
    for (index, (name, target)) in
        [("l", "../secret"), ("l", "/etc/passwd"), ("a/b/l", "../../../secret"), ("l", ".."), ("a/l", "../../missing")]
            .iter()
            .enumerate()
    {
        let repository = format!("repo{index}");
        lab.repository(&repository, &[("a/b/file", "x")]);
        symlink(target, lab.path(&repository).join(name)).unwrap();
        lab.commit(&repository, &[]);
        let result = lab.check_out(&source(lab.url(&repository)), &lab.settings()).await;
        assert!(matches!(result, Err(GitError::Link { .. })), "{name} -> {target}: {result:?}");
    }
    lab.repository("good", &[("a/b/file", "x")]);
    symlink("a/b/file", lab.path("good/l")).unwrap();
    symlink("../b", lab.path("good/a/b/self")).unwrap();
    lab.commit("good", &[]);
    lab.check_out(&source(lab.url("good")), &lab.settings()).await.unwrap();
}

#[tokio::test]
async fn trees_that_write_into_the_repository_run_nothing() {
    let lab = Lab::new();
    lab.trap(&lab.path("trap"));
    lab.repository("repo", &[("file", "x")]);
    let hook = std::fs::read_to_string(lab.path("trap")).unwrap();
    std::fs::write(lab.path("repo/hook"), hook).unwrap();
    let blob = lab.git("repo", &["hash-object", "-w", "hook"]);
    for name in [".git", ".GIT", "git~1", ".g\u{200c}it", ".git "] {
        // Trees that git itself would not make.
        let mut tree = format!("100755 {name}\0").into_bytes();
        tree.extend(hex::decode(&blob).unwrap());
        std::fs::write(lab.path("repo/tree"), tree).unwrap();
        let tree = lab.git("repo", &["hash-object", "-t", "tree", "-w", "--literally", "tree"]);
        let commit = lab.git("repo", &["commit-tree", "-m", "x", &tree]);
        lab.git("repo", &["update-ref", "refs/heads/evil", &commit]);
        let _ = lab.check_out(&at(lab.url("repo"), "evil"), &lab.settings()).await;
    }
}

#[tokio::test]
async fn branches_that_look_like_options_are_just_names() {
    let lab = Lab::new();
    lab.trap(&lab.path("trap"));
    lab.repository("repo", &[("file", "x")]);
    let branch = "refs/heads/--upload-pack=x";
    let head = lab.git("repo", &["rev-parse", "HEAD"]);
    lab.git("repo", &["update-ref", branch, &head]);
    lab.git("repo", &["symbolic-ref", "HEAD", branch]);
    lab.git("repo", &["update-ref", "refs/tags/--exec=x", &head]);
    for depth in [None, Some(1)] {
        let _ = lab.check_out(&GitSource { depth, ..source(lab.url("repo")) }, &lab.settings()).await;
    }
}
