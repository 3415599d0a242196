//! The real git, on repositories of this machine.

use super::super::testing::Lab;
use super::*;

fn remote(lab: &Lab) -> Remote {
    Remote { url: lab.url("repo"), login: Login::default() }
}

async fn fetched(lab: &Lab, commit: &str, reference: Option<&str>, limits: RemoteLimits) -> Result<String, GitError> {
    let _ = std::fs::remove_dir_all(lab.destination());
    let settings = GitSettings { submodules: false, ..lab.settings() };
    let done = snapshot(&remote(lab), commit, reference, &lab.destination(), &limits, &settings).await;
    assert!(!lab.canary().exists());
    done.map(|done| done.commit)
}

#[tokio::test]
async fn what_there_is_is_told_by_name() {
    let lab = Lab::new();
    lab.repository("repo", &[("file", "1")]);
    lab.git("repo", &["tag", "--annotate", "--message=x", "v1.0.0"]);
    let commit = lab.git("repo", &["rev-parse", "HEAD"]);
    let all = references(&remote(&lab), &["HEAD", "refs/heads/main", "refs/tags/*"], &lab.settings()).await.unwrap();
    assert_eq!(all.head.as_deref(), Some("main"));
    assert_eq!(all.commits["refs/heads/main"], commit);
    assert_eq!(all.commits["refs/tags/v1.0.0"], commit, "a tag stands for what it is about");
    let none = references(&remote(&lab), &["refs/heads/other"], &lab.settings()).await.unwrap();
    assert!(none.commits.is_empty());
}

#[tokio::test]
async fn one_commit_is_fetched_or_what_leads_there_by_now() {
    let lab = Lab::new();
    lab.repository("repo", &[("file", "1")]);
    let first = lab.git("repo", &["rev-parse", "HEAD"]);
    let second = lab.commit("repo", &[("file", "2")]);
    assert_eq!(fetched(&lab, &first, None, RemoteLimits::default()).await.unwrap(), first);
    assert_eq!(std::fs::read_to_string(lab.destination().join("file")).unwrap(), "1");
    assert!(!lab.destination().join(".git").exists());
    let gone = "1".repeat(40);
    let newer = fetched(&lab, &gone, Some("refs/heads/main"), RemoteLimits::default()).await.unwrap();
    assert_eq!(newer, second);
    let said = fetched(&lab, &gone, None, RemoteLimits::default()).await.unwrap_err();
    assert!(matches!(said, GitError::Failed { .. }), "{said}");
}

#[tokio::test]
async fn limits_are_named() {
    let lab = Lab::new();
    lab.repository("repo", &[("large", &"x".repeat(100_000)), ("a", ""), ("b", "")]);
    let commit = lab.git("repo", &["rev-parse", "HEAD"]);
    let small = RemoteLimits { bytes: 50_000, files: 10 };
    let said = fetched(&lab, &commit, None, small).await.unwrap_err().to_string();
    assert!(said.contains("larger than the limit of 50000 bytes"), "{said}");
    let few = RemoteLimits { bytes: 1 << 20, files: 2 };
    let said = fetched(&lab, &commit, None, few).await.unwrap_err().to_string();
    assert!(said.contains("more files than the limit of 2"), "{said}");
}

#[tokio::test]
async fn what_becomes_too_large_while_it_is_fetched_is_ended() {
    let lab = Lab::new();
    let directory = lab.path("filling");
    std::fs::create_dir(&directory).unwrap();
    let source = GitSource { url: lab.url("repo"), reference: None, depth: None, ssh_key: None };
    let settings = lab.settings();
    let git = Git::new(&settings, &source, &directory, None).await.unwrap();
    let filling = async {
        std::fs::write(directory.join("pack"), vec![0; 5_000]).unwrap();
        std::future::pending::<Result<(), GitError>>().await
    };
    let said = git.limited(4_000, filling).await.unwrap_err();
    assert!(matches!(said, GitError::TooLarge { limit: 4_000, .. }), "{said}");
}
