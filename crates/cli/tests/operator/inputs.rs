//! What goes into a Stack and what comes out of it, as the specification lists it (its numbers stand beside the tests).

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};

use crate::stage::{Stage, condition, message};

/// A configuration that gives back what goes in, whatever it is.
fn echo(names: &[&str]) -> String {
    let one = |name: &&str| {
        format!("variable \"{name}\" {{\n  default = null\n}}\noutput \"{name}\" {{\n  value = var.{name}\n}}\n")
    };
    names.iter().map(one).collect()
}

/// A configuration with a file that says what goes in.
fn file(path: &Path) -> String {
    let head = "variable \"text\" {\n  default = \"none\"\n}\n";
    format!("{head}resource \"local_file\" \"it\" {{\n  filename = \"{}\"\n  content  = var.text\n}}\n", path.display())
}

/// A Stack that shows its outputs.
fn shown(stage: &Stage, name: &str, main: &str, inputs: Value) {
    let source = json!({"inline": {"main.tf": main}});
    stage.stack(name, json!({"source": source, "inputs": inputs, "outputs": {"status": true}}));
}

#[track_caller]
fn outputs(stage: &Stage, name: &str) -> Value {
    let found = stage.ready(name)["status"]["outputs"].clone();
    if found.is_null() { json!({}) } else { found }
}

/// The ids of all runs, with why they were.
fn causes(stage: &Stage, name: &str) -> Vec<String> {
    let reasons = |run: &Value| {
        let all = run["spec"]["causes"].as_array().unwrap().iter();
        all.map(|cause| cause["reason"].as_str().unwrap()).collect::<Vec<_>>().join("+")
    };
    stage.runs(name).iter().map(reasons).collect()
}

/// A plan that waits, other than one before.
#[track_caller]
fn pending(stage: &Stage, name: &str, before: Option<&str>) -> String {
    stage.until(&format!("{name}: another plan"), || {
        let stack = stage.get(name);
        let is_current = stack["status"]["observedGeneration"] == stack["metadata"]["generation"];
        let plan = stack["status"]["pending"]["plan"].as_str()?.to_owned();
        (is_current && Some(plan.as_str()) != before).then_some(plan)
    })
}

fn agree(stage: &Stage, name: &str, plan: &str) {
    stage.edit(name, &json!({"metadata": {"annotations": {"groma.dev/approve": plan}}}));
}

/// 060–064: values of every type, and texts that would mean something in a configuration.
#[test]
fn values_go_in_as_they_are() {
    let stage = Stage::new();
    let values = json!({
        "text": "${path.root} %{ if true }\"quoted\"\n\\n",
        "number": 12.5,
        "large": 9_007_199_254_740_991_i64,
        "truth": true,
        "list": ["a", 1, null],
        "object": {"a": {"b": [1, {"c": "d"}]}, "with-dash": "x"},
        "empty": {},
    });
    let names = ["text", "number", "large", "truth", "list", "object", "empty"];
    shown(&stage, "any", &echo(&names), json!({"values": values}));
    let typed = "variable \"rules\" {\n  type = list(object({ port = number, name = optional(string, \"none\") }))\n}\n\
                 output \"rules\" {\n  value = var.rules\n}\n";
    shown(&stage, "typed", typed, json!({"values": {"rules": [{"port": "80"}, {"port": 443, "name": "tls"}]}}));
    shown(&stage, "wrong", typed, json!({"values": {"rules": [{"port": "eighty"}]}}));
    shown(&stage, "unknown", &echo(&["text"]), json!({"values": {"nobody": 1, "text": "x"}}));

    assert_eq!(outputs(&stage, "any"), values);
    assert_eq!(outputs(&stage, "typed")["rules"], json!([{"name": "none", "port": 80}, {"name": "tls", "port": 443}]));
    let stack = stage.says("wrong", "False", "InvalidConfiguration");
    assert!(message(&stack).contains("rules"), "{}", message(&stack));
    assert_eq!(outputs(&stage, "unknown"), json!({"text": "x"}));
}

