//! Those who have repositories, and the operator: what is said about pull requests, and who is heard when something was pushed.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use groma_testkit::servers::forge::{Flavour, ForgeServer, Pull};
use groma_testkit::servers::git::{GitRepository, GitServer};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::lake::state;
use crate::sources::{MAIN, NAME, ONE, applied, revision};
use crate::stage::{Stage, condition, free_address};

/// The repository, as servers of pull requests know it.
const REPOSITORY: &str = "acme/infra";
const TOKEN: &str = "token-of-the-forge";
const SECRET: &str = "secret-of-the-hook";

/// A Stack that has applied what is in a repository, with more about its source.
#[track_caller]
fn given(stage: &Stage, server: &GitServer, more: &Value) -> (GitRepository, String) {
    let repository = server.repository(REPOSITORY);
    let first = repository.commit("main", "the first", &[(MAIN, ONE), ("docs/read.md", "words")]);
    let mut git = json!({"url": repository.url(), "ref": {"branch": "main"}, "interval": "1h"});
    git.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    stage.stack(NAME, json!({"source": {"git": git}, "path": "infra", "interval": "1h", "retry": {"interval": "1h"}}));
    applied(stage, &revision(&first));
    (repository, first)
}

/// The Stack of a pull request, if there is one.
fn preview(stage: &Stage) -> Option<Value> {
    let at = format!("{}?labelSelector=groma.dev/preview-of={NAME}", stage.at_stack(""));
    stage.api.get(&at)["items"].as_array().unwrap().first().cloned()
}

/// Whether a status of a commit was set.
fn is_told(forge: &ForgeServer, context: &str, sha: &str, state: &str) -> Option<String> {
    let all = forge.statuses().into_iter();
    let mut mine = all.filter(|status| status.sha == sha && status.context == context && status.state == state);
    mine.next().map(|status| status.description)
}

fn a_pull_request_is_planned_told_and_closed(flavour: Flavour, provider: &str) {
    let (stage, server, forge) = (Stage::new(), GitServer::new(), ForgeServer::start(flavour, TOKEN));
    stage.secret("forge", &json!({"token": TOKEN}));
    let requests = json!({
        "provider": provider, "tokenRef": {"name": "forge", "key": "token"}, "apiUrl": forge.api(), "interval": "5s",
    });
    let (repository, first) = given(&stage, &server, &json!({"pullRequests": requests}));
    let (before, context) = (state(&stage, NAME), format!("groma/{}/{NAME}", stage.namespace));
    let two = ONE.replace("= \"one\"", "= \"two\"");
    repository.set_branch("change", &first);
    let change = repository.commit("change", "a change", &[(MAIN, &two)]);
    let words = repository.rewrite("words", Some(&first), "words", &[("docs/read.md", "other words")]);
    forge.open(Pull::new(8, &words, &["docs/read.md"]));
    forge.open(Pull::new(7, &change, &[MAIN]));
    forge.say(7, "Looks good to me.");

    // What is there already is changed, and not made: the plan knows the state of the other Stack.
    let ours = || -> Vec<_> {
        forge.comments(7).into_iter().filter(|comment| comment.body.contains(&format!("/{NAME}`"))).collect()
    };
    stage.until("a comment", || (!ours().is_empty()).then_some(()));
    let body = ours()[0].body.clone();
    for part in ["0 to add, 1 to change, 0 to destroy", "terraform_data.one", "\"two\"", &change] {
        assert!(body.contains(part), "{part} is not in {body}");
    }
    let told = stage.until("a status", || is_told(&forge, &context, &change, "success"));
    assert!(told.contains("1 to change"), "{told}");
    let made = preview(&stage).unwrap();
    assert_eq!((&made["spec"]["planOnly"], &made["spec"]["previewOf"]), (&json!(true), &json!(NAME)));
    assert_eq!(made["metadata"]["labels"]["groma.dev/pull-request"], "7");

    // Another commit: the same comment says what is so now.
    let more = format!("{two}resource \"terraform_data\" \"more\" {{}}\n");
    let again = repository.commit("change", "more", &[(MAIN, &more)]);
    forge.open(Pull::new(7, &again, &[MAIN]));
    stage.until("the comment is another one", || ours()[0].body.contains(&again).then_some(()));
    assert!(ours()[0].body.contains("1 to add, 1 to change"), "{:?}", ours());
    stage.until("a status of the other commit", || is_told(&forge, &context, &again, "success"));

    // One that cannot be read says so where it is discussed.
    let broken = repository.commit("change", "by mistake", &[(MAIN, "resource {\n")]);
    forge.open(Pull::new(7, &broken, &[MAIN]));
    stage.until("it is said that it is wrong", || is_told(&forge, &context, &broken, "failure"));
    stage.until("the comment says it, too", || ours()[0].body.contains("main.tf").then_some(()));

    assert_eq!(ours().len(), 1, "{:?}", ours());
    assert_eq!(forge.comments(7).len(), 2, "what others say stays");
    assert!(forge.comments(8).is_empty(), "what has nothing to do with it is not commented");
    forge.close(7);
    stage.until("the Stack of the pull request goes", || preview(&stage).is_none().then_some(()));
    assert_eq!((state(&stage, NAME), stage.runs(NAME).len()), (before, 1), "nothing was carried out");
    assert_eq!(condition(&stage.get(NAME), "Ready").unwrap()["status"], "True");
}

