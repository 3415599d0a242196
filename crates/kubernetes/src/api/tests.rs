//! Requests as they are on the wire, and what is made of answers.

use std::sync::atomic::{AtomicU32, Ordering};

use groma_kit::outside::Outside;
use kube::config::Kubeconfig;
use serde_json::json;

use super::served::{Asked, Reply, Server, reply};
use super::settings::{self, context};
use super::*;
use crate::cluster::{ClusterSpec, ExecSpec, Given};
use crate::failure::FailureKind;
use crate::manifest::ObjectRef;

fn config_map() -> ObjectRef {
    ObjectRef {
        api_version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        namespace: None,
        name: "settings".to_owned(),
    }
}

fn core() -> Reply {
    let resources = json!([
        {"name": "configmaps", "kind": "ConfigMap", "namespaced": true, "verbs": ["list"]},
        {"name": "namespaces", "kind": "Namespace", "namespaced": false, "verbs": ["list"]},
    ]);
    reply(200, json!({"kind": "APIResourceList", "resources": resources}))
}

fn not_found() -> Reply {
    let details = json!({"name": "settings", "kind": "configmaps"});
    reply(
        404,
        json!({"kind": "Status", "message": "configmaps \"settings\" not found", "reason": "NotFound", "details": details}),
    )
}

fn connections() -> Connections {
    Connections::new(&Outside::system("."))
}

/// A server that answers everything but the list of kinds in the same way.
async fn server(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |asked| if asked.line == "GET /api/v1" { core() } else { answer(asked) }).await
}

#[tokio::test]
async fn an_apply_is_strict_and_has_its_own_warnings() {
    let server = server(|_| {
        let warning = "warning: 299 - \"old\"".to_owned();
        (200, vec![warning], json!({"kind": "ConfigMap"}))
    })
    .await;
    let cluster = server.cluster(&connections(), "t").await;
    let how = Apply { manager: "me", force: true, dry_run: true };
    let said = cluster.apply(&config_map(), &json!({"data": {"a": "b"}}), how).await.unwrap();
    assert_eq!(said.warnings, ["old"]);
    let asked = server.asked().pop().unwrap();
    assert_eq!(
        asked.line,
        "PATCH /api/v1/namespaces/default/configmaps/settings?fieldManager=me&fieldValidation=Strict&force=true&dryRun=All"
    );
    assert!(asked.head.contains("content-type: application/apply-patch+yaml"), "{}", asked.head);
    assert!(asked.head.contains("authorization: Bearer t"), "{}", asked.head);
    assert_eq!(asked.body, r#"{"data":{"a":"b"}}"#);
}

#[tokio::test]
async fn other_patches_force_nothing() {
    let server = server(|_| reply(200, json!({}))).await;
    let cluster = server.cluster(&connections(), "t").await;
    let how = Apply { manager: "me", force: true, dry_run: false };
    cluster.patch(&config_map(), &Patch::Json(json!([])), how).await.unwrap();
    cluster.patch(&config_map(), &Patch::Merge(json!({})), how).await.unwrap();
    let asked = server.asked();
    let query = "?fieldManager=me&fieldValidation=Strict";
    assert!(asked[1..].iter().all(|asked| asked.line.ends_with(query)));
    assert!(asked[1].head.contains("application/json-patch+json"));
    assert!(asked[2].head.contains("application/merge-patch+json"));
}

#[tokio::test]
async fn what_is_not_there_is_none_and_what_is_unserved_is_an_unknown_kind() {
    let server = server(|asked| match asked.line.as_str() {
        line if line.contains("/configmaps/") => not_found(),
        _ => reply(404, json!("404 page not found")),
    })
    .await;
    let cluster = server.cluster(&connections(), "t").await;
    assert!(cluster.get(&config_map()).await.unwrap().is_none());
    assert!(!cluster.delete(&config_map(), &Delete::default()).await.unwrap());
    let cactus = ObjectRef { api_version: "plants.example/v1".to_owned(), kind: "Cactus".to_owned(), ..config_map() };
    assert_eq!(cluster.get(&cactus).await.unwrap_err().kind, FailureKind::UnknownKind);
    // A kind that is missing in a version that is served is no different.
    let unknown = ObjectRef { kind: "Cactus".to_owned(), ..config_map() };
    assert_eq!(cluster.get(&unknown).await.unwrap_err().kind, FailureKind::UnknownKind);
}

#[tokio::test]
async fn a_deletion_names_the_very_object() {
    let server = server(|_| reply(202, json!({}))).await;
    let cluster = server.cluster(&connections(), "t").await;
    let how = Delete { propagation: Some("Foreground".to_owned()), uid: Some("u".to_owned()) };
    assert!(cluster.delete(&config_map(), &how).await.unwrap());
    let body: Json = serde_json::from_str(&server.asked().pop().unwrap().body).unwrap();
    assert_eq!(body["propagationPolicy"], "Foreground");
    assert_eq!(body["preconditions"]["uid"], "u");
}

#[tokio::test]
async fn namespaces_are_completed_by_kind() {
    let server = server(|_| reply(200, json!({}))).await;
    let cluster = server.cluster(&connections(), "t").await;
    assert_eq!(cluster.complete(&config_map()).await.unwrap().namespace.as_deref(), Some("default"));
    let namespace = ObjectRef { kind: "Namespace".to_owned(), namespace: Some("x".to_owned()), ..config_map() };
    assert_eq!(cluster.complete(&namespace).await.unwrap().namespace, None);
    assert_eq!(server.lines(), ["GET /api/v1"]);
}

#[tokio::test]
async fn a_server_that_is_busy_or_away_is_asked_again() {
    let count = AtomicU32::new(0);
    let server = server(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => reply(503, json!({})),
        1 => reply(0, json!({})),
        2 => (429, vec!["retry-after: 0".to_owned()], json!({})),
        _ => reply(200, json!({"kind": "ConfigMap"})),
    })
    .await;
    let cluster = server.cluster(&connections(), "t").await;
    assert!(cluster.get(&config_map()).await.unwrap().is_some());
    assert_eq!(server.asked().len(), 5);
}

