//! Who may do and see what: the operator with the rights that it is installed with, Stacks of others, and values that nobody may see.

use std::fs;
use std::net::TcpListener;
use std::process::{Child, Stdio};

use groma_operator::install::Install;
use groma_testkit::servers::kube::{Extent, KubeServer};
use serde_json::{Value, json};

use crate::api::Api;
use crate::hook::{Hook, Reply};
use crate::stage::{Stage, condition, free_address, message, page};

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

/// Installs what an operator may do, and gives what it shows who it is by. With a policy, other tests on the same cluster could not agree to
/// plans in anybody's name.
pub(crate) fn operator_token(api: &Api, with_policy: bool) -> String {
    let install = Install::default();
    let is_policy =
        |object: &Value| object["kind"].as_str().is_some_and(|kind| kind.starts_with("ValidatingAdmission"));
    let rights = install.rights();
    for object in [install.namespace()].iter().chain(rights.iter().filter(|object| with_policy || !is_policy(object))) {
        let (status, said) = api.ask("POST", &place(object), "application/json", Some(object)).unwrap();
        assert!(status == 201 || status == 409, "{said}");
    }
    let account = "/api/v1/namespaces/groma-system/serviceaccounts/groma-operator/token";
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    api.create(account, &request)["status"]["token"].as_str().unwrap().to_owned()
}