/// 070–075, 080–082, 090: values of Secrets and ConfigMaps.
#[test]
fn variables_come_from_secrets_and_config_maps() {
    let stage = Stage::new();
    stage.secret("one", &json!({"a": "secret a", "b": "secret b", "list": "[\"x\", \"y\"]"}));
    stage.secret("two", &json!({"a": "second a"}));
    stage.config_map("one", &json!({"a": "map a", "b": "map b", "list": "[\"m\"]"}));
    stage.config_map("two", &json!({"a": "second map a"}));
    let main = format!(
        "{}variable \"list\" {{\n  type = list(string)\n  default = []\n}}\noutput \"list\" {{\n  value = var.list\n}}\n",
        echo(&["a", "b", "c"])
    );
    let from = |kind: &str, name: &str| json!({"kind": kind, "name": name});
    let with = |kind: &str, name: &str, more: Value| {
        let mut from = from(kind, name);
        from.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        from
    };
    for (kind, short) in [("Secret", "s"), ("ConfigMap", "m")] {
        let all = [
            ("all", json!([from(kind, "one")])),
            ("keys", json!([with(kind, "one", json!({"keys": ["b"]}))])),
            ("rename", json!([with(kind, "one", json!({"keys": ["a:c", "b"]}))])),
            ("optional", json!([with(kind, "nobody", json!({"optional": true})), from(kind, "two")])),
            ("last", json!([from(kind, "one"), from(kind, "two")])),
            ("missing", json!([from(kind, "nobody")])),
        ];
        for (name, from) in all {
            shown(&stage, &format!("{short}-{name}"), &main, json!({"varsFrom": from}));
        }
    }
    shown(
        &stage,
        "over",
        &main,
        json!({"values": {"a": "value a", "c": "value c"}, "varsFrom": [from("Secret", "two"), from("ConfigMap", "two")]}),
    );

    assert_eq!(outputs(&stage, "s-all"), json!({"a": "secret a", "b": "secret b", "list": ["x", "y"]}));
    assert_eq!(outputs(&stage, "m-all"), json!({"a": "map a", "b": "map b", "list": ["m"]}));
    for (short, word, second) in [("s", "secret", "second a"), ("m", "map", "second map a")] {
        let of = |name: &str| outputs(&stage, &format!("{short}-{name}"));
        assert_eq!(of("keys"), json!({"b": format!("{word} b"), "list": []}));
        assert_eq!(of("rename"), json!({"b": format!("{word} b"), "c": format!("{word} a"), "list": []}));
        assert_eq!(of("optional"), json!({"a": second, "list": []}));
        assert_eq!((&of("last")["a"], &of("last")["b"]), (&json!(second), &json!(format!("{word} b"))));
        let stack = stage.says(&format!("{short}-missing"), "False", "InvalidSpec");
        assert!(message(&stack).contains("spec.inputs.varsFrom[0]"), "{}", message(&stack));
        assert_eq!(condition(&stack, "Stalled").unwrap()["status"], "True");
    }
    assert_eq!(
        (&outputs(&stage, "over")["a"], &outputs(&stage, "over")["c"]),
        (&json!("second map a"), &json!("value c"))
    );
    // What is missing may come later.
    stage.secret("nobody", &json!({"a": "here"}));
    assert_eq!(outputs(&stage, "s-missing")["a"], "here");
    stage.until("the optional one counts", || (outputs(&stage, "s-optional")["a"] == "second a").then_some(()));
}

