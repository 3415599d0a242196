//! Where the operator connects to for a Stack, by every client that it has: neither to its own machine nor to what gives machines their
//! credentials, however the address is written and whatever leads there. A server listens where nobody may come, and nobody does.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::stage::{Stage, condition, message};

/// Refused, as somebody has said.
const DENIED: &str = "198.51.100.0/24";

/// A server where nobody may come, and one that sends everybody there.
struct Trap {
    port: u16,
    came: Arc<AtomicUsize>,
    /// `127.0.0.2:PORT`, where connections may lead.
    redirecting: String,
}

impl Trap {
    fn set() -> Self {
        let came = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let counter = Arc::clone(&came);
        std::thread::spawn(move || {
            listener.incoming().flatten().for_each(|_| {
                counter.fetch_add(1, Ordering::SeqCst);
            });
        });
        let listener = TcpListener::bind("127.0.0.2:0").unwrap();
        let redirecting = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                let mut asked = [0; 4096];
                let read = connection.read(&mut asked).unwrap_or(0);
                // By number, or by name.
                let host =
                    if String::from_utf8_lossy(&asked[..read]).contains("name") { "localhost" } else { "127.0.0.1" };
                let answer = format!(
                    "HTTP/1.1 302 Found\r\nLocation: http://{host}:{port}/x.zip\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                );
                let _ = connection.write_all(answer.as_bytes());
            }
        });
        Self { port, came, redirecting }
    }

    /// Fourteen hosts, each of another kind, all of them out of bounds.
    fn hosts(&self) -> Vec<String> {
        let port = self.port;
        let hosts = [
            "127.0.0.1",
            "127.8.8.8",
            "localhost",
            "[::1]",
            "0.0.0.0",
            "169.254.169.254",
            "169.254.0.7",
            "100.100.100.200",
            "[fe80::1]",
            "[fd00:ec2::254]",
            "[::ffff:127.0.0.1]",
            "[64:ff9b::a9fe:a9fe]",
            "224.0.0.1",
            "198.51.100.7",
        ];
        hosts.iter().map(|host| format!("{host}:{port}")).collect()
    }
}

/// A block for each host.
fn each(hosts: &[String], block: impl Fn(usize, &str) -> String) -> String {
    hosts.iter().enumerate().fold(String::new(), |mut text, (at, host)| {
        let _ = writeln!(text, "{}", block(at, host));
        text
    })
}

fn state(backend: &'static str, config: impl Fn(&str) -> String) -> impl Fn(usize, &str) -> String {
    move |at, host| {
        format!(
            "data \"terraform_remote_state\" \"it{at}\" {{\n  backend = \"{backend}\"\n  config  = {{ {} }}\n}}",
            config(host)
        )
    }
}

const K8SCONNECT: &str = "terraform {\n  required_providers {\n    k8sconnect = {\n      source = \"jmorris0x0/k8sconnect\"\n    }\n  }\n}\n";

const REST: &str =
    "terraform {\n  required_providers {\n    rest = {\n      source = \"groma.dev/builtin/rest\"\n    }\n  }\n}\n";