#[tokio::test]
async fn what_may_have_been_done_is_not_repeated_and_mistakes_are_not_either() {
    let server =
        server(|asked| if asked.line.starts_with("PATCH") { reply(503, json!({})) } else { reply(422, json!({})) })
            .await;
    let cluster = server.cluster(&connections(), "t").await;
    let how = Apply { manager: "me", force: false, dry_run: false };
    let failure = cluster.patch(&config_map(), &Patch::Json(json!([])), how).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Busy);
    let failure = cluster.get(&config_map()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Invalid);
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_field_that_is_not_in_the_schema_is_not_tried_again_though_the_status_is_500() {
    let server = server(|_| {
        reply(
            500,
            json!({"message": "failed to create typed patch object: .spec.replica: field not declared in schema"}),
        )
    })
    .await;
    let cluster = server.cluster(&connections(), "t").await;
    let how = Apply { manager: "me", force: true, dry_run: true };
    let failure = cluster.apply(&config_map(), &json!({}), how).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::UnknownField);
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn stored_credentials_that_have_expired_are_replaced_by_those_of_the_configuration() {
    let server = Server::start(|asked| match asked.line.as_str() {
        _ if asked.head.contains("Bearer old") => reply(401, json!({"message": "Unauthorized"})),
        "GET /api/v1" => core(),
        _ => reply(200, json!({"kind": "ConfigMap"})),
    })
    .await;
    let connections = connections();
    let cluster = server.cluster(&connections, "old").await;
    assert_eq!(cluster.get(&config_map()).await.unwrap_err().kind, FailureKind::Unauthenticated);
    connections.note(&server.spec("new"));
    assert!(cluster.get(&config_map()).await.unwrap().is_some());
    // From then on nobody tries the old ones.
    let before = server.asked().len();
    cluster.get(&config_map()).await.unwrap();
    assert_eq!(server.asked().len(), before + 1);
}

#[tokio::test]
async fn noted_credentials_go_to_their_own_server_only() {
    let refusing = Server::start(|_| reply(401, json!({}))).await;
    let other = Server::start(|_| reply(200, json!({}))).await;
    let connections = connections();
    connections.note(&other.spec("new"));
    let cluster = refusing.cluster(&connections, "old").await;
    assert_eq!(cluster.get(&config_map()).await.unwrap_err().kind, FailureKind::Unauthenticated);
    assert!(other.asked().is_empty());
    assert!(refusing.asked().iter().all(|asked| asked.head.contains("Bearer old")));
}