/// 010, 040–043: which outputs go where, under which names, and that they come back.
#[test]
fn outputs_go_where_they_are_wanted() {
    let stage = Stage::new();
    let main = "output \"url\" {\n  value = \"http://x\"\n}\noutput \"ports\" {\n  value = [80, 443]\n}\n\
                output \"token\" {\n  value     = \"t0ken\"\n  sensitive = true\n}\n";
    let with = |outputs: Value| json!({"source": {"inline": {"main.tf": main}}, "outputs": outputs});
    stage.stack("none", with(json!({})));
    stage.stack("all", with(json!({"secret": {"name": "all-out", "labels": {"team": "a"}, "annotations": {"note": "b"}}, "status": true})));
    stage.stack("some", with(json!({"secret": {"name": "some-out", "select": ["url:the.url-of_it", "token"]}})));
    stage.stack("map", with(json!({"configMap": {"name": "map-out"}})));
    stage.stack("open", with(json!({"configMap": {"name": "open-out", "select": ["token"]}})));
    stage.stack("gone", with(json!({"secret": {"name": "gone-out", "select": ["nobody"]}})));
    stage.secret("theirs", &json!({"of": "others"}));
    stage.stack("taken", with(json!({"secret": {"name": "theirs"}})));

    let stack = stage.ready("none");
    assert_eq!(
        (&stack["status"]["availableOutputs"], &stack["status"]["outputs"]),
        (&json!(["ports", "token", "url"]), &Value::Null)
    );
    let stack = stage.ready("all");
    assert_eq!(stack["status"]["outputs"], json!({"ports": [80, 443], "url": "http://x"}));
    let expected = json!({"ports": "[80,443]", "ports__type": "[\"tuple\",[\"number\",\"number\"]]", "token": "t0ken", "url": "http://x"});
    assert_eq!(json!(stage.secret_data("all-out")), expected);
    let metadata = stage.api.get(&stage.at("v1", "secrets", "all-out"))["metadata"].clone();
    assert_eq!((&metadata["labels"]["team"], &metadata["annotations"]["note"]), (&json!("a"), &json!("b")));
    assert_eq!(metadata["ownerReferences"][0]["name"], "all");
    stage.ready("some");
    assert_eq!(json!(stage.secret_data("some-out")), json!({"the.url-of_it": "http://x", "token": "t0ken"}));
    stage.ready("map");
    let map = stage.api.get(&stage.at("v1", "configmaps", "map-out"));
    assert_eq!((&map["data"]["url"], &map["data"]["token"]), (&json!("http://x"), &Value::Null));
    for (name, words) in
        [("open", "\"token\" is sensitive"), ("gone", "there is no output \"nobody\""), ("taken", "is not ours")]
    {
        let stack = stage.until(name, || {
            let stack = stage.get(name);
            (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
        });
        assert!(message(&stack).contains(words), "{}", message(&stack));
    }
    assert_eq!(json!(stage.secret_data("theirs")), json!({"of": "others"}));

    // What is taken away comes back, and what is not an output any more goes.
    stage.api.delete(&stage.at("v1", "configmaps", "map-out"));
    stage.until("it comes back", || stage.api.find(&stage.at("v1", "configmaps", "map-out")));
    stage.edit(
        "all",
        &json!({"spec": {"source": {"inline": {"main.tf": "output \"url\" {\n  value = \"http://y\"\n}\n"}}}}),
    );
    stage.ready("all");
    assert_eq!(json!(stage.secret_data("all-out")), json!({"url": "http://y"}));
}

/// 030, 031, 044, 050–054: plans are seen, wait, are made anew when something changes, and are carried out when somebody agrees.
#[test]
fn plans_wait_and_are_made_anew() {
    let stage = Stage::new();
    let path = stage.path("file");
    let spec =
        json!({"source": {"inline": {"main.tf": file(&path)}}, "approval": {"mode": "manual"}, "planOnly": true});
    stage.stack("it", spec);
    let stack = stage.says("it", "True", "Planned");
    assert_eq!(message(&stack), "Planned: 1 to add, 0 to change, 0 to destroy.");
    assert_eq!(stack["status"]["applied"], Value::Null);
    stage.edit("it", &json!({"spec": {"planOnly": false}}));
    let first = pending(&stage, "it", None);
    // Another configuration, then another value, then another setting of the Stack.
    let more = format!("{}output \"more\" {{\n  value = 1\n}}\n", file(&path));
    stage.edit("it", &json!({"spec": {"source": {"inline": {"main.tf": more}}}}));
    let second = pending(&stage, "it", Some(&first));
    stage.edit("it", &json!({"spec": {"inputs": {"values": {"text": "words"}}}}));
    let third = pending(&stage, "it", Some(&second));
    stage.edit("it", &json!({"spec": {"outputs": {"status": true}}}));
    stage.until("another run", || {
        stage.runs("it").get(4).filter(|run| run["status"]["phase"] == "AwaitingApproval").cloned()
    });
    // It is the same plan, so it has the same id.
    let fourth = pending(&stage, "it", None);
    assert_eq!(fourth, third);
    assert_eq!(causes(&stage, "it"), ["Created", "SpecChanged", "SourceChanged", "InputsChanged", "SpecChanged"]);
    assert!(!path.exists());
    agree(&stage, "it", &fourth);
    let stack = stage.ready("it");
    assert_eq!(fs::read_to_string(&path).unwrap(), "words");
    assert_eq!((&stack["status"]["pending"], &stack["status"]["applied"]["plan"]), (&Value::Null, &json!(fourth)));
    let phases: Vec<Value> = stage.runs("it").iter().map(|run| run["status"]["phase"].clone()).collect();
    assert_eq!(phases, ["Succeeded", "Superseded", "Superseded", "Superseded", "Succeeded"]);
}

/// 100, 110, 160, 190, 191: where the configuration comes from.
#[test]
fn a_configuration_comes_from_a_config_map() {
    let stage = Stage::new();
    stage.config_map("code", &json!({"main": "module \"m\" {\n  source = \"./m\"\n}\noutput \"it\" {\n  value = module.m.it\n}\n", "m": "output \"it\" {\n  value = \"one\"\n}\n"}));
    let source = json!({"configMap": {"name": "code", "items": {"main": "root/main.tf", "m": "root/m/m.tf"}}});
    let spec = json!({"source": source, "path": "root", "outputs": {"status": true}});
    stage.stack("it", spec);
    assert_eq!(outputs(&stage, "it")["it"], "one");
    stage.api.edit(
        &stage.at("v1", "configmaps", "code"),
        &json!({"data": {"m": "output \"it\" {\n  value = \"two\"\n}\n"}}),
    );
    stage.until("the change counts", || (stage.get("it")["status"]["outputs"]["it"] == "two").then_some(()));
    let applied = stage.ready("it")["status"]["applied"]["plan"].clone();
    // A comment changes nothing, and there is a run that says so.
    stage.api.edit(
        &stage.at("v1", "configmaps", "code"),
        &json!({"data": {"m": "# words\noutput \"it\" {\n  value = \"two\"\n}\n"}}),
    );
    let stack = stage.until("it was looked at", || {
        let stack = stage.ready("it");
        (stack["status"]["lastRun"]["number"] == 3).then_some(stack)
    });
    assert_eq!(message(&stack), "No changes: all is as it should be.");
    assert_ne!(applied, Value::Null);
    assert_eq!(causes(&stage, "it"), ["Created", "SourceChanged", "SourceChanged"]);

    // What cannot be is refused, or told.
    let refused = |spec: Value| {
        let stack =
            json!({"apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": "bad"}, "spec": spec});
        let (status, said) = stage.api.ask("POST", &stage.at_stack(""), "application/json", Some(&stack)).unwrap();
        assert_eq!(status, 422, "{said}");
        said["message"].as_str().unwrap().to_owned()
    };
    let inline = json!({"inline": {"main.tf": ""}});
    assert!(refused(json!({"source": {}})).contains("give exactly one of inline, configMap, git and flux"));
    let kind = refused(json!({"source": inline, "inputs": {"varsFrom": [{"kind": "Pod", "name": "x"}]}}));
    assert!(kind.contains("spec.inputs.varsFrom[0].kind"), "{kind}");
    let both = refused(json!({"source": inline, "interval": "1m", "schedule": "* * * * *"}));
    assert!(both.contains("interval and schedule exclude each other"), "{both}");
    stage.stack("missing", json!({"source": {"configMap": {"name": "nobody"}}}));
    stage.stack("key", json!({"source": {"configMap": {"name": "code", "items": {"nope": "main.tf"}}}}));
    stage.stack("up", json!({"source": inline, "path": "../up"}));
    stage.stack("clock", json!({"source": inline, "schedule": "61 * * * *"}));
    stage.stack("daily", json!({"source": inline, "schedule": "0 3 * * *"}));
    for (name, words) in [
        ("missing", "\"nobody\" is not there"),
        ("key", "no key \"nope\""),
        ("up", "spec.path"),
        ("clock", "spec.schedule"),
    ] {
        let stack = stage.says(name, "False", "InvalidSpec");
        assert!(message(&stack).contains(words), "{}", message(&stack));
    }
    stage.ready("daily");
}

