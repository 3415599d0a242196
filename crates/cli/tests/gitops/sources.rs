//! Stacks whose configurations are in a repository that the operator looks at itself: what is pushed, what is pushed by mistake, and a server
//! that is not as it should be.

use std::time::Duration;

use groma_testkit::servers::git::{GitRepository, GitServer};
use serde_json::{Value, json};

use crate::lake::{planned, state};
use crate::stage::{Stage, condition, message, now};

/// The Stack.
pub(crate) const NAME: &str = "code";
/// The repository.
const REPOSITORY: &str = "lake";
/// Where its root module is.
pub(crate) const MAIN: &str = "infra/main.tf";
/// What it has to begin with.
pub(crate) const ONE: &str = "resource \"terraform_data\" \"one\" {\n  input = \"one\"\n}\n";
/// What cannot be read, in its second line.
pub(crate) const BROKEN: &str = "resource \"terraform_data\" \"one\" {\n  input = = \"one\"\n}\n";
/// What is there besides, later.
const TWO: &str = "resource \"random_string\" \"two\" {\n  length = 8\n}\n";
/// How long anything takes that begins at once. It is looked every second.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(10);

/// A namespace, a server, and a repository on it with one commit.
fn begun(files: &[(&str, &str)]) -> (Stage, GitServer, GitRepository, String) {
    let server = GitServer::new();
    let repository = server.repository(REPOSITORY);
    let first = repository.commit("main", "the first", files);
    (Stage::new(), server, repository, first)
}

/// The same with a Stack that has applied it.
#[track_caller]
pub(crate) fn given(files: &[(&str, &str)], more: &Value) -> (Stage, GitServer, GitRepository, String) {
    let (stage, server, repository, first) = begun(files);
    write(&stage, &repository, &json!({}), more);
    applied(&stage, &revision(&first));
    (stage, server, repository, first)
}

/// Writes the Stack, with more about its source and about itself.
#[track_caller]
fn write(stage: &Stage, repository: &GitRepository, source: &Value, more: &Value) {
    let mut git = json!({"url": repository.url(), "ref": {"branch": "main"}, "interval": "1s"});
    git.as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
    let mut spec = json!({
        "source": {"git": git}, "path": "infra", "interval": "1h", "retry": {"interval": "1h"},
        "outputs": {"status": true},
    });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    stage.stack(NAME, spec);
}

/// What people know a commit by.
pub(crate) fn revision(commit: &str) -> String {
    format!("main@sha1:{commit}")
}

/// Waits until a revision is applied, and all is well.
#[track_caller]
pub(crate) fn applied(stage: &Stage, revision: &str) -> Value {
    stage.until(&format!("{revision} is applied"), || {
        let stack = stage.get(NAME);
        let is_ready = condition(&stack, "Ready")?["status"] == "True";
        (is_ready && stack["status"]["applied"]["revision"] == revision).then_some(stack)
    })
}

/// Why the last Run began.
#[track_caller]
pub(crate) fn cause(stage: &Stage) -> Value {
    stage.runs(NAME).last().unwrap()["spec"]["causes"][0]["reason"].clone()
}

/// The addresses of what is in the state.
#[track_caller]
fn resources(stage: &Stage) -> Vec<String> {
    let kept = state(stage, NAME);
    let all = kept["resources"].as_array().unwrap().iter();
    all.map(|one| format!("{}.{}", one["type"].as_str().unwrap(), one["name"].as_str().unwrap())).collect()
}

/// Objects of a kind, each as it is.
#[track_caller]
fn objects(stage: &Stage, group: &str, plural: &str) -> Vec<Value> {
    stage.api.get(&stage.at(group, plural, ""))["items"].as_array().unwrap().clone()
}

