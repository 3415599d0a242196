//! Behaviour of the attribute `cluster`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};

use super::*;

const PEM: &str = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----";
const KUBECONFIG: &str = "apiVersion: v1\nclusters: []\n";

fn object(cluster: Value) -> Object {
    Object::of(&Value::object([(CLUSTER, cluster)]))
}

fn text(text: &str) -> Value {
    Value::string(text)
}

fn unknown() -> Value {
    Value::unknown(Type::String)
}

/// Summaries of what is wrong.
fn problems<const N: usize>(attributes: [(&str, Value); N]) -> Vec<String> {
    validate(&object(Value::object(attributes))).iter().map(|problem| problem.summary.clone()).collect()
}

#[test]
fn complete_ways_are_accepted() {
    let encoded = STANDARD.encode(PEM);
    let exec = Value::object([("api_version", text("v1")), ("command", text("aws"))]);
    let none: [&str; 0] = [];
    assert_eq!(
        problems([("host", text("https://a")), ("cluster_ca_certificate", text(PEM)), ("token", text("t"))]),
        none
    );
    assert_eq!(
        problems([("host", text("https://a")), ("cluster_ca_certificate", text(&encoded)), ("exec", exec)]),
        none
    );
    let pair = [
        ("host", text("https://a")),
        ("insecure", Value::bool(true)),
        ("client_certificate", text(PEM)),
        ("client_key", text("-----BEGIN EC PRIVATE KEY-----\nx\n-----END EC PRIVATE KEY-----")),
    ];
    assert_eq!(problems(pair), none);
    assert_eq!(problems([("kubeconfig", text(KUBECONFIG)), ("token", text("ignored"))]), none);
    assert_eq!(problems([("kubeconfig_path", text("~/.kube/config")), ("context", text("a"))]), none);
    assert_eq!(problems([("in_cluster", Value::bool(true))]), none);
    let file = [("host", text("https://a")), ("insecure", Value::bool(true)), ("token_file", text("t"))];
    assert_eq!(problems(file), none);
}

#[test]
fn there_is_exactly_one_way() {
    assert_eq!(problems([("token", text("t"))]), ["No cluster is given"]);
    assert_eq!(problems([("in_cluster", Value::bool(false))]), ["No cluster is given"]);
    let both = [("host", text("https://a")), ("kubeconfig", text(KUBECONFIG))];
    assert_eq!(problems(both), ["Cluster is given in several ways"]);
    let both = [("in_cluster", Value::bool(true)), ("kubeconfig_path", text("a"))];
    assert_eq!(problems(both), ["Cluster is given in several ways"]);
}

#[test]
fn a_host_needs_trust_and_credentials() {
    assert_eq!(
        problems([("host", text("https://a"))]),
        ["Certificate authority is missing", "Credentials are missing"]
    );
    assert_eq!(problems([("cluster_ca_certificate", text(PEM)), ("token", text("t"))]), ["Host is missing"]);
    let half = [("host", text("https://a")), ("insecure", Value::bool(true)), ("client_key", text(PEM))];
    assert_eq!(problems(half), ["Client certificate is incomplete"]);
}

#[test]
fn groups_need_a_user() {
    let groups = || ("impersonate_groups", Value::strings(["a"]));
    assert_eq!(problems([("in_cluster", Value::bool(true)), groups()]), ["User to act as is missing"]);
    let both = [("in_cluster", Value::bool(true)), groups(), ("impersonate_user", text("u"))];
    assert_eq!(problems(both), [""; 0]);
    let nobody = [("in_cluster", Value::bool(true)), ("impersonate_user", text(" "))];
    assert_eq!(problems(nobody), ["User to act as is missing"]);
}

#[test]
fn urls_have_schemes_and_certificates_are_pem() {
    let wrong = [
        ("host", text("api.example:6443")),
        ("proxy_url", text("nowhere")),
        ("cluster_ca_certificate", text("no pem")),
        ("token", text("t")),
    ];
    assert_eq!(problems(wrong), ["Invalid URL", "Invalid URL", "Invalid PEM"]);
}

#[test]
fn what_is_unknown_may_turn_out_right() {
    let none: [&str; 0] = [];
    for name in ["host", "cluster_ca_certificate", "kubeconfig", "kubeconfig_path"] {
        assert_eq!(problems([(name, unknown())]), none, "{name}");
    }
    let later = [("host", text("https://a")), ("insecure", Value::unknown(Type::Bool)), ("token", unknown())];
    assert_eq!(problems(later), none);
    assert!(validate(&object(unknown())).is_empty());
    assert!(validate(&object(Value::null(Type::String))).is_empty());
}

#[test]
fn a_kubeconfig_is_no_path_and_is_never_repeated() {
    let detail = |given: &str| {
        let found = validate(&object(Value::object([("kubeconfig", text(given))])));
        let details: Vec<String> = found.iter().map(|problem| problem.detail.clone()).collect();
        details.join("\n")
    };
    assert!(detail(" ").contains("empty"));
    for path in ["/home/ann/.kube/config", "~/.kube/config", "./config", "C:\\config"] {
        assert!(detail(path).contains("kubeconfig_path"), "{path}");
    }
    for broken in ["s3cret", "- s3cret", "a: s3cret: b", "other: s3cret"] {
        let told = detail(broken);
        assert!(!told.is_empty() && !told.contains("s3cret"), "{broken}: {told}");
    }
}

#[test]
fn parts_that_are_unknown_make_the_whole_unknown() {
    assert_eq!(read(&object(Value::object([("host", text("a")), ("token", unknown())]))), Given::Unknown);
    let env: Entries = [("A", unknown())].into_iter().collect();
    let exec = Value::object([("command", text("a")), ("env", Value::map(Type::String, env))]);
    assert_eq!(read(&object(Value::object([("exec", exec)]))), Given::Unknown);
    assert_eq!(read(&object(Value::null(Type::String))), Given::Default);
    assert_eq!(read(&Object::of(&Value::empty_object())), Given::Default);
}

#[test]
fn credentials_are_never_shown() {
    let env: Entries = [("KEY", text("s3cret"))].into_iter().collect();
    let exec = Value::object([
        ("api_version", text("v1")),
        ("command", text("aws")),
        ("args", Value::strings(["s3cret"])),
        ("env", Value::map(Type::String, env)),
    ]);
    let secret = |name| (name, text("s3cret"));
    let cluster = Value::object([
        ("host", text("https://a")),
        secret("cluster_ca_certificate"),
        secret("kubeconfig"),
        secret("token"),
        secret("client_certificate"),
        secret("client_key"),
        secret("proxy_url"),
        ("exec", exec),
    ]);
    let Given::Here(spec) = read(&object(cluster)) else { panic!("it is known") };
    assert_eq!(spec.exec.as_ref().map(|exec| exec.env.len()), Some(1));
    let shown = format!("{spec:?} {:?}", spec.exec);
    assert!(shown.contains("https://a") && !shown.contains("s3cret"), "{shown}");
}

#[test]
fn pem_is_found_in_base64_with_white_space() {
    let encoded = STANDARD.encode(format!("{PEM}\n"));
    let (first, second) = encoded.split_at(20);
    assert_eq!(pem_text(&format!(" {first}\n{second}\n")).as_deref(), Some(PEM));
    assert_eq!(pem_text(&format!("\n{PEM}\n")).as_deref(), Some(PEM));
    assert_eq!(pem_text("aGFsbG8="), None);
}
