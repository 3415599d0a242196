//! What commands do, from another process than the operator.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use serde_json::Value;

use crate::stage::{AUTO, Stage, stack};

const PLAIN: &str = "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n";

#[test]
fn a_plan_waits_for_somebody_who_names_it() {
    let stage = Stage::new();
    stage.write("app.yaml", &stack("app", "approval: {mode: manual}", &[("main.tf", PLAIN)]));
    stage.wait_for("a plan", || stage.status("app")["status"]["pending"]["plan"].is_string());
    let plan = stage.status("app")["status"]["pending"]["plan"].as_str().unwrap().to_owned();
    let shown = stage.well(&["stack", "plan", "app"]);
    assert!(shown.contains("terraform_data.a will be created"), "{shown}");
    let wrong = stage.groma(&["stack", "approve", "app", &plan[..12]]);
    assert_eq!(wrong.code, 1);
    assert!(stage.state("app")["resources"].as_array().is_none_or(Vec::is_empty));
    let said = stage.groma(&["stack", "approve", "app", &plan]);
    assert!(said.stderr.contains("ana has agreed"), "{}", said.stderr);
    stage.wait_until("app", "True", "");
    let tree = stage.well(&["stack", "tree"]);
    assert!(tree.contains("app"), "{tree}");
    let events = stage.well(&["stack", "events", "app"]);
    assert!(events.contains("PlanApproved") && events.contains("by ana"), "{events}");
    assert!(stage.well(&["stack", "logs", "app"]).contains("Applying"));
    assert!(stage.groma(&["stack", "unlock", "app"]).stderr.contains("Nobody holds the lock"));
}

#[test]
fn what_commands_set_stays_and_is_shown() {
    let stage = Stage::new();
    stage.write("app.yaml", &stack("app", AUTO, &[("main.tf", PLAIN)]));
    stage.wait_until("app", "True", "");
    stage.well(&["stack", "suspend", "app"]);
    stage.wait_for("what was set", || stage.status("app")["setByCommands"][0] == "spec.suspend: true");
    let described = stage.well(&["stack", "describe", "app"]);
    assert!(described.contains("Set by commands, otherwise than app.yaml says\n  spec.suspend: true"), "{described}");
    let before = stage.state("app");
    let changed = stack("app", AUTO, &[("main.tf", &PLAIN.replace('1', "2"))]);
    stage.write("app.yaml", &changed);
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(stage.state("app"), before);
    assert_eq!(stage.read("app.yaml"), changed);
    stage.well(&["stack", "resume", "app"]);
    stage.wait_for("the change", || stage.state("app") != before);
    stage.wait_until("app", "True", "");
    assert_eq!(stage.status("app")["setByCommands"], Value::Null);
}

#[test]
fn commands_find_the_operator_by_its_directory() {
    let mut stage = Stage::quiet();
    std::fs::create_dir(stage.path("state")).unwrap();
    stage.start_with(&["-state-dir", "state", "-json"]);
    stage.write("app.yaml", &stack("app", AUTO, &[("main.tf", PLAIN)]));
    let ready = || {
        let said = stage.groma(&["stack", "get", "-standalone", ".", "-state-dir", "state", "-json", "app"]);
        said.stdout.contains("\"reason\":\"Succeeded\"") || said.stdout.contains("\"status\":\"True\"")
    };
    stage.wait_for("the stack", ready);
    assert!(!stage.path(".groma").exists());
    let mut told = stage.log().lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>();
    told.retain(|line| line["name"] == "app");
    assert!(told.iter().any(|line| line["reason"] == "RunStarted"), "{told:?}");
    let none = stage.groma(&["stack", "get", "-standalone", "nowhere"]);
    assert!(none.code == 1 && none.stderr.contains("No operator has ever worked"), "{}", none.stderr);
    let mut command = stage.command(&["stack", "get", "-state-dir", "state"]);
    let output = command.env("GROMA_STANDALONE", ".").output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("app"));
}

#[test]
fn a_run_can_be_cancelled() {
    let stage = Stage::new();
    let slow = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"sleep 2\"\n  }\n}\nresource \"terraform_data\" \"b\" {\n  depends_on = [terraform_data.a]\n}\n";
    stage.write("app.yaml", &stack("app", &format!("{AUTO}\nallowExec: true"), &[("main.tf", slow)]));
    stage.wait_for("a run", || stage.status("app")["status"]["lastRun"]["phase"] == "Applying");
    stage.well(&["stack", "cancel", "app"]);
    stage.wait_for("its end", || stage.status("app")["status"]["lastRun"]["phase"] == "Cancelled");
    let resources = stage.state("app")["resources"].clone();
    assert_eq!(resources.as_array().map(Vec::len), Some(1), "{resources}");
}

#[test]
fn flags_are_heeded_or_refused() {
    let mut stage = Stage::quiet();
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    stage.start_with(&["-webhook-addr", &address.to_string()]);
    let ask = || {
        let mut connection = TcpStream::connect(address)?;
        connection.write_all(
            b"POST /hooks/default/none HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        )?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).map(|_| answer)
    };
    stage.wait_for("an answer to a webhook", || ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 4")));
    let other = Stage::quiet();
    let said = other.groma(&["operator", "-standalone", ".", "-events-addr", "nowhere"]);
    assert!(said.code != 0 && said.stderr.contains("-events-addr"), "{}{}", said.stdout, said.stderr);
    let said = other.groma(&["operator", "-standalone", ".", "-terraform-objects"]);
    assert!(said.code != 0 && said.stderr.contains("terraform-objects"), "{}{}", said.stdout, said.stderr);
}
