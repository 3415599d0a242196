//! A saved plan says in which order things are done, whatever has become of the rules since.

use serde_json::Value;

use crate::RELEASED;
use crate::sandbox::Sandbox;

const RULES: &str = "replace_rule \"web\" {\n  resource = \"terraform_data\"\n  field    = \"triggers_replace\"\n  behavior = \"auto\"\n}\n";

fn steps(stream: &str) -> Vec<String> {
    let lines = stream.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let begun = lines.filter(|line| line["type"] == "apply_start");
    begun.map(|line| line["hook"]["action"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_saved_plan_is_carried_out_as_it_was_planned() {
    for (planned, later, order) in [
        ("-replace-rules=auto", "", ["delete", "create"]),
        ("-replace-rules=auto", "broken {{{", ["delete", "create"]),
        ("-replace-rules=off", RULES, ["create", "delete"]),
    ] {
        let sandbox = Sandbox::new().file("main.tf", RELEASED).file("order.groma.hcl", RULES);
        assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
        assert_eq!(sandbox.run(&["plan", "-var=release=2", "-out=p", planned]).code, 0);
        let sandbox = sandbox.file("order.groma.hcl", later).env("GROMA_REPLACE_RULES", "warn");
        let outcome = sandbox.run(&["apply", "-json", "p"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stdout);
        assert_eq!(steps(&outcome.stdout), order, "{planned}");
    }
    let sandbox = Sandbox::new().file("main.tf", RELEASED).file("order.groma.hcl", RULES);
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    assert_eq!(sandbox.run(&["plan", "-var=release=2", "-out=p"]).code, 0);
    let refused = sandbox.run(&["apply", "-replace-rules=auto", "p"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("-replace-rules"), "{}", refused.stderr);
}
