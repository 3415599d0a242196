//! Who may do and see what: the operator with the rights that it is installed with, Stacks of others, and values that nobody may see.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use groma_operator::install::Install;
use groma_testkit::servers::kube::{Extent, KubeServer};
use serde_json::{Value, json};

use crate::stage::{Stage, condition, message};

/// A process that ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where an object of what is installed is made.
fn place(object: &Value) -> String {
    let version = object["apiVersion"].as_str().unwrap();
    let start = if version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{version}") };
    let namespace =
        object["metadata"]["namespace"].as_str().map(|name| format!("/namespaces/{name}")).unwrap_or_default();
    let kind = object["kind"].as_str().unwrap().to_lowercase();
    let plural = kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"));
    format!("{start}{namespace}/{plural}")
}

/// With what is installed and nothing else it works where there are Stacks, and sees nothing anywhere else.
#[test]
fn the_operator_works_with_the_rights_that_it_is_given() {
    let server = KubeServer::fresh(Extent::Api, Vec::new());
    let reach = server.reach();
    let stage = Stage::idle_on(reach, &[]);
    let install = Install::default();
    for object in [install.namespace()].iter().chain(&install.rights()) {
        let (status, said) = stage.api.ask("POST", &place(object), "application/json", Some(object)).unwrap();
        assert!(status == 201 || status == 409, "{said}");
    }
    let account = "/api/v1/namespaces/groma-system/serviceaccounts/groma-operator/token";
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = stage.api.create(account, &request)["status"]["token"].as_str().unwrap().to_owned();
    let as_operator = |method: &str, path: &str, body: Option<&Value>| {
        reach.ask_as(&token, method, path, body.map(Value::to_string).as_deref()).unwrap().status
    };
    stage.api.create("/api/v1/namespaces", &json!({"metadata": {"name": "bystander"}}));
    let (theirs, here) = ("/api/v1/namespaces/bystander/secrets", stage.at("v1", "secrets", ""));
    assert_eq!((as_operator("GET", theirs, None), as_operator("GET", &here, None)), (403, 403));

    fs::write(stage.path("kubeconfig"), reach.kubeconfig_text(&token).unwrap()).unwrap();
    let log = fs::File::create(stage.path("operator.log")).unwrap();
    let mut command =
        stage.groma(&["operator", "-account", "groma-system/groma-operator", "-lease-namespace", "groma-system"]);
    command.arg("-scratch").arg(stage.path("runs")).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    let _running = Running(command.env("TF_LOG", "INFO").spawn().unwrap());

    stage.secret("vars", &json!({"text": "words"}));
    let main = "variable \"text\" {}\nresource \"random_string\" \"it\" {\n  length = 4\n}\noutput \"text\" {\n  value = var.text\n}\n";
    let spec = json!({
        "source": {"inline": {"main.tf": main}}, "inputs": {"varsFrom": [{"kind": "Secret", "name": "vars"}]},
        "outputs": {"secret": {"name": "out"}, "configMap": {"name": "out"}},
    });
    stage.stack("it", spec);
    stage.ready("it");
    assert_eq!(stage.secret_data("out")["text"], "words");
    // Here it may, elsewhere it may not, and it can give itself no more.
    assert_eq!((as_operator("GET", theirs, None), as_operator("GET", &here, None)), (403, 200));
    assert_eq!(as_operator("GET", "/api/v1/secrets", None), 403);
    let binding = |role: &str| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "more"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": "groma-operator", "namespace": "groma-system"}],
        })
    };
    let bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/bystander/rolebindings";
    assert_eq!(as_operator("POST", bindings, Some(&binding("cluster-admin"))), 403);

    // Who agrees is who writes it.
    let manual = json!({"source": {"inline": {"main.tf": main}}, "inputs": {"values": {"text": "x"}}, "approval": {"mode": "manual"}});
    stage.stack("asks", manual);
    let plan = stage.says("asks", "Unknown", "AwaitingApproval")["status"]["pending"]["plan"].clone();
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let me = stage.api.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", &review);
    let me = me["status"]["userInfo"]["username"].as_str().unwrap().to_owned();
    let agree = |by: Option<&str>| {
        let notes = json!({"metadata": {"annotations": {"groma.dev/approve": plan, "groma.dev/approved-by": by}}});
        stage.api.ask("PATCH", &stage.at_stack("asks"), "application/merge-patch+json", Some(&notes)).unwrap()
    };
    for by in [None, Some("ana"), Some("system:serviceaccount:groma-system:groma-operator")] {
        let (status, said) = agree(by);
        assert_eq!(status, 403, "{said}");
        assert!(said["message"].as_str().unwrap().contains(&format!("must be {me}")), "{said}");
    }
    assert_eq!(agree(Some(&me)).0, 200);
    stage.ready("asks");
    assert_eq!(stage.runs("asks")[0]["status"]["approval"]["by"], me.as_str());

    stage.delete("it");
    let runner = stage.at("rbac.authorization.k8s.io/v1", "rolebindings", "groma-runner");
    assert!(stage.api.find(&runner).is_some());
    stage.delete("asks");
    stage.until("its rights go with the last Stack", || stage.api.find(&runner).is_none().then_some(()));
    stage.until("it sees nothing any more", || (as_operator("GET", &here, None) == 403).then_some(()));
}

