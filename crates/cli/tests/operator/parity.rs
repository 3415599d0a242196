//! What the specification lists of the operator that people know, and what is not in `inputs` (its numbers stand beside the tests).

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::OnceLock;

use groma_testkit::servers::s3::{ACCESS_KEY, REGION, S3Server, SECRET_KEY};
use serde_json::{Value, json};

use crate::stage::{Stage, condition, message};

/// One server for all tests; it ends with this process.
fn server() -> &'static S3Server {
    static SERVER: OnceLock<S3Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        #[expect(clippy::disallowed_methods, reason = "it says where the real program is")]
        let program = std::env::var_os("GROMA_VERSITYGW").expect("GROMA_VERSITYGW is not set: run `cargo xtask test`");
        // The server removes it.
        let dir = tempfile::tempdir().unwrap().keep();
        S3Server::start(&dir, Path::new(&program)).unwrap()
    })
}

/// 111: the state is where the Stack says, with credentials from a Secret.
#[test]
fn a_state_can_be_elsewhere() {
    let stage = Stage::new();
    server().make_bucket("states").unwrap();
    stage.secret("bucket", &json!({"access_key": ACCESS_KEY, "secret_key": SECRET_KEY}));
    let key = format!("{}/state", stage.namespace);
    let backend = json!({
        "kind": "s3",
        "config": {
            "bucket": "states", "key": key, "region": REGION, "use_path_style": true, "use_lockfile": true,
            "endpoints": {"s3": server().url()}, "skip_credentials_validation": true,
            "skip_requesting_account_id": true, "skip_metadata_api_check": true, "skip_region_validation": true,
        },
        "configFrom": [{"kind": "Secret", "name": "bucket"}],
    });
    let main = |input: &str| format!("resource \"terraform_data\" \"it\" {{\n  input = {input:?}\n}}\n");
    stage.stack("it", json!({"source": {"inline": {"main.tf": main("a")}}, "backend": backend}));
    stage.ready("it");
    let state = || -> Value { serde_json::from_str(&server().object("states", &key).unwrap()).unwrap() };
    let made = state();
    assert_eq!(made["resources"][0]["instances"][0]["attributes"]["input"]["value"], "a", "{made}");
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-default-it")).is_none());
    stage.edit("it", &json!({"spec": {"source": {"inline": {"main.tf": main("b")}}}}));
    stage.ready("it");
    assert_eq!(state()["lineage"], made["lineage"]);
    stage.delete("it");
    assert_eq!(state()["resources"], json!([]));
    let told = [stage.api.get(&stage.at("groma.dev/v1alpha1", "runs", "")).to_string(), stage.log()];
    assert!(!told.concat().contains(SECRET_KEY));
}

/// 260, 310, 311, 320: where pods go, what they begin with, and what they can see.
#[test]
fn pods_are_as_people_want_them() {
    let stage = Stage::with(&["-executor", "job"]);
    let spec = json!({
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"key": "runs", "operator": "Exists"}],
        "initContainers": [{"name": "first", "image": "first", "command": ["true"]}],
        "containers": [
            {"name": "terraform", "env": [{"name": "A", "value": "b"}], "volumeMounts": [{"name": "more", "mountPath": "/more"}]},
            {"name": "beside", "image": "beside"},
        ],
        "volumes": [{"name": "more", "emptyDir": {}}],
    });
    let template = json!({"image": "own/groma:1", "labels": {"team": "a"}, "annotations": {"note": "b"}, "spec": spec});
    let main = "output \"it\" {\n  value = 1\n}\n";
    stage.stack("it", json!({"source": {"inline": {"main.tf": main}}, "podTemplate": template}));
    let job = stage.until("a Job", || {
        let path = format!("{}?labelSelector=groma.dev/stack=it", stage.at("batch/v1", "jobs", ""));
        stage.api.get(&path)["items"].as_array()?.first().cloned()
    });
    let metadata = &job["spec"]["template"]["metadata"];
    assert_eq!((&metadata["labels"]["team"], &metadata["annotations"]["note"]), (&json!("a"), &json!("b")));
    let pod = &job["spec"]["template"]["spec"];
    assert_eq!(pod["nodeSelector"], json!({"disk": "fast"}));
    assert_eq!(pod["tolerations"][0]["key"], "runs");
    assert_eq!(pod["initContainers"][0]["name"], "first");
    let named = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(named(&pod["containers"]), ["terraform", "beside"]);
    assert_eq!(named(&pod["volumes"]), ["work", "more"]);
    let work = &pod["containers"][0];
    assert_eq!(work["image"], "own/groma:1");
    assert_eq!(named(&work["volumeMounts"]), ["work", "more"]);
    assert!(named(&work["env"]).contains(&"A".to_owned()) && named(&work["env"]).contains(&"POD_NAME".to_owned()));
    assert_eq!(pod["restartPolicy"], "Never");
}