/// What a Stack says when its run has failed, all of it.
#[track_caller]
fn told(stage: &Stage, name: &str) -> Vec<String> {
    let stack = stage.until(name, || {
        let stack = stage.get(name);
        (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
    });
    let run = stage.runs(name).remove(0);
    let details: Vec<String> = run["status"]["diagnostics"]
        .as_array()
        .map(|all| all.iter().map(|one| format!("{} {}", one["summary"], one["detail"])).collect())
        .unwrap_or_default();
    if details.is_empty() { vec![message(&stack)] } else { details }
}

#[test]
fn no_client_of_a_run_leads_to_the_machine_of_the_operator() {
    let trap = Trap::set();
    let stage = Stage::walled(&["-allow-networks", "127.0.0.2", "-deny-networks", DENIED]);
    let hosts = trap.hosts();
    let (by_number, by_name) = (format!("{}/number", trap.redirecting), format!("{}/name", trap.redirecting));
    let with_redirects: Vec<String> = hosts.iter().cloned().chain([by_number, by_name]).collect();
    let rest = |at: usize, host: &str| {
        format!(
            "provider \"rest\" {{\n  alias    = \"p{at}\"\n  base_url = \"http://{host}\"\n  retry {{\n    attempts = 0\n  }}\n}}\n\
             data \"rest_object\" \"it{at}\" {{\n  provider = rest.p{at}\n  path     = \"/x\"\n}}"
        )
    };
    let cluster = |at: usize, host: &str| {
        format!(
            "data \"k8sconnect_object\" \"it{at}\" {{\n  api_version = \"v1\"\n  kind        = \"Secret\"\n  name        = \"x\"\n  \
             namespace   = \"default\"\n  cluster     = {{ host = \"https://{host}\", token = \"x\", insecure = true }}\n}}"
        )
    };
    let s3 = |host: &str| {
        format!(
            "bucket = \"b\", key = \"k\", region = \"eu-west-1\", access_key = \"a\", secret_key = \"s\", use_path_style = true, \
             skip_credentials_validation = true, endpoints = {{ s3 = \"http://{host}\" }}"
        )
    };
    // Those that follow redirects, and those that have none to follow.
    let cases: [(&str, &[String], String); 9] = [
        (
            "module",
            &with_redirects,
            each(&with_redirects, |at, host| {
                let path = if host.contains('/') { "" } else { "/x" };
                format!("module \"it{at}\" {{\n  source = \"http://{host}{path}.zip\"\n}}")
            }),
        ),
        (
            "git",
            &with_redirects,
            each(&with_redirects, |at, host| {
                format!("module \"it{at}\" {{\n  source = \"git::http://{host}/x.git\"\n}}")
            }),
        ),
        (
            "http",
            &with_redirects,
            each(&with_redirects, |at, host| format!("data \"http\" \"it{at}\" {{\n  url = \"http://{host}\"\n}}")),
        ),
        ("rest", &hosts, format!("{REST}{}", each(&hosts, rest))),
        ("cluster", &hosts, format!("{K8SCONNECT}{}", each(&hosts, cluster))),
        (
            "web-state",
            &with_redirects,
            each(&with_redirects, state("http", |host| format!("address = \"http://{host}\", retry_max = 0"))),
        ),
        ("bucket", &hosts, each(&hosts, state("s3", s3))),
        (
            "database",
            &hosts,
            each(&hosts, state("pg", |host| format!("conn_str = \"postgres://u:p@{host}/d?sslmode=disable\""))),
        ),
        (
            "certificate",
            &hosts,
            each(&hosts, |at, host| format!("data \"tls_certificate\" \"it{at}\" {{\n  url = \"https://{host}\"\n}}")),
        ),
    ];
    for (name, _, main) in &cases {
        stage.stack(name, json!({"source": {"inline": {"main.tf": main}}, "retry": {"limit": 1}}));
    }
    for (name, hosts, _) in &cases {
        let told = told(&stage, name);
        let refused = told.iter().filter(|detail| detail.contains("-allow-networks=")).count();
        assert_eq!(refused, hosts.len(), "{name}: {told:#?}");
    }
    assert_eq!(trap.came.load(Ordering::SeqCst), 0, "somebody came");
}

#[test]
fn neither_backends_nor_checks_nor_webhooks_do() {
    let trap = Trap::set();
    let stage = Stage::walled(&["-allow-networks", "127.0.0.2", "-deny-networks", DENIED]);
    let main = "resource \"terraform_data\" \"it\" {\n}\n";
    let source = json!({"inline": {"main.tf": main}});
    let port = trap.port;
    let backends = [
        ("web", "http", json!({"address": format!("http://localhost:{port}/x"), "retry_max": 0})),
        ("redirected", "http", json!({"address": format!("http://{}/name", trap.redirecting), "retry_max": 0})),
        (
            "elsewhere",
            "kubernetes",
            json!({"host": format!("https://127.0.0.1:{port}"), "token": "x", "insecure": true, "secret_suffix": "x"}),
        ),
        ("base", "pg", json!({"conn_str": format!("postgres://u:p@localhost:{port}/d?sslmode=disable")})),
        (
            "bucket",
            "s3",
            json!({
                "bucket": "b", "key": "k", "region": "eu-west-1", "access_key": "a", "secret_key": "s", "use_path_style": true,
                "skip_credentials_validation": true, "endpoints": {"s3": format!("http://[::1]:{port}")},
            }),
        ),
    ];
    for (name, kind, config) in &backends {
        let backend = json!({"kind": kind, "config": config});
        stage.stack(name, json!({"source": source, "backend": backend, "retry": {"limit": 1}}));
    }
    let hosts = trap.hosts();
    let redirect = format!("{}/name", trap.redirecting);
    let checks: Vec<Value> = hosts
        .iter()
        .enumerate()
        .flat_map(|(at, host)| {
            [
                json!({"name": format!("tcp{at}"), "tcp": host, "timeout": "20s"}),
                json!({"name": format!("http{at}"), "http": format!("http://{host}/"), "timeout": "20s"}),
            ]
        })
        .chain([json!({"name": "redirected", "http": format!("http://{redirect}"), "timeout": "20s"})])
        .collect();
    stage.stack("checked", json!({"source": source, "healthChecks": checks, "retry": {"limit": 1}}));
    let asked: Vec<Value> = hosts
        .iter()
        .enumerate()
        .map(|(at, host)| json!({"name": format!("hook{at}"), "url": format!("http://{host}/"), "failurePolicy": "Ignore"}))
        .collect();
    // One Stack may ask eight.
    for (at, asked) in asked.chunks(8).enumerate() {
        stage.stack(&format!("asking-{at}"), json!({"source": source, "webhooks": asked}));
    }

    for (name, ..) in &backends {
        let told = told(&stage, name).concat();
        assert!(told.contains("-allow-networks="), "{name}: {told}");
    }
    // Nothing is waited for that would not come.
    let stack = stage.says("checked", "False", "NotReady");
    let said = message(&stack);
    let run = stage.runs("checked").remove(0).to_string();
    for check in &checks {
        let name = check["name"].as_str().unwrap();
        assert!(
            run.contains(&format!("Health check \\\"{name}\\\"")) || said.contains(&format!("Health check {name:?}")),
            "{name}: {run}"
        );
    }
    stage.ready("asking-0");
    stage.ready("asking-1");
    let events = format!("{}?fieldSelector=reason=WebhookIgnored", stage.at("v1", "events", ""));
    stage.until("every webhook is told about", || {
        let told = stage.api.get(&events)["items"].as_array().unwrap().clone();
        let refused =
            told.iter().filter(|event| event["message"].as_str().unwrap().contains("-allow-networks=")).count();
        (refused == hosts.len()).then_some(())
    });
    assert_eq!(trap.came.load(Ordering::SeqCst), 0, "somebody came");
}

/// Who runs the operator decides, and what is allowed works: by a name, too.
#[test]
fn what_is_allowed_is_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let _ = connection.read(&mut [0; 4096]);
            let _ = connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
        }
    });
    let stage = Stage::walled(&["-allow-networks", "127.0.0.1,::1/128"]);
    let main = format!(
        "data \"http\" \"it\" {{\n  url = \"http://localhost:{port}\"\n}}\noutput \"it\" {{\n  value = data.http.it.response_body\n}}\n"
    );
    let checks = json!([{"name": "it", "tcp": format!("localhost:{port}")}]);
    stage.stack(
        "it",
        json!({"source": {"inline": {"main.tf": main}}, "outputs": {"status": true}, "healthChecks": checks}),
    );
    assert_eq!(stage.ready("it")["status"]["outputs"]["it"], "hi");
}