/// Stacks have nothing to do with other namespaces, and configurations nothing with the files of the operator.
#[test]
fn stacks_stay_where_they_are() {
    let stage = Stage::new();
    let source = |value: &str| json!({"inline": {"main.tf": format!("output \"it\" {{\n  value = {value}\n}}\n")}});
    stage.stack("across", json!({"source": source("1"), "dependsOn": [{"name": "other", "namespace": "default"}]}));
    let config = stage.path("kubeconfig");
    let reads = [
        ("passwd", "file(\"/etc/passwd\")".to_owned()),
        ("config", format!("filebase64({config:?})")),
        ("hash", format!("filesha256({config:?})")),
        ("template", format!("templatefile({config:?}, {{}})")),
        ("up", "file(\"../../kubeconfig\")".to_owned()),
        ("home", "file(\"~/kubeconfig\")".to_owned()),
        ("proc", "file(\"/proc/self/environ\")".to_owned()),
    ];
    for (name, read) in &reads {
        stage.stack(name, json!({"source": source(read), "outputs": {"status": true}}));
    }
    let stack = stage.says("across", "False", "DependencyNotReady");
    assert!(
        message(&stack).contains("default/other (it is in another namespace, which is not allowed)"),
        "{}",
        message(&stack)
    );
    let token = groma_testkit::servers::kube::ADMIN_TOKEN;
    for (name, _) in &reads {
        let stack = stage.until(name, || {
            let stack = stage.get(name);
            (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
        });
        assert!(message(&stack).contains("main.tf:2"), "{name}: {}", message(&stack));
        assert!(!stack.to_string().contains(token) && !stack.to_string().contains("root:"), "{name}: {stack}");
    }
    assert!(!stage.log().contains(token));
}

/// What is at an address.
fn page(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Fifty values that nobody may see go in, and are seen nowhere.
#[test]
fn secrets_are_seen_nowhere() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let stage = Stage::with(&["-metrics-address", &address]);
    let canary = |number: usize| format!("canary-{number:02}-{:08x}", number * 2_654_435_761 % 0xffff_ffff);
    let named = |prefix: &str, numbers: std::ops::Range<usize>| -> Value {
        numbers
            .map(|number| (format!("{prefix}{number}"), json!(canary(number))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    stage.secret("vars", &named("v", 0..20));
    stage.secret("env", &named("e", 20..30));
    stage.secret("files", &named("f", 30..50));
    let variables: String =
        (0..20).map(|at| format!("variable \"v{at}\" {{\n  sensitive = true\n}}\n")).collect::<Vec<_>>().concat();
    let outputs: String = (0..10)
        .map(|at| {
            format!(
                "output \"o{at}\" {{\n  value     = \"${{var.v{at}}} ${{file(\"f{}\")}}\"\n  sensitive = true\n}}\n",
                30 + at
            )
        })
        .collect::<Vec<_>>()
        .concat();
    let values: String = (0..20).map(|at| format!("var.v{at}, ")).collect::<Vec<_>>().concat();
    let held = format!(
        "resource \"terraform_data\" \"it\" {{\n  input = [{values}]\n}}\n\
         resource \"terraform_data\" \"files\" {{\n  input = [for at in range(30, 50) : sensitive(file(\"f${{at}}\"))]\n}}\n"
    );
    let reference = |name: &str, key: String| json!({"secretKeyRef": {"name": name, "key": key}});
    let env: Vec<Value> =
        (20..30).map(|at| json!({"name": format!("E{at}"), "valueFrom": reference("env", format!("e{at}"))})).collect();
    let files: Vec<Value> = (30..50)
        .map(|at| json!({"path": format!("f{at}"), "valueFrom": reference("files", format!("f{at}"))}))
        .collect();
    let inputs = json!({"varsFrom": [{"kind": "Secret", "name": "vars"}], "env": env, "files": files});
    let spec = |main: &str, mode: &str| {
        json!({
            "source": {"inline": {"main.tf": format!("{variables}{main}")}}, "inputs": inputs, "approval": {"mode": mode},
            "outputs": {"status": true, "secret": {"name": format!("out-{mode}")}, "configMap": {"name": format!("map-{mode}")}},
        })
    };
    stage.stack("well", spec(&format!("{held}{outputs}"), "auto"));
    stage.stack("asks", spec(&format!("{held}{outputs}"), "manual"));
    // What providers and conditions say when something goes wrong.
    let failing = [
        ("call", "data \"http\" \"it\" {\n  url = \"http://127.0.0.1:1/${var.v0}\"\n}\n"),
        ("path", "resource \"local_file\" \"it\" {\n  filename = \"/dev/null/${var.v1}\"\n  content  = var.v2\n}\n"),
        (
            "check",
            "resource \"terraform_data\" \"it\" {\n  lifecycle {\n    precondition {\n      condition     = var.v3 == \"\"\n      \
                   error_message = \"It is ${var.v3}.\"\n    }\n  }\n}\n",
        ),
        ("number", "output \"it\" {\n  value     = tonumber(var.v4)\n  sensitive = true\n}\n"),
        ("file", "output \"it\" {\n  value     = file(var.v5)\n  sensitive = true\n}\n"),
    ];
    for (name, main) in failing {
        let mut spec = spec(main, "auto");
        spec["outputs"] = json!({});
        stage.stack(name, spec);
    }
    stage.ready("well");
    assert!(stage.secret_data("out-auto")["o3"].contains(&canary(3)));
    stage.says("asks", "Unknown", "AwaitingApproval");
    for (name, _) in failing {
        let stack = stage.until(name, || {
            Some(stage.get(name))
                .filter(|stack| condition(stack, "Ready").is_some_and(|ready| ready["status"] == "False"))
        });
        // It is about what is to go wrong, and about nothing before that.
        assert!(message(&stack).contains("main.tf:6"), "{name}: {}", message(&stack));
    }
    let mut seen = vec![("the log".to_owned(), stage.log()), ("metrics".to_owned(), page(&address, "/metrics"))];
    assert!(seen[1].1.contains("groma_"), "{}", seen[1].1);
    let lists = [
        ("v1", "events"),
        ("groma.dev/v1alpha1", "stacks"),
        ("groma.dev/v1alpha1", "runs"),
        ("v1", "configmaps"),
        ("coordination.k8s.io/v1", "leases"),
    ];
    for (version, plural) in lists {
        for item in stage.api.get(&stage.at(version, plural, ""))["items"].as_array().unwrap() {
            seen.push((format!("{plural} {}", item["metadata"]["name"]), item.to_string()));
        }
    }
    let mut found = Vec::new();
    for number in 0..50 {
        found.extend(
            seen.iter()
                .filter(|(_, text)| text.contains(&canary(number)))
                .map(|(place, _)| format!("{} in {place}", canary(number))),
        );
    }
    assert!(found.is_empty(), "{found:#?}");
}