/// 120, 121, 130, 131: taken down while the Stack stays, and with it; also what was never there.
#[test]
fn everything_is_taken_down_and_comes_back() {
    let stage = Stage::new();
    let (path, kept) = (stage.path("file"), stage.path("kept"));
    let source = |path: &Path| json!({"inline": {"main.tf": file(path)}});
    stage.stack("it", json!({"source": source(&path)}));
    stage.stack("empty", json!({"source": source(&stage.path("never")), "destroy": true}));
    stage.stack("kept", json!({"source": source(&kept), "deletionPolicy": "retain"}));
    stage.ready("it");
    stage.edit("it", &json!({"spec": {"destroy": true}}));
    let stack = stage.says("it", "True", "Destroyed");
    assert_eq!(message(&stack), "Destroyed: 1 objects.");
    assert!(!path.exists());
    stage.edit("it", &json!({"spec": {"destroy": false}}));
    stage.ready("it");
    assert!(path.exists());
    stage.delete("it");
    assert!(!path.exists());
    let stack = stage.says("empty", "True", "Destroyed");
    assert!(message(&stack).starts_with("No changes"), "{}", message(&stack));
    stage.delete("empty");
    stage.ready("kept");
    stage.delete("kept");
    assert!(kept.exists());
    // Its state stays, too: a Stack of the same name goes on with it.
    stage.stack("kept", json!({"source": source(&kept)}));
    assert!(message(&stage.ready("kept")).starts_with("No changes"));
}