/// A module registry that knows one module, and one token.
fn registry(token: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let own = address.clone();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let mut request = [0; 8192];
            let length = connection.read(&mut request).unwrap_or_default();
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let path = request.split(' ').nth(1).unwrap_or_default();
            let knows = request.to_lowercase().contains(&format!("authorization: bearer {token}"));
            let (status, header, body) = match path {
                "/v1/team/name/any/versions" if knows => {
                    ("200 OK", String::new(), r#"{"modules": [{"versions": [{"version": "1.0.0"}]}]}"#.into())
                }
                "/v1/team/name/any/1.0.0/download" if knows => {
                    ("204 No Content", format!("X-Terraform-Get: http://{own}/name.tar.gz\r\n"), Vec::new())
                }
                "/name.tar.gz" => ("200 OK", String::new(), module()),
                _ => ("401 Unauthorized", String::new(), Vec::new()),
            };
            let head =
                format!("HTTP/1.1 {status}\r\n{header}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = connection.write_all(&[head.into_bytes(), body].concat());
        }
    });
    address
}

fn module() -> Vec<u8> {
    let text = b"output \"word\" {\n  value = \"from a registry\"\n}\n";
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, "main.tf", text.as_slice()).unwrap();
    archive.into_inner().unwrap().finish().unwrap()
}

/// 220: settings of the operator say where registries are; a Stack has a token of its own.
#[test]
fn a_stack_has_tokens_of_its_own() {
    let mut stage = Stage::idle(&[]);
    let token = "token-of-the-team";
    let services = format!("services = {{\n    \"modules.v1\" = \"http://{}/v1/\"\n  }}", registry(token));
    fs::write(stage.path(".terraformrc"), format!("host \"modules.example.test\" {{\n  {services}\n}}\n")).unwrap();
    stage.start();
    let main = "module \"it\" {\n  source  = \"modules.example.test/team/name/any\"\n  version = \"1.0.0\"\n}\noutput \"it\" {\n  value = module.it.word\n}\n";
    let spec = |inputs: Value| json!({"source": {"inline": {"main.tf": main}}, "inputs": inputs, "outputs": {"status": true}, "retry": {"limit": 1}});
    stage.stack("without", spec(json!({})));
    stage.secret("token", &json!({"token": token}));
    let from = json!({"secretKeyRef": {"name": "token", "key": "token"}});
    let env = json!({"env": [{"name": "TF_TOKEN_modules_example_test", "valueFrom": from}]});
    stage.stack("with", spec(env));
    assert_eq!(stage.ready("with")["status"]["outputs"]["it"], "from a registry");
    let refused = stage.until("it fails", || {
        let stack = stage.get("without");
        (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
    });
    assert!(message(&refused).contains("modules.example.test"), "{}", message(&refused));
    let told = [stage.api.get(&stage.at("groma.dev/v1alpha1", "runs", "")).to_string(), stage.log()];
    assert!(!told.concat().contains(token));
}