#[test]
fn a_pull_request_of_github_is_planned_told_and_closed() {
    a_pull_request_is_planned_told_and_closed(Flavour::Github, "github");
}

#[test]
fn a_pull_request_of_gitea_is_planned_told_and_closed() {
    a_pull_request_is_planned_told_and_closed(Flavour::Gitea, "gitea");
}

/// Names and values.
type Headers<'h> = &'h [(&'h str, &'h str)];

/// Calls a webhook: the status.
fn call(address: &str, path: &str, headers: Headers<'_>, body: &str) -> u16 {
    let mut request = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        let _ = write!(request, "{name}: {value}\r\n");
    }
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

fn signature(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    mac.finalize().into_bytes().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A push is heard at once if it is told by who has the secret, whoever that is, though it would not be looked for an hour. Whoever has not, and
/// whoever asks about another Stack, is turned away, and nobody looks because of that.
#[test]
fn a_push_is_heard_from_those_who_have_the_secret() {
    let address = free_address();
    let (stage, server) = (Stage::with(&["-webhook-addr", &address]), GitServer::new());
    stage.secret("hook", &json!({"key": SECRET}));
    let webhook = json!({"secretRef": {"name": "hook", "key": "key"}});
    let (repository, _) = given(&stage, &server, &json!({"webhook": webhook}));
    let path = format!("/hooks/{}/{NAME}", stage.namespace);
    let body = json!({"ref": "refs/heads/main"}).to_string();
    let looks = server.looks(REPOSITORY);

    let second = repository.commit("main", "one more", &[("infra/two.tf", "resource \"terraform_data\" \"two\" {}\n")]);
    let (wrong, right) = (signature("something else", &body), signature(SECRET, &body));
    let elsewhere = format!("/hooks/{}/nobody", stage.namespace);
    let refused: [(&str, Headers<'_>); 6] = [
        (&path, &[("X-GitHub-Event", "push"), ("X-Hub-Signature-256", &format!("sha256={wrong}"))]),
        (&path, &[("X-GitHub-Event", "push")]),
        (&path, &[("X-GitHub-Event", "push"), ("X-Hub-Signature-256", "sha256=")]),
        (&path, &[("X-Gitea-Event", "push"), ("X-Gitea-Signature", &wrong)]),
        (&path, &[("X-Gitlab-Event", "Push Hook"), ("X-Gitlab-Token", "something else")]),
        (&elsewhere, &[("X-GitHub-Event", "push"), ("X-Hub-Signature-256", &format!("sha256={right}"))]),
    ];
    for (path, headers) in refused {
        assert_eq!(call(&address, path, headers, &body), 401, "{path} {headers:?}");
    }
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!((server.looks(REPOSITORY), stage.runs(NAME).len()), (looks, 1), "{:?}", server.asked());

    let github = format!("sha256={right}");
    let heard: [(&str, Headers<'_>); 3] = [
        ("two", &[("X-GitHub-Event", "push"), ("X-Hub-Signature-256", &github)]),
        ("three", &[("X-Gitea-Event", "push"), ("X-Gitea-Signature", &right)]),
        ("four", &[("X-Gitlab-Event", "Push Hook"), ("X-Gitlab-Token", SECRET)]),
    ];
    let mut newest = second;
    for (name, headers) in heard {
        if name != "two" {
            let more = format!("resource \"terraform_data\" \"{name}\" {{}}\n");
            newest = repository.commit("main", name, &[(&format!("infra/{name}.tf"), &more)]);
        }
        assert_eq!(call(&address, &path, headers, &body), 202, "{headers:?}");
        applied(&stage, &revision(&newest));
    }
    assert_eq!(stage.runs(NAME).len(), 4);
    // Nothing of what was sent or known is told to others.
    assert!(!stage.log().contains(SECRET));
}