/// What was pushed is carried out, and what is pushed later, too, by itself.
#[test]
fn what_is_pushed_is_applied() {
    let (stage, server, repository, first) = given(&[(MAIN, ONE)], &json!({}));
    let stack = stage.get(NAME);
    assert_eq!(stack["status"]["source"]["revision"], revision(&first));
    assert!(stack["status"]["source"]["digest"].as_str().unwrap().starts_with("sha256:"), "{stack}");
    assert_eq!(stack["status"]["attempted"]["revision"], revision(&first));
    assert!(message(&stack).contains(&revision(&first)), "{}", message(&stack));
    assert_eq!((cause(&stage), planned(&stage.runs(NAME)[0])), (json!("Created"), [1, 0, 0]));
    assert_eq!(resources(&stage), ["terraform_data.one"]);

    let start = now();
    let second = repository.commit("main", "one more", &[("infra/two.tf", TWO)]);
    let stack = applied(&stage, &revision(&second));
    assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
    assert_eq!(stack["status"]["source"]["revision"], revision(&second));
    let runs = stage.runs(NAME);
    assert_eq!((runs.len(), cause(&stage), planned(&runs[1])), (2, json!("SourceChanged"), [1, 0, 0]));
    assert_eq!(resources(&stage), ["random_string.two", "terraform_data.one"]);
    assert!(server.fetches(REPOSITORY) >= 2, "{:?}", server.asked());
}

/// S-101: what cannot be read is pushed. It is said where, nothing is touched, and what mends it is carried out at once, though it would not have
/// been tried again for an hour; nobody has to ask for it.
#[test]
fn s_101_what_cannot_be_read_is_mended_by_a_push() {
    let (stage, _server, repository, first) = given(&[(MAIN, ONE)], &json!({}));
    let before = state(&stage, NAME);
    let second = repository.commit("main", "by mistake", &[(MAIN, BROKEN)]);
    let stack = stage.says(NAME, "False", "InvalidConfiguration");
    let told = message(&stack);
    assert!(told.contains("main.tf:2") && told.contains(&revision(&second)), "{told}");
    let status = &stack["status"];
    assert_eq!(
        (&status["attempted"]["revision"], &status["failures"]["count"]),
        (&json!(revision(&second)), &json!(1))
    );
    assert_eq!(status["applied"]["revision"], revision(&first));
    assert_eq!(state(&stage, NAME), before);
    let (runs, annotations) = (stage.runs(NAME).len(), stack["metadata"]["annotations"].clone());

    let start = now();
    let third = repository.commit("main", "mended", &[(MAIN, ONE), ("infra/two.tf", TWO)]);
    let stack = applied(&stage, &revision(&third));
    assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
    assert_eq!(stack["status"]["attempted"]["revision"], revision(&third));
    assert_eq!((&stack["status"]["failures"], &stack["metadata"]["annotations"]), (&Value::Null, &annotations));
    assert_eq!((stage.runs(NAME).len(), cause(&stage)), (runs + 1, json!("SourceChanged")));
}

/// S-002b: a commit is about something else. It is seen, and no run begins; the next one that matters is carried out.
#[test]
fn s_002b_a_commit_about_another_directory() {
    let (stage, _server, repository, first) = given(&[(MAIN, ONE), ("docs/read.md", "words")], &json!({}));
    let second = repository.commit("main", "words", &[("docs/read.md", "other words"), ("other/main.tf", BROKEN)]);
    stage.until("the commit is seen", || {
        (stage.get(NAME)["status"]["source"]["revision"] == revision(&second)).then_some(())
    });
    std::thread::sleep(Duration::from_secs(2));
    let stack = stage.ready(NAME);
    assert_eq!(stack["status"]["attempted"]["revision"], revision(&second));
    assert_eq!(stack["status"]["applied"]["revision"], revision(&first));
    assert_eq!(stage.runs(NAME).len(), 1);
    // It is not that nobody looks.
    let third = repository.commit("main", "one more", &[("infra/two.tf", TWO)]);
    applied(&stage, &revision(&third));
    assert_eq!((stage.runs(NAME).len(), cause(&stage)), (2, json!("SourceChanged")));
}