/// 170, 243: what fails is tried again, up to a limit, and anew when something changes.
#[test]
fn failures_are_tried_again_and_forgotten() {
    let stage = Stage::new();
    let wall = stage.path("wall");
    fs::write(&wall, "no directory").unwrap();
    let path = wall.join("file");
    let main = file(&path);
    stage.stack("again", json!({"source": {"inline": {"main.tf": main}}, "approval": {"mode": "manual"}, "retry": {"interval": "200ms"}}));
    let plan = pending(&stage, "again", None);
    agree(&stage, "again", &plan);
    stage.until("it fails", || (stage.runs("again").first()?["status"]["phase"] == "Failed").then_some(()));
    // There is a plan again. It is another one, as the state may be, and somebody has to agree to it.
    pending(&stage, "again", Some(&plan));

    let limited = |limit: u32| json!({"interval": "100ms", "maxInterval": "100ms", "limit": limit});
    stage.stack("limit", json!({"source": {"inline": {"main.tf": main}}, "retry": limited(2)}));
    let gives_up = |runs: usize| {
        stage.until("it gives up", || {
            let stack = stage.get("limit");
            (condition(&stack, "Stalled")?["status"] == "True" && stage.runs("limit").len() == runs).then_some(stack)
        })
    };
    let stack = gives_up(2);
    assert!(message(&stack).contains("Tried 2 times"), "{}", message(&stack));
    stage.edit("limit", &json!({"spec": {"source": {"inline": {"main.tf": format!("{main}# other\n")}}}}));
    gives_up(4);
    stage.edit("limit", &json!({"spec": {"outputs": {"status": true}}}));
    let stack = gives_up(6);
    assert_eq!(stack["status"]["failures"]["count"], 2);
    fs::remove_file(&wall).unwrap();
    stage.edit("limit", &json!({"metadata": {"annotations": {"groma.dev/requested-at": "now"}}}));
    let stack = stage.ready("limit");
    assert_eq!(stack["status"]["failures"], Value::Null);
    stage.edit("again", &json!({"spec": {"approval": {"mode": "auto"}}}));
    stage.ready("again");
}

/// Answers every request with a status.
fn answers(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let _ = connection.read(&mut [0; 4096]);
            let _ = connection
                .write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes());
        }
    });
    address
}

/// 240–242: what must answer.
#[test]
fn what_was_made_must_answer() {
    let stage = Stage::new();
    let (good, bad) = (answers("204 No Content"), answers("503 Service Unavailable"));
    let main = |address: &str| {
        format!(
            "output \"host\" {{\n  value = {address:?}\n}}\noutput \"secret\" {{\n  value = \"s3\"\n  sensitive = true\n}}\n"
        )
    };
    let spec = |address: &str, check: Value| json!({"source": {"inline": {"main.tf": main(address)}}, "healthChecks": [check]});
    stage.stack("tcp", spec(&good, json!({"name": "door", "tcp": "${host}"})));
    stage.stack("http", spec(&good, json!({"name": "page", "http": "http://${host}/x"})));
    stage.stack("down", spec(&bad, json!({"name": "page", "http": "http://${host}/x", "timeout": "300ms"})));
    stage.stack("name", spec(&good, json!({"name": "page", "http": "http://${nobody}/", "timeout": "300ms"})));
    stage.stack("open", spec(&good, json!({"name": "page", "http": "http://${host}/${secret}", "timeout": "300ms"})));
    stage.ready("tcp");
    stage.ready("http");
    for (name, words) in
        [("down", "answers with 503"), ("name", "no output \"nobody\""), ("open", "\"secret\" is sensitive")]
    {
        let stack = stage.says(name, "False", "NotReady");
        assert!(
            message(&stack).contains("Health check \"page\"") && message(&stack).contains(words),
            "{}",
            message(&stack)
        );
    }
    stage.edit("down", &json!({"spec": {"source": {"inline": {"main.tf": main(&good)}}}}));
    stage.ready("down");
}