/// With what is installed and nothing else it works where there are Stacks, and sees nothing anywhere else.
#[test]
fn the_operator_works_with_the_rights_that_it_is_given() {
    let server = KubeServer::fresh(Extent::Api, Vec::new());
    let reach = server.reach();
    let stage = Stage::idle_on(reach, &[]);
    let token = operator_token(&stage.api, true);
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

/// Neither providers nor backends, modules or programs get at what the operator has: files, its account, its environment.
#[test]
fn runs_in_the_operator_have_nothing_of_it() {
    let stage = Stage::confined();
    let canary = "canary-of-the-operator";
    let config = stage.path("kubeconfig");
    let (theirs, folder) = (stage.path("theirs"), stage.path("folder"));
    fs::write(&theirs, canary).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("main.tf"), format!("output \"it\" {{\n  value = \"{canary}\"\n}}\n")).unwrap();
    let read = |kind: &str, path: &str| {
        format!(
            "data \"{kind}\" \"it\" {{\n  filename = {path:?}\n}}\noutput \"it\" {{\n  value = nonsensitive(data.{kind}.it.content)\n}}\n"
        )
    };
    let state = |backend: &str, config: &str| {
        format!(
            "data \"terraform_remote_state\" \"it\" {{\n  backend = \"{backend}\"\n  config  = {{ {config} }}\n}}\noutput \"it\" {{\n  value = data.terraform_remote_state.it.outputs\n}}\n"
        )
    };
    let cluster = |how: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    k8sconnect = {{\n      source = \"jmorris0x0/k8sconnect\"\n    }}\n  }}\n}}\ndata \"k8sconnect_object\" \"it\" {{\n  api_version = \"v1\"\n  kind = \"Secret\"\n  name = \"x\"\n  namespace = \"default\"\n  cluster = {{ {how} }}\n}}\n"
        )
    };
    let (config_text, theirs_text) = (config.display().to_string(), theirs.display().to_string());
    let cases = [
        ("data", read("local_file", &config_text), "-files"),
        ("sensitive", read("local_sensitive_file", &theirs_text), "-files"),
        ("environ", read("local_file", "/proc/self/environ"), "-files"),
        ("up", read("local_file", "../../theirs"), "-files"),
        ("source", format!("resource \"local_file\" \"it\" {{\n  filename = \"x\"\n  source   = {theirs_text:?}\n}}\n"), "-files"),
        ("over", format!("resource \"local_file\" \"it\" {{\n  filename = {theirs_text:?}\n  content  = \"mine\"\n}}\n"), "-files"),
        ("runs", format!("resource \"local_file\" \"it\" {{\n  filename = {:?}\n  content  = \"\"\n}}\n", stage.path("runs/other.tf")), "-files"),
        ("state", state("local", &format!("path = {theirs_text:?}")), "-files"),
        ("account", state("kubernetes", "secret_suffix = \"x\", namespace = \"default\", in_cluster_config = true"), "only to"),
        ("config", state("kubernetes", &format!("secret_suffix = \"x\", namespace = \"default\", config_path = {config_text:?}")), "-files"),
        ("exec", state("kubernetes", "secret_suffix = \"x\", host = \"https://localhost\", exec = [{ command = \"sh\", api_version = \"v1\", args = [], env = {} }]"), "spec.executor"),
        ("pod", cluster("in_cluster = true"), "spec.executor"),
        ("token", cluster(&format!("host = \"https://localhost:1\", insecure = true, token_file = {theirs_text:?}")), "-files"),
        ("module", format!("module \"it\" {{\n  source = \"{}\"\n}}\noutput \"it\" {{\n  value = module.it.it\n}}\n", folder.display()), "folder"),
        ("program", "data \"external\" \"it\" {\n  program = [\"env\"]\n}\n".to_owned(), "-allow-programs-in-process"),
        ("keys", "terraform {\n  encryption {\n    key_provider \"external\" \"it\" {\n      command = [\"env\"]\n    }\n    method \"aes_gcm\" \"it\" {\n      keys = key_provider.external.it\n    }\n    state {\n      method = method.aes_gcm.it\n    }\n  }\n}\n".to_owned(), "-allow-programs-in-process"),
        ("plugin", "resource \"aws_instance\" \"it\" {}\n".to_owned(), "-allow-programs-in-process"),
    ];
    for (name, main, _) in &cases {
        stage.stack(
            name,
            json!({"source": {"inline": {"main.tf": main}}, "allowExec": true, "outputs": {"status": true}}),
        );
    }
    // What is its own it has, and nobody leads the account of the operator astray.
    let own = stage.path("own");
    let main = format!(
        "resource \"local_file\" \"it\" {{\n  filename = {own:?}\n  content  = \"mine\"\n}}\ndata \"local_file\" \"it\" {{\n  filename = local_file.it.filename\n}}\noutput \"it\" {{\n  value = data.local_file.it.content\n}}\n"
    );
    let env =
        json!([{"name": "KUBE_HOST", "value": "https://127.0.0.1:1"}, {"name": "KUBE_INSECURE", "value": "true"}]);
    stage.stack(
        "fine",
        json!({"source": {"inline": {"main.tf": main}}, "inputs": {"env": env}, "outputs": {"status": true}}),
    );
    for (name, _, expected) in &cases {
        let stack = stage.until(name, || {
            let stack = stage.get(name);
            (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
        });
        assert!(message(&stack).contains(expected), "{name}: {}", message(&stack));
    }
    let stack = stage.ready("fine");
    assert_eq!(stack["status"]["outputs"]["it"], "mine", "{stack}");
    assert_eq!(fs::read_to_string(&theirs).unwrap(), canary);
    let everything = [
        stage.api.get(&stage.at_stack("")).to_string(),
        stage.api.get(&stage.at("groma.dev/v1alpha1", "runs", "")).to_string(),
        stage.log(),
    ];
    let token = groma_testkit::servers::kube::ADMIN_TOKEN;
    for text in everything {
        assert!(!text.contains(canary) && !text.contains(token), "{text}");
    }
    stage.delete("fine");
    assert!(!own.exists());
}

/// Plans are made with what can only read, and carried out with what can write, whether somebody agrees in between or not.
#[test]
fn plans_are_made_with_other_credentials_than_they_are_carried_out_with() {
    let stage = Stage::new();
    let api = Hook::plain();
    api.answers(&[Reply::new(200, json!({"id": "1", "text": "a"}))]);
    let base = api.url.trim_end_matches("/check");
    stage.secret("keys", &json!({"read": "key-that-reads", "write": "key-that-writes"}));
    // What is read while planning, and what is made.
    let main = format!(
        "terraform {{\n  required_providers {{\n    rest = {{\n      source = \"groma.dev/builtin/rest\"\n    }}\n  }}\n}}\n\
         provider \"rest\" {{\n  base_url = {base:?}\n  headers  = {{ \"X-Groma-Signature-256\" = trimspace(file(\"key\")) }}\n}}\n\
         data \"rest_object\" \"known\" {{\n  path = \"/known/1\"\n}}\n\
         resource \"rest_object\" \"it\" {{\n  path = \"/made\"\n  body = {{ text = \"a\" }}\n}}\n"
    );
    let file = |key: &str, phase: &str| json!({"path": "key", "valueFrom": {"secretKeyRef": {"name": "keys", "key": key}}, "phases": [phase]});
    for mode in ["auto", "manual"] {
        let before = api.asked().len();
        let inputs = json!({"files": [file("read", "plan"), file("write", "apply")]});
        let name = format!("it-{mode}");
        stage.stack(
            &name,
            json!({"source": {"inline": {"main.tf": main}}, "inputs": inputs, "approval": {"mode": mode}}),
        );
        if mode == "manual" {
            let plan = stage.says(&name, "Unknown", "AwaitingApproval")["status"]["pending"]["plan"].clone();
            stage.edit(&name, &json!({"metadata": {"annotations": {"groma.dev/approve": plan}}}));
        }
        stage.ready(&name);
        let keys: Vec<String> = api.asked()[before..].iter().filter_map(|asked| asked.signature.clone()).collect();
        // First it is read, then it is made.
        let first_write = keys.iter().position(|key| key == "key-that-writes").unwrap();
        assert!(first_write > 0 && keys[..first_write].iter().all(|key| key == "key-that-reads"), "{mode}: {keys:?}");
    }
    let told = [stage.api.get(&stage.at("groma.dev/v1alpha1", "runs", "")).to_string(), stage.log()].concat();
    assert!(!told.contains("key-that-"), "{told}");
}

/// Fifty values that nobody may see go in, and are seen nowhere.
#[test]
fn secrets_are_seen_nowhere() {
    let address = free_address();
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

/// How the operator reaches the cluster is its own affair: variables of a Stack would lead it, and who it is, elsewhere.
#[test]
fn variables_of_a_stack_do_not_lead_the_operator_elsewhere() {
    let stage = Stage::new();
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let host = format!("http://{}", elsewhere.local_addr().unwrap());
    let variables = [
        ("KUBE_HOST", host.as_str()),
        ("KUBE_INSECURE", "true"),
        ("KUBE_TOKEN", "theirs"),
        ("KUBE_NAMESPACE", "default"),
    ];
    let variables: Vec<Value> = variables.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let main = "resource \"terraform_data\" \"it\" {\n}\n";
    stage.stack("it", json!({"source": {"inline": {"main.tf": main}}, "inputs": {"env": variables}}));
    stage.ready("it");
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-default-it")).is_some());
    assert!(elsewhere.accept().is_err(), "somebody came");
    stage.delete("it");
}

/// What a configuration or a provider says moves nobody's cursor, and turns no line around.
#[test]
fn terminals_obey_nothing_that_stacks_say() {
    let stage = Stage::new();
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}drawkcab\rover";
    let is_obeyed = |c: char| matches!(c, '\u{1b}' | '\u{7}' | '\u{9b}' | '\u{202e}' | '\r');
    let escaped: String =
        evil.chars().map(|c| if is_obeyed(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }).collect();
    let bad = format!(
        "variable \"text\" {{\n  default = \"\"\n  validation {{\n    condition     = var.text != \"\"\n    error_message = \"No: {escaped}.\"\n  }}\n}}\n"
    );
    stage.stack("bad", json!({"source": {"inline": {"main.tf": bad}}, "retry": {"limit": 1}}));
    let fine = format!(
        "resource \"terraform_data\" \"it\" {{\n  input = \"{escaped}\"\n}}\noutput \"it\" {{\n  value = \"{escaped}\"\n}}\n"
    );
    let outputs = json!({"secret": {"name": "out"}, "status": true});
    let spec = json!({"source": {"inline": {"main.tf": fine}}, "approval": {"mode": "manual"}, "outputs": outputs});
    stage.stack("fine", spec);
    let stack = stage.says("fine", "Unknown", "AwaitingApproval");
    let stack_says = stage.says("bad", "False", "InvalidConfiguration");
    assert!(message(&stack_says).contains("\\u001b[2J"), "{}", message(&stack_says));
    let plan = stack["status"]["pending"]["plan"].as_str().unwrap();
    let shown = |words: &[&str]| {
        let all: Vec<&str> = words.iter().copied().chain(["-n", &stage.namespace]).collect();
        let output = stage.groma(&all).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(!text.chars().any(is_obeyed), "{words:?}: {text:?}");
        text
    };
    assert!(shown(&["stack", "plan", "fine"]).contains("owned"));
    assert!(shown(&["stack", "describe", "bad"]).contains("owned"));
    for words in [["stack", "describe", "fine"], ["stack", "events", "bad"], ["stack", "logs", "bad"]] {
        shown(&words);
    }
    shown(&["stack", "get"]);
    shown(&["stack", "approve", "fine", plan]);
    stage.ready("fine");
    assert!(shown(&["stack", "outputs", "fine"]).contains("owned"));
    // What is exact stays so.
    assert_eq!(stage.secret_data("out")["it"], evil);
    let runs = stage.api.get(&stage.at("groma.dev/v1alpha1", "runs", ""));
    for run in runs["items"].as_array().unwrap() {
        let status = &run["status"];
        let texts = [&status["plan"]["text"], &status["message"], &status["diagnostics"][0]["detail"]];
        for text in texts.into_iter().filter_map(Value::as_str) {
            assert!(!text.chars().any(is_obeyed), "{text:?}");
        }
    }
}