/// A file of the repository is read that is outside of the directory of the configuration. It is there, and it matters.
#[test]
fn files_beside_the_configuration_are_read_and_matter() {
    let main = "output \"it\" {\n  value = file(\"${path.module}/../../shared/it.txt\")\n}\n";
    let files = [("teams/infra/main.tf", main), ("shared/it.txt", "one"), ("shared/other.txt", "one")];
    let (stage, _server, repository, _) = given(&files, &json!({"path": "teams/infra"}));
    assert_eq!(stage.get(NAME)["status"]["outputs"]["it"], "one");
    let second = repository.commit("main", "what is read", &[("shared/it.txt", "two")]);
    let stack = applied(&stage, &revision(&second));
    assert_eq!(stack["status"]["outputs"]["it"], "two");
    assert_eq!((stage.runs(NAME).len(), cause(&stage)), (2, json!("SourceChanged")));
    // The one beside it is not.
    let third = repository.commit("main", "what is not read", &[("shared/other.txt", "two")]);
    stage.until("the commit is seen", || {
        (stage.get(NAME)["status"]["source"]["revision"] == revision(&third)).then_some(())
    });
    assert_eq!(stage.ready(NAME)["status"]["applied"]["revision"], revision(&second));
    assert_eq!(stage.runs(NAME).len(), 2);
}

/// S-306: somebody has pushed a state. Nobody uses it, and that is told once.
#[test]
fn s_306_a_state_in_the_repository_is_not_used() {
    let main = format!("{ONE}output \"it\" {{\n  value = fileexists(\"${{path.module}}/terraform.tfstate\")\n}}\n");
    let pushed = json!({
        "version": 4, "terraform_version": "1.9.0", "serial": 40, "lineage": "of-somebody-else", "outputs": {},
        "resources": [{
            "mode": "managed", "type": "terraform_data", "name": "gone",
            "provider": "provider[\"terraform.io/builtin/terraform\"]",
            "instances": [{"schema_version": 0, "attributes": {"id": "gone", "input": null, "output": null}}],
        }],
    });
    let pushed = pushed.to_string();
    let files = [(MAIN, main.as_str()), ("infra/terraform.tfstate", pushed.as_str())];
    let (stage, _server, _repository, _) = given(&files, &json!({}));
    assert_eq!(planned(&stage.runs(NAME)[0]), [1, 0, 0]);
    assert_eq!(resources(&stage), ["terraform_data.one"]);
    assert_ne!(state(&stage, NAME)["lineage"], "of-somebody-else");
    assert_eq!(stage.get(NAME)["status"]["outputs"]["it"], false);
    let warnings = || -> Vec<Value> {
        let all = objects(&stage, "v1", "events").into_iter();
        all.filter(|event| event["reason"] == "StateInSource" && event["involvedObject"]["name"] == NAME).collect()
    };
    stage.until("it is told", || (!warnings().is_empty()).then_some(()));
    std::thread::sleep(Duration::from_secs(2));
    let warnings = warnings();
    assert_eq!((warnings.len(), &warnings[0]["type"]), (1, &json!("Warning")), "{warnings:?}");
    assert!(warnings[0]["message"].as_str().unwrap().contains("infra/terraform.tfstate"), "{warnings:?}");
}

/// A branch is pushed by force, deleted, and comes back. It is followed; while it is away that is said, and nothing is taken down.
#[test]
fn a_branch_is_rewritten_goes_and_comes_back() {
    let (stage, _server, repository, first) = given(&[(MAIN, ONE)], &json!({}));
    let second = repository.commit("main", "one more", &[("infra/two.tf", TWO)]);
    applied(&stage, &revision(&second));
    let three = TWO.replace("two", "three");
    let forced = repository.rewrite("main", Some(&first), "by force", &[("infra/three.tf", &three)]);
    applied(&stage, &revision(&forced));
    assert_eq!(planned(stage.runs(NAME).last().unwrap()), [1, 0, 1]);
    assert_eq!(resources(&stage), ["random_string.three", "terraform_data.one"]);

    let (before, runs) = (state(&stage, NAME), stage.runs(NAME).len());
    repository.delete_branch("main");
    let stack = stage.says(NAME, "False", "SourceFailed");
    let told = message(&stack);
    for words in ["no branch \"main\"", repository.url(), &revision(&forced)] {
        assert!(told.contains(words), "{told}");
    }
    assert_eq!(stack["status"]["applied"]["revision"], revision(&forced));
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!((state(&stage, NAME), stage.runs(NAME).len()), (before, runs));

    repository.set_branch("main", &forced);
    stage.ready(NAME);
    assert_eq!(stage.runs(NAME).len(), runs, "it is as it was");
    let last = repository.commit("main", "one more", &[("infra/two.tf", TWO)]);
    applied(&stage, &revision(&last));
    assert_eq!(stage.runs(NAME).len(), runs + 1);
}