#[tokio::test]
async fn the_cluster_of_the_provider_stands_in_and_may_be_unknown() {
    let server = server(|_| reply(200, json!({"kind": "ConfigMap"}))).await;
    let connections = connections();
    assert!(connections.open(&Given::Unknown).await.unwrap().is_none());
    let error = connections.open(&Given::Default).await.err().unwrap();
    assert_eq!(error.summary, "No cluster is given");
    connections.set_default(Given::Unknown);
    assert!(connections.open(&Given::Default).await.unwrap().is_none());
    connections.set_default(Given::Here(Box::new(server.spec("t"))));
    let cluster = connections.open(&Given::Default).await.unwrap().unwrap();
    assert!(cluster.get(&config_map()).await.unwrap().is_some());
}

#[tokio::test]
async fn the_identity_is_asked_for_once_and_may_be_hidden() {
    let server = server(|_| reply(200, json!({"metadata": {"uid": "u"}}))).await;
    let cluster = server.cluster(&connections(), "t").await;
    for _ in 0..2 {
        assert_eq!(cluster.identity().await.unwrap().as_deref(), Some("u"));
    }
    assert_eq!(server.lines(), ["GET /api/v1/namespaces/kube-system"]);
    let hidden = Server::start(|_| reply(403, json!({}))).await;
    let cluster = hidden.cluster(&connections(), "t").await;
    assert_eq!(cluster.identity().await.unwrap(), None);
}

#[tokio::test]
async fn lists_are_limited_and_selected() {
    let server = server(|_| reply(200, json!({"items": [{"a": 1}, {"a": 2}, {"a": 3}]}))).await;
    let cluster = server.cluster(&connections(), "t").await;
    let kind = cluster.kind("v1", "ConfigMap").await.unwrap();
    let found = cluster.list(&kind, Some("x"), "app=web", 2).await.unwrap();
    assert_eq!(found, [json!({"a": 1}), json!({"a": 2})]);
    assert_eq!(server.lines()[1], "GET /api/v1/namespaces/x/configmaps?limit=2&labelSelector=app%3Dweb");
}

