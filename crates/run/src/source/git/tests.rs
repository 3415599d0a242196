//! Which commit is meant, and what may be an address; and the real git on a repository of this machine.

use std::process::Command;

use super::*;

fn wish(which: Which) -> Wish {
    Wish { url: "https://git.example/a".to_owned(), which, submodules: false, login: Login::default() }
}

fn has(tags: &[&str]) -> References {
    let commits = tags.iter().enumerate().map(|(at, tag)| (format!("refs/tags/{tag}"), format!("{at:040}")));
    References { head: None, commits: commits.collect() }
}

#[test]
fn the_newest_version_in_a_range_is_chosen() {
    let newest = |range: &str| {
        let read = Range::parse(range).unwrap();
        let tags = ["v1.2.0", "v1.10.0", "v1.9.0", "v2.0.0", "v2.1.0-rc.1", "latest"];
        wish(Which::Newest(range.to_owned())).choose(&has(&tags), Some(&read)).map(|found| found.revision)
    };
    assert_eq!(newest(">=1.2.0 <2.0.0").unwrap(), format!("v1.10.0@sha1:{:040}", 1));
    assert_eq!(newest("*").unwrap(), format!("v2.0.0@sha1:{:040}", 3));
    let said = newest("^3").unwrap_err();
    assert_eq!(said.kind, Trouble::NotFound);
    assert_eq!(said.message, "https://git.example/a has no tag that is a version in \"^3\"");
}

#[test]
fn addresses_are_those_of_others_and_have_no_secrets() {
    let (ours, others) = (Manners::default(), Manners { for_others: true, ..Manners::default() });
    let address = |url: &str, manners: &Manners| Wish::address(url, manners).map_err(|problem| problem.kind);
    assert_eq!(address("git@git.example:a/b.git", &others), Ok("ssh://git@git.example/a/b.git".to_owned()));
    assert_eq!(address("/srv/a", &ours), Ok("file:///srv/a".to_owned()));
    for url in
        ["/srv/a", "file:///srv/a", "ext::sh -c x", "https://me:pass@git.example/a", "https://t0ken@git.example/a", "a"]
    {
        assert_eq!(address(url, &others), Err(Trouble::Invalid), "{url}");
    }
    let said = Wish::address("https://me:hunter2@git.example/a", &others).unwrap_err();
    assert!(!said.message.contains("hunter2"), "{said}");
}

#[tokio::test]
async fn ssh_needs_a_key_and_the_keys_of_hosts() {
    let ssh = Wish { url: "git@git.example:a/b".to_owned(), ..wish(Which::Head) };
    let others = Manners { for_others: true, ..Manners::default() };
    let said = ssh.look(&others, &Limits::default()).await.unwrap_err();
    assert!(said.message.contains("\"identity\" and \"known_hosts\""), "{said}");
}

fn git(directory: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.test", "-C"]).arg(directory).args(words);
    let done = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[tokio::test]
async fn a_repository_becomes_a_tree_with_its_revision() {
    let (work, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    git(work.path(), &["init", "--quiet", "--initial-branch=main"]);
    std::fs::write(work.path().join("main.tf"), "").unwrap();
    git(work.path(), &["add", "--all"]);
    git(work.path(), &["commit", "--quiet", "--message=x"]);
    let (manners, limits) = (Manners::default(), Limits::default());
    let wish = Wish { url: work.path().display().to_string(), ..wish(Which::Head) };
    let found = wish.look(&manners, &limits).await.unwrap();
    assert_eq!(found.revision, format!("main@sha1:{}", found.commit));
    let tree = wish.fetch(&found, folder.path(), &manners, &limits).await.unwrap();
    assert!(tree.has_file("main.tf") && tree.digest.starts_with("sha256:"));
    assert_eq!(tree.revision, found.revision);
    drop(tree);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the directory goes with the tree");
    let other = Wish { which: Which::Branch("gone".to_owned()), ..wish.clone() };
    let said = other.look(&manners, &limits).await.unwrap_err();
    assert_eq!(said.kind, Trouble::NotFound);
    assert!(said.message.contains("has no branch \"gone\""), "{said}");
}