/// A password is wrong: it is said where it stands, and what it is nowhere. The right one in the Secret is enough.
#[test]
fn a_wrong_password_is_mended_in_its_secret() {
    const WRONG: &str = "words-that-are-wrong";
    const RIGHT: &str = "words-that-are-right";
    let (stage, server, repository, first) = begun(&[(MAIN, ONE)]);
    server.demand_password("robot", RIGHT);
    stage.secret("key-of-the-code", &json!({"username": "robot", "password": WRONG}));
    write(&stage, &repository, &json!({"secretRef": "key-of-the-code"}), &json!({}));
    let stack = stage.says(NAME, "False", "AccessDenied");
    let told = message(&stack);
    assert!(told.contains("spec.source.git.secretRef") && told.contains("key-of-the-code"), "{told}");
    assert!(stage.runs(NAME).is_empty());

    let login = stage.at("v1", "secrets", "key-of-the-code");
    stage.api.edit(&login, &json!({"stringData": {"password": RIGHT}}));
    applied(&stage, &revision(&first));
    let kinds = [("groma.dev/v1alpha1", "stacks"), ("groma.dev/v1alpha1", "runs"), ("v1", "events")];
    let readable = kinds.map(|(group, plural)| json!(objects(&stage, group, plural)).to_string()).join("\n");
    for text in [readable, stage.log()] {
        for secret in [WRONG, RIGHT] {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret} can be read");
        }
    }
}

/// The server is gone, and the Stack is deleted: everything is taken down with what was applied.
#[test]
fn a_stack_is_deleted_without_its_repository() {
    let (stage, server, repository, _) = begun(&[("read.md", "words")]);
    let path = stage.path("made");
    let main =
        format!("resource \"local_file\" \"it\" {{\n  filename = \"{}\"\n  content = \"it\"\n}}\n", path.display());
    let commit = repository.commit("main", "a file", &[(MAIN, &main)]);
    write(&stage, &repository, &json!({}), &json!({}));
    applied(&stage, &revision(&commit));
    assert!(path.exists());
    drop(server);
    let stack = stage.says(NAME, "False", "SourceFailed");
    assert!(message(&stack).contains(&revision(&commit)), "{}", message(&stack));
    assert!(path.exists());
    stage.delete(NAME);
    assert!(!path.exists());
    assert!(stage.api.find(&stage.at("v1", "secrets", &format!("tfstate-default-{NAME}"))).is_none());
}

/// Everything that somebody may have written, by its version.
fn written(stage: &Stage) -> Vec<String> {
    let kinds = [
        ("groma.dev/v1alpha1", "stacks"),
        ("groma.dev/v1alpha1", "runs"),
        ("v1", "events"),
        ("v1", "secrets"),
        ("coordination.k8s.io/v1", "leases"),
    ];
    let all = |(group, plural): (&str, &str)| {
        let shown = |item: Value| {
            let metadata = &item["metadata"];
            format!("{plural}/{} {}", metadata["name"], metadata["resourceVersion"])
        };
        objects(stage, group, plural).into_iter().map(shown).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(all).collect()
}

/// S-005: as long as nothing is pushed it is looked, and neither fetched, nor written, nor run.
#[test]
fn s_005_a_repository_with_nothing_new_means_quiet() {
    let (stage, server, repository, _) = given(&[(MAIN, ONE)], &json!({"interval": "1s"}));
    // What was written about all this is through.
    std::thread::sleep(Duration::from_secs(1));
    let (before, looks, fetches) = (written(&stage), server.looks(REPOSITORY), server.fetches(REPOSITORY));
    assert!(fetches > 0, "{:?}", server.asked());
    stage.until("eight looks", || (server.looks(REPOSITORY) >= looks + 8).then_some(()));
    assert_eq!(written(&stage), before);
    assert_eq!((server.fetches(REPOSITORY), stage.runs(NAME).len()), (fetches, 1), "{:?}", server.asked());
    // It is not that nobody would see it.
    let second = repository.commit("main", "one more", &[("infra/two.tf", TWO)]);
    applied(&stage, &revision(&second));
    assert!(server.fetches(REPOSITORY) > fetches);
}