#[tokio::test]
async fn all_kinds_that_can_be_listed_are_found() {
    let server = Server::start(|asked| match asked.line.as_str() {
        "GET /api/v1" => core(),
        "GET /apis" => reply(
            200,
            json!({"groups": [
                {"name": "a", "preferredVersion": {"groupVersion": "a/v1"}},
                {"name": "b", "preferredVersion": {"groupVersion": "b/v1"}},
            ]}),
        ),
        "GET /apis/a/v1" => reply(
            200,
            json!({"resources": [
                {"name": "as", "kind": "A", "namespaced": true, "verbs": ["list"]},
                {"name": "bs", "kind": "B", "namespaced": true, "verbs": ["create"]},
            ]}),
        ),
        _ => reply(404, json!({})),
    })
    .await;
    let cluster = server.cluster(&connections(), "t").await;
    let kinds: Vec<String> = cluster.listable_kinds().await.unwrap().into_iter().map(|kind| kind.kind).collect();
    assert_eq!(kinds, ["ConfigMap", "Namespace", "A"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_is_asked_once_while_its_token_lasts_and_again_when_it_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("token.sh");
    let text = r#"n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n > n
        echo "{\"status\": {\"token\": \"$PREFIX$n\", \"expirationTimestamp\": \"2999-01-01T00:00:00Z\"}}""#;
    std::fs::write(&script, text).unwrap();
    let server = Server::start(|asked| match asked.line.as_str() {
        _ if asked.head.contains("Bearer t1") => reply(401, json!({})),
        "GET /api/v1" => core(),
        _ => reply(200, json!({})),
    })
    .await;
    let exec = ExecSpec {
        api_version: "client.authentication.k8s.io/v1".to_owned(),
        command: "sh".to_owned(),
        args: vec!["token.sh".to_owned()],
        env: [("PREFIX".to_owned(), "t".to_owned())].into(),
    };
    let spec = ClusterSpec { host: Some(server.url.clone()), exec: Some(exec), ..ClusterSpec::default() };
    let connections = Connections::new(&Outside::system(directory.path()));
    let cluster = connections.open(&Given::Here(Box::new(spec))).await.unwrap().unwrap();
    for _ in 0..3 {
        cluster.get(&config_map()).await.unwrap();
    }
    assert_eq!(std::fs::read_to_string(directory.path().join("n")).unwrap().trim(), "2");
    assert!(server.asked().pop().unwrap().head.contains("Bearer t2"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_fails_says_why_and_not_what_it_printed() {
    let exec = ExecSpec {
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), "echo s3cret; echo please log in >&2; exit 3".to_owned()],
        ..ExecSpec::default()
    };
    let host = Some("http://127.0.0.1:1".to_owned());
    let spec = ClusterSpec { host, exec: Some(exec), ..ClusterSpec::default() };
    let given = Given::Here(Box::new(spec));
    let cluster = connections().open(&given).await.unwrap().unwrap();
    let failure = cluster.get(&config_map()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unauthenticated);
    assert!(failure.message.contains("please log in"), "{failure}");
    assert!(!format!("{failure:?}").contains("s3cret"), "{failure:?}");
    let outside = Outside { no_programs: Some(String::new()), ..Outside::system(".") };
    let refused = Connections::new(&outside).open(&given).await.err().unwrap();
    assert!(refused.detail.contains("programs may not be started here"), "{}", refused.detail);
}

#[tokio::test]
async fn a_token_file_may_end_with_a_new_line() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("token"), "filed\n").unwrap();
    let server = server(|_| reply(200, json!({}))).await;
    let token_file = Some("token".to_owned());
    let spec = ClusterSpec { host: Some(server.url.clone()), token_file, ..ClusterSpec::default() };
    let connections = Connections::new(&Outside::system(directory.path()));
    let cluster = connections.open(&Given::Here(Box::new(spec))).await.unwrap().unwrap();
    cluster.get(&config_map()).await.unwrap();
    assert!(server.asked().iter().all(|asked| asked.head.contains("authorization: Bearer filed\r\n")));
}

#[tokio::test]
async fn many_requests_share_few_connections() {
    let server = server(|_| reply(200, json!({}))).await;
    let cluster = server.cluster(&connections(), "t").await;
    let object = config_map();
    let all = (0..300).map(|_| cluster.get(&object));
    let done = futures_util::future::join_all(all).await;
    assert!(done.iter().all(Result::is_ok));
    assert_eq!(server.asked().len(), 301);
    assert!(server.connections.load(Ordering::SeqCst) <= 65);
}

const TWO: &str = "
apiVersion: v1
clusters:
- {name: a, cluster: {server: 'https://a.example:6443'}}
- {name: b, cluster: {server: 'https://b.example'}}
contexts:
- {name: one, context: {cluster: a, user: u}}
- {name: two, context: {cluster: b, user: u}}
users:
- {name: u, user: {token: s3cret}}
";

fn chosen(current: &str, wanted: Option<&str>) -> Result<String, String> {
    let text = format!("{TWO}current-context: '{current}'\n");
    context(&Kubeconfig::from_yaml(&text).unwrap(), wanted)
}

#[test]
fn the_context_is_the_named_one_or_the_current_one() {
    assert_eq!(chosen("two", Some("one")).unwrap(), "one");
    assert_eq!(chosen("two", None).unwrap(), "two");
    assert_eq!(chosen("two", Some("")).unwrap(), "two");
}

#[test]
fn contexts_that_cannot_be_chosen_are_listed() {
    let problem = chosen("", None).unwrap_err();
    assert!(problem.contains("\"one\", \"two\""), "{problem}");
    let problem = chosen("three", None).unwrap_err();
    assert!(problem.contains("\"three\"") && problem.contains("\"one\", \"two\""), "{problem}");
    let problem = chosen("one", Some("four")).unwrap_err();
    assert!(problem.contains("\"four\"") && problem.contains("\"one\", \"two\""), "{problem}");
}

#[test]
fn the_only_context_needs_no_name() {
    let one = "contexts: [{name: only, context: {cluster: a}}]\ncurrent-context: gone";
    assert_eq!(context(&Kubeconfig::from_yaml(one).unwrap(), None).unwrap(), "only");
    let none = "apiVersion: v1";
    assert!(context(&Kubeconfig::from_yaml(none).unwrap(), None).is_err());
}

#[tokio::test]
async fn the_same_server_is_recognised_however_it_is_written() {
    let outside = Outside::system(".");
    let kubeconfig =
        ClusterSpec { kubeconfig: Some(TWO.to_owned()), context: Some("two".to_owned()), ..ClusterSpec::default() };
    let host =
        |host: &str| ClusterSpec { host: Some(host.to_owned()), token: Some("t".to_owned()), ..ClusterSpec::default() };
    let mut servers = Vec::new();
    for spec in [kubeconfig, host("https://B.example:443/"), host("https://b.example")] {
        servers.push(settings::server(&settings::settings(&spec, &outside).await.unwrap().config));
    }
    assert_eq!(servers, ["b.example:443"; 3]);
}

#[tokio::test]
async fn a_kubeconfig_is_read_from_files_of_which_the_first_counts() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("one"), TWO).unwrap();
    std::fs::write(directory.path().join("two"), "current-context: two").unwrap();
    let outside = Outside::system(directory.path());
    let path = std::env::join_paths(["one", "missing", "two"]).unwrap().into_string().unwrap();
    let spec = ClusterSpec { kubeconfig_path: Some(path), ..ClusterSpec::default() };
    let settings = settings::settings(&spec, &outside).await.unwrap();
    assert_eq!(settings::server(&settings.config), "b.example:443");
    let gone = ClusterSpec { kubeconfig_path: Some("missing".to_owned()), ..ClusterSpec::default() };
    assert!(settings::settings(&gone, &outside).await.err().unwrap().to_string().contains("does not exist"));
}