/// 020, 300, 330, 360: a workspace, targets, files, variables in files; and programs, which must be allowed.
#[test]
fn what_else_goes_in() {
    let stage = Stage::new();
    let (one, two) = (stage.path("one"), stage.path("two"));
    let files = format!(
        "resource \"local_file\" \"one\" {{\n  filename = {one:?}\n  content = \"1\"\n}}\n\
         resource \"local_file\" \"two\" {{\n  filename = {two:?}\n  content = \"2\"\n}}\n"
    );
    stage.stack("targets", json!({"source": {"inline": {"main.tf": files}}, "targets": ["local_file.two"]}));
    stage.stack("target", json!({"source": {"inline": {"main.tf": files}}, "targets": ["no address"]}));

    stage.secret("key", &json!({"pem": "PRIVATE"}));
    stage.config_map("words", &json!({"hello": "hello\n"}));
    let main = "output \"it\" {\n  value = \"${file(\"keys/key.pem\")} ${file(\"${path.module}/hello\")}\"\n}\n";
    let from = |kind: &str, name: &str, key: &str| json!({kind: {"name": name, "key": key}});
    let given = json!([
        {"path": "keys/key.pem", "valueFrom": from("secretKeyRef", "key", "pem")},
        {"path": "hello", "valueFrom": from("configMapKeyRef", "words", "hello")},
    ]);
    shown(&stage, "files", main, json!({"files": given}));
    let outside = json!([{"path": "../hello", "valueFrom": from("configMapKeyRef", "words", "hello")}]);
    shown(&stage, "outside", main, json!({"files": outside}));

    let source = json!({"inline": {
        "root/main.tf": format!("{}output \"workspace\" {{\n  value = terraform.workspace\n}}\n", echo(&["a", "b", "c"])),
        "one.tfvars": "a = \"one\"\nb = \"one\"\nc = \"one\"\n", "env/two.tfvars.json": "{\"b\": \"two\", \"c\": \"two\"}",
        "root/terraform.tfvars": "a = \"auto\"\n",
    }});
    let inputs = json!({"varFiles": ["one.tfvars", "env/two.tfvars.json"], "values": {"c": "value"}});
    stage.stack(
        "var-files",
        json!({"source": source, "path": "root", "inputs": inputs, "workspace": "blue", "outputs": {"status": true}}),
    );
    stage.stack("no-file", json!({"source": source, "path": "root", "inputs": {"varFiles": ["nope.tfvars"]}}));

    stage.secret("env", &json!({"word": "from a secret"}));
    let program = "data \"external\" \"it\" {\n  program = [\"sh\", \"-c\", \"echo '{\\\"word\\\": \\\"said\\\"}'\"]\n}\n\
                   output \"it\" {\n  value = data.external.it.result\n}\n";
    let said = stage.path("said");
    let local = format!(
        "resource \"terraform_data\" \"it\" {{\n  provisioner \"local-exec\" {{\n    command = \"echo $WORD, $KUBECONFIG > {}\"\n  }}\n}}\n",
        said.display()
    );
    let env = json!({"env": [{"name": "WORD", "valueFrom": from("secretKeyRef", "env", "word")}]});
    let spec = |main: &str, allowed: bool| json!({"source": {"inline": {"main.tf": main}}, "inputs": env, "allowExec": allowed, "outputs": {"status": true}});
    stage.stack("external", spec(program, true));
    stage.stack("local", spec(&local, true));
    stage.stack("no-external", spec(program, false));
    stage.stack("no-local", spec(&local, false));

    stage.ready("targets");
    assert!(!one.exists() && two.exists());
    let stack = stage.says("target", "False", "InvalidConfiguration");
    assert!(message(&stack).contains("spec.targets"), "{}", message(&stack));
    assert_eq!(outputs(&stage, "files")["it"], "PRIVATE hello\n");
    let stack = stage.says("outside", "False", "InvalidSpec");
    assert!(message(&stack).contains("spec.inputs.files[0]"), "{}", message(&stack));
    assert_eq!(outputs(&stage, "var-files"), json!({"a": "one", "b": "two", "c": "value", "workspace": "blue"}));
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-blue-var-files")).is_some());
    stage.until("it is told", || {
        let stack = stage.get("no-file");
        (condition(&stack, "Ready")?["status"] == "False" && message(&stack).contains("nope.tfvars")).then_some(())
    });
    assert_eq!(outputs(&stage, "external")["it"], json!({"word": "said"}));
    stage.ready("local");
    assert_eq!(fs::read_to_string(&said).unwrap(), "from a secret,\n");
    for name in ["no-external", "no-local"] {
        let stack = stage.until(name, || {
            let stack = stage.get(name);
            (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
        });
        assert!(message(&stack).contains("spec.allowExec"), "{name}: {}", message(&stack));
    }
    stage.delete("var-files");
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-blue-var-files")).is_none());
}

/// 350: those that are needed come first, and go last.
#[test]
fn stacks_come_in_their_order() {
    let stage = Stage::new();
    let spec = |needs: &[&str]| {
        let needs: Vec<Value> = needs.iter().map(|name| json!({"name": name})).collect();
        json!({"source": {"inline": {"main.tf": "output \"it\" {\n  value = 1\n}\n"}}, "dependsOn": needs})
    };
    stage.stack("three", spec(&["two", "one"]));
    stage.stack("two", spec(&["one"]));
    let stack = stage.says("two", "False", "DependencyNotReady");
    assert!(message(&stack).contains("/one (it is not there)"), "{}", message(&stack));
    assert!(stage.runs("two").is_empty());
    stage.stack("one", spec(&[]));
    stage.ready("three");
    let times = |name: &str| {
        let run = stage.runs(name).remove(0);
        let phases = run["status"]["phases"].as_array().unwrap().clone();
        (phases[0]["began"].as_str().unwrap().to_owned(), phases.last().unwrap()["began"].as_str().unwrap().to_owned())
    };
    assert!(times("one").1 <= times("two").0 && times("two").1 <= times("three").0);
    // Two that need each other say so, and hold up nobody else.
    stage.stack("egg", spec(&["hen"]));
    stage.stack("hen", spec(&["egg"]));
    stage.says("egg", "False", "DependencyNotReady");
    for name in ["one", "two", "three"] {
        stage.api.delete(&stage.at_stack(name));
    }
    for name in ["three", "two", "one"] {
        stage.gone(name);
    }
}

/// Whatever a configuration says about where its state is, the Stack decides; and one Event says so.
#[test]
fn a_backend_of_a_configuration_does_not_hold() {
    let stage = Stage::new();
    let elsewhere = stage.path("elsewhere.tfstate");
    let own = format!(
        "# words\nterraform {{\n  backend \"local\" {{\n    path = {elsewhere:?}\n  }}\n}}\n{}output \"it\" {{\n  value = 1\n}}\n",
        echo(&["a"])
    );
    let cloud = "terraform {\n  cloud {\n    organization = \"theirs\"\n  }\n}\noutput \"it\" {\n  value = 1\n}\n";
    let spec =
        |main: &str| json!({"source": {"inline": {"main.tf": main}}, "interval": "300ms", "outputs": {"status": true}});
    stage.stack("own", spec(&own));
    stage.stack("cloud", spec(cloud));
    stage.stack("plain", spec("# backend cloud\noutput \"it\" {\n  value = 1\n}\n"));
    let told = |name: &str| {
        let path = format!(
            "{}?fieldSelector=involvedObject.name={name},reason=BackendOverridden",
            stage.at("v1", "events", "")
        );
        let items = stage.api.get(&path)["items"].as_array().unwrap().clone();
        items.iter().map(|event| event["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (name, words) in [("own", "backend \"local\" (main.tf:3)"), ("cloud", "cloud (main.tf:2)")] {
        stage.ready(name);
        // It is looked at again a few times.
        std::thread::sleep(std::time::Duration::from_secs(1));
        let told = told(name);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(words), "{told:?}");
        assert!(stage.api.find(&stage.at("v1", "secrets", &format!("tfstate-default-{name}"))).is_some());
    }
    assert!(!elsewhere.exists());
    stage.ready("plain");
    assert!(told("plain").is_empty());
    stage.edit("own", &json!({"spec": {"inputs": {"values": {"a": 1}}}}));
    stage.until("it is told again", || (told("own").len() == 2).then_some(()));
}
