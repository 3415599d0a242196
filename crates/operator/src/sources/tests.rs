//! Sources as Stacks ask for them, with the real git on repositories of this machine.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use groma_run::source::artifact::Artifact;
use groma_testkit::servers::artifacts::ArtifactServer;
use serde_json::json;

use super::wish::What;
use super::*;

struct Lab {
    root: tempfile::TempDir,
    sources: Arc<Sources>,
    told: Arc<AtomicUsize>,
}

impl Lab {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let told: Arc<AtomicUsize> = Arc::default();
        let settings = Settings {
            folder: root.path().join("sources"),
            premises: Premises::default(),
            manners: Manners::default(),
            clock: Arc::new(|| Moment(jiff::Timestamp::now())),
        };
        let counted = Arc::clone(&told);
        let sources = Sources::new(settings, move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        let lab = Self { root, sources, told };
        std::fs::create_dir(lab.repository()).unwrap();
        lab.git(&["init", "--quiet", "--initial-branch=main"]);
        lab
    }

    fn repository(&self) -> std::path::PathBuf {
        self.root.path().join("repo")
    }

    fn git(&self, words: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.test", "-C"]).arg(self.repository()).args(words);
        let done = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    fn commit(&self, text: &str) {
        std::fs::write(self.repository().join("main.tf"), text).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=x"]);
    }

    fn ask(&self, stack: &str, interval: Duration) -> Known {
        let source = json!({"url": self.repository(), "ref": {"branch": "main"}});
        let wish = wish::of_git("team", &serde_json::from_value(source).unwrap(), None).unwrap();
        self.sources.ask(&("team".to_owned(), stack.to_owned()), wish, interval)
    }

    async fn until(&self, stack: &str, is_so: impl Fn(&Known) -> bool) -> Known {
        for _ in 0..500 {
            let known = self.ask(stack, Duration::from_hours(1));
            if is_so(&known) {
                return known;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("it never came: {:?}", self.ask(stack, Duration::from_hours(1)));
    }

    fn trees(&self) -> usize {
        let of = |path: &Path| {
            std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>()
        };
        let inside = of(&self.root.path().join("sources"));
        inside.iter().flat_map(|path| of(path)).filter(|path| path.is_dir()).count()
    }
}

fn tree(known: &Known) -> Option<&Tree> {
    match known {
        Known::Tree { tree, .. } => Some(tree),
        _ => None,
    }
}

#[tokio::test]
async fn a_source_is_fetched_once_for_all_who_want_it() {
    let lab = Lab::new();
    lab.commit("a = 1");
    for number in 0..100 {
        assert!(tree(&lab.ask(&format!("s{number}"), Duration::from_hours(1))).is_none());
    }
    lab.until("s0", |known| tree(known).is_some()).await;
    assert_eq!((lab.sources.size(), lab.trees()), (1, 1));
    assert_eq!(lab.told.load(Ordering::SeqCst), 100, "everybody is told");
    assert!(tree(&lab.ask("s99", Duration::from_hours(1))).is_some());
    for number in 0..100 {
        lab.sources.forget(&("team".to_owned(), format!("s{number}")));
    }
    assert_eq!(lab.sources.size(), 0);
    for _ in 0..100 {
        if lab.trees() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("what nobody wants is still there");
}

#[tokio::test]
async fn something_new_is_seen_when_it_is_asked_for_and_told_only_then() {
    let lab = Lab::new();
    lab.commit("a = 1");
    let first = lab.until("s", |known| tree(known).is_some()).await;
    let first = tree(&first).unwrap().revision.clone();
    let told = lab.told.load(Ordering::SeqCst);
    assert_eq!(lab.sources.refresh(|_| false), 0);
    assert_eq!(lab.sources.refresh(|url| url.contains("repo")), 1);
    lab.sources.refresh_for(&("team".to_owned(), "s".to_owned()));
    while lab.told.load(Ordering::SeqCst) == told {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(lab.told.load(Ordering::SeqCst), told + 1, "who asked is told, though nothing is new");
    lab.commit("a = 2");
    lab.sources.refresh(|_| true);
    let second = lab.until("s", |known| tree(known).is_some_and(|tree| tree.revision != first)).await;
    assert!(tree(&second).unwrap().revision.starts_with("main@sha1:"));
}

#[tokio::test]
async fn what_is_known_stays_when_nothing_newer_can_be_had() {
    let lab = Lab::new();
    assert!(matches!(lab.until("s", |known| !matches!(known, Known::Fetching)).await, Known::Failed(_)));
    lab.commit("a = 1");
    lab.sources.refresh(|_| true);
    lab.until("s", |known| tree(known).is_some()).await;
    lab.git(&["branch", "--move", "main", "gone"]);
    lab.sources.refresh(|_| true);
    let known = lab.until("s", |known| matches!(known, Known::Tree { failing: Some(_), .. })).await;
    let Known::Tree { failing: Some(problem), .. } = known else { panic!("{known:?}") };
    assert!(problem.message.contains("has no branch \"main\""), "{problem}");
    lab.git(&["branch", "--move", "gone", "main"]);
    lab.sources.refresh(|_| true);
    lab.until("s", |known| matches!(known, Known::Tree { failing: None, .. })).await;
}

fn of_flux(server: &ArtifactServer, path: &str, text: &str) -> Artifact {
    let made = server.publish(path, &[("main.tf", text)]);
    Artifact { url: made.url, revision: path.to_owned(), digest: made.digest }
}

#[tokio::test]
async fn what_flux_had_before_stays_until_what_is_newer_can_be_had() {
    let (lab, server) = (Lab::new(), ArtifactServer::new());
    let ask = |stack: &str, artifact: &Artifact| {
        let wish = wish::Wish { namespace: "team".to_owned(), what: What::Artifact(artifact.clone()) };
        lab.sources.ask(&("team".to_owned(), stack.to_owned()), wish, Duration::MAX)
    };
    let until = async |artifact: &Artifact, is_so: &dyn Fn(&Known) -> bool| {
        for _ in 0..1000 {
            let known = ask("s", artifact);
            if is_so(&known) {
                return known;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("it never came: {:?}", ask("s", artifact));
    };
    let first = of_flux(&server, "gitrepository/team/app/1", "a = 1");
    until(&first, &|known| tree(known).is_some()).await;
    let mut second = of_flux(&server, "gitrepository/team/app/2", "a = 2");
    let digest = std::mem::replace(&mut second.digest, format!("sha256:{}", "0".repeat(64)));
    assert!(matches!(ask("s", &second), Known::Fetching), "it is tried first");
    let known = until(&second, &|known| matches!(known, Known::Tree { failing: Some(_), .. })).await;
    assert_eq!(tree(&known).unwrap().revision, first.revision);
    // Neither is what it was given anew.
    let third = Artifact { digest: format!("sha256:{}", "1".repeat(64)), ..second.clone() };
    let known = until(&third, &|known| matches!(known, Known::Tree { failing: Some(_), .. })).await;
    assert_eq!(tree(&known).unwrap().revision, first.revision);
    let mended = Artifact { digest, ..second };
    let known = until(&mended, &|known| matches!(known, Known::Tree { failing: None, .. })).await;
    assert_eq!(tree(&known).unwrap().revision, mended.revision);
    // What another source had is of no use.
    let other =
        Artifact { digest: format!("sha256:{}", "2".repeat(64)), ..of_flux(&server, "gitrepository/team/x/1", "") };
    until(&other, &|known| matches!(known, Known::Failed(_))).await;
    assert_eq!(lab.sources.size(), 1);
}