#[test]
fn a_broken_kubeconfig_is_not_repeated() {
    for text in ["users: [{name: u, user: {token: s3cret}", "users: s3cret", "clusters: [s3cret]"] {
        let words = kubeconfig_words(&Kubeconfig::from_yaml(text).unwrap_err());
        assert!(!words.contains("s3cret"), "{words}");
        assert!(words.contains("line 1"), "{words}");
    }
}

#[tokio::test]
async fn outside_of_a_pod_there_is_no_account() {
    let outside = Outside { environment: std::sync::Arc::default(), ..Outside::system(".") };
    let spec = ClusterSpec { in_cluster: true, ..ClusterSpec::default() };
    let problem = settings::settings(&spec, &outside).await.err().unwrap();
    assert!(problem.to_string().contains("KUBERNETES_SERVICE_HOST"), "{problem}");
}

/// Who is to act as somebody else does not act as themselves because the name of the other is empty, however that is written.
#[tokio::test]
async fn nobody_acts_as_themselves_by_an_empty_name() {
    let outside = Outside::system(".");
    let users = [None, Some(""), Some(" "), Some("\t"), Some("\u{a0}"), Some("ana"), Some("system:serviceaccount:a:b")];
    let groups: [&[&str]; 6] = [&[], &[""], &["a"], &["a", " "], &["\n", "b"], &["a", "b"]];
    let written: [Option<&str>; 4] = [None, Some("\"\""), Some("\" \""), Some("ben")];
    let more = ["", ", as-uid: \"1\"", ", as-groups: [g]", ", as-user-extra: {scopes: [view]}"];
    let (mut tried, mut refused) = (0, 0);
    for user in users {
        for groups in groups {
            for written in written {
                for more in more {
                    let acts = written.map(|name| format!(", as: {name}")).unwrap_or_default();
                    let kubeconfig = format!(
                        "clusters: [{{name: c, cluster: {{server: \"https://a.example\"}}}}]\n\
                         users: [{{name: u, user: {{token: t{acts}{more}}}}}]\n\
                         contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n"
                    );
                    let spec = ClusterSpec {
                        kubeconfig: Some(kubeconfig),
                        impersonate_user: user.map(str::to_owned),
                        impersonate_groups: groups.iter().map(|group| (*group).to_owned()).collect(),
                        ..ClusterSpec::default()
                    };
                    let asks = user.is_some() || !groups.is_empty() || written.is_some() || !more.is_empty();
                    tried += 1;
                    match settings::settings(&spec, &outside).await {
                        Err(_) => refused += 1,
                        Ok(settings) => {
                            let acts_as = settings.config.auth_info.impersonate.unwrap_or_default();
                            assert_eq!(acts_as.trim().is_empty(), !asks, "{user:?} {groups:?} {written:?} {more}");
                        }
                    }
                }
            }
        }
    }
    assert!(tried >= 500 && refused > 100 && refused < tried, "{refused} of {tried}");
}

/// Nothing is connected to that must not be, whether that is the server or a proxy.
#[tokio::test]
async fn servers_are_where_they_may_be() {
    let server = server(|_| reply(200, json!({"kind": "ConfigMap"}))).await;
    let networks = groma_network::Networks::usual("-allow-networks");
    let outside = Outside { networks: Some(networks), ..Outside::system(".") };
    let cluster = server.cluster(&Connections::new(&outside), "t").await;
    let how = Apply { manager: "me", force: true, dry_run: true };
    let failure = cluster.apply(&config_map(), &json!({}), how).await.err().unwrap();
    assert!(failure.message.contains("-allow-networks="), "{}", failure.message);
    assert!(server.asked().is_empty());
}
