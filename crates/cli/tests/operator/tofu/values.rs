//! Where values of variables come from.

use serde_json::{Value, json};

use super::Rig;
use super::fetched::FIRST;
use crate::stage::condition;

/// What all rows have: a variable whose type nobody says, and what is told of it.
const MAIN: &str = r#"variable "it" {
  default = "none"
}
variable "values" {
  default = {}
}
output "it" {
  value = jsonencode(try(var.values.it, var.it))
}
"#;

/// 060 to 064, 070 to 075, 080 to 082, 090, 360: values in the object, in Secrets, in ConfigMaps and in files of the source; which of them holds.
#[test]
fn values_come_from_where_an_object_says() {
    let rig = Rig::new();
    rig.stage.secret("one", &json!({"it": "of a Secret", "other": "of another key"}));
    rig.stage.secret("two", &json!({"it": "of a second Secret"}));
    rig.stage.config_map("map", &json!({"it": "of a ConfigMap", "other": "of its other key"}));
    let from = |kind: &str, name: &str| json!({"kind": kind, "name": name});
    let keyed = |kind: &str, name: &str, key: &str| json!({"kind": kind, "name": name, "varsKeys": [key]});
    let inline = json!([{"name": "it", "value": "of the object"}]);
    let rows: Vec<(&str, Value, Value)> = vec![
        ("nothing", json!({}), json!("none")),
        ("inline", json!({"vars": inline}), json!("of the object")),
        ("object", json!({"vars": [{"name": "it", "value": {"a": [1, true, null]}}]}), json!({"a": [1, true, null]})),
        ("values", json!({"values": {"it": {"deep": "value"}}}), json!({"deep": "value"})),
        ("secret", json!({"varsFrom": [from("Secret", "one")]}), json!("of a Secret")),
        ("key", json!({"varsFrom": [keyed("Secret", "one", "it")]}), json!("of a Secret")),
        ("renamed", json!({"varsFrom": [keyed("Secret", "one", "other:it")]}), json!("of another key")),
        ("last", json!({"varsFrom": [from("Secret", "one"), from("Secret", "two")]}), json!("of a second Secret")),
        ("optional", json!({"varsFrom": [{"kind": "Secret", "name": "gone", "optional": true}]}), json!("none")),
        ("map", json!({"varsFrom": [from("ConfigMap", "map")]}), json!("of a ConfigMap")),
        ("map-key", json!({"varsFrom": [keyed("ConfigMap", "map", "other:it")]}), json!("of its other key")),
        ("over", json!({"vars": inline, "varsFrom": [from("Secret", "one")]}), json!("of a Secret")),
        ("file", json!({"vars": inline, "tfVarsFiles": ["envs/prod.tfvars"]}), json!("of a file")),
    ];
    rig.has(FIRST, &[("infra/main.tf", MAIN), ("envs/prod.tfvars", "it = \"of a file\"\n")]);
    for (name, more, _) in &rows {
        let mut spec =
            json!({"approvePlan": "auto", "path": "infra", "writeOutputsToSecret": {"name": format!("of-{name}")}});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rig.write(name, &spec);
    }
    for (name, _, expected) in &rows {
        rig.says(name, ("True", "TerraformOutputsWritten", FIRST));
        let told = rig.secret(&format!("of-{name}")).unwrap();
        let value: Value = serde_json::from_str(&told["it"]).unwrap();
        assert_eq!(value, *expected, "{name}");
    }

    // What a Secret says later holds, and what is not there is said.
    rig.stage.api.edit(&rig.stage.at("v1", "secrets", "one"), &json!({"stringData": {"it": "rotated"}}));
    for name in ["secret", "over"] {
        rig.stage.until(&format!("the new value of {name}"), || {
            (rig.secret(&format!("of-{name}"))?["it"] == "\"rotated\"").then_some(())
        });
    }
    rig.edit("inline", &json!({"varsFrom": [{"kind": "Secret", "name": "gone"}]}));
    let object = rig.stage.until("it is said what is missing", || {
        let object = rig.get("inline");
        (condition(&object, "Ready")?["status"] == "False").then_some(object)
    });
    let ready = condition(&object, "Ready").unwrap();
    assert!(ready["message"].as_str().unwrap().contains("gone"), "{ready}");
}
