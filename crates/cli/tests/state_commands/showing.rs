//! `output`, `show` and `state show`: what is shown, and that secrets are not.

use expect_test::expect;

use crate::fixture::{directory, refused, works};
use crate::sandbox::Sandbox;

#[test]
fn outputs_are_shown() {
    let sandbox = directory();
    expect![[r#"
        a = "x"
        list = [
          1,
          true,
          "x",
        ]
        word = <sensitive>
    "#]]
    .assert_eq(&works(&sandbox, &["output"]));
    assert_eq!(works(&sandbox, &["output", "a"]), "\"x\"\n");
    assert_eq!(works(&sandbox, &["output", "-raw", "a"]), "x");
    assert_eq!(works(&sandbox, &["output", "-json", "list"]), "[1,true,\"x\"]\n");
    // Whoever asks for one by its name gets it.
    assert_eq!(works(&sandbox, &["output", "word"]), "\"hush\"\n");
    assert!(works(&sandbox, &["output", "-show-sensitive"]).contains("word = \"hush\""));
    let all: serde_json::Value = serde_json::from_str(&works(&sandbox, &["output", "-json"])).unwrap();
    assert_eq!(all["word"], serde_json::json!({ "sensitive": true, "type": "string", "value": "hush" }));
    works(&sandbox, &["output", "-json-into=file", "a"]);
    assert_eq!(sandbox.read("file"), "\"x\"\n");
}

#[test]
fn outputs_that_are_not_there() {
    let sandbox = directory();
    refused(&sandbox, &["output", "nope"], "Output \"nope\" not found");
    refused(&sandbox, &["output", "-json", "nope"], "Output \"nope\" not found");
    refused(&sandbox, &["output", "-raw", "list"], "Unsupported value for raw output");
    refused(&sandbox, &["output", "-raw"], "Output name required");
    refused(&sandbox, &["output", "-raw", "-json", "a"], "Invalid output format");
    let empty = Sandbox::new().file("main.tf", "");
    for arguments in [&["output"][..], &["output", "a"], &["output", "-raw", "a"]] {
        let outcome = empty.run(arguments);
        assert_eq!((outcome.code, outcome.stdout.contains("not found")), (0, false));
        assert!(format!("{}{}", outcome.stdout, outcome.stderr).contains("Warning: No outputs found"));
    }
    assert_eq!(works(&empty, &["output", "-json"]), "{}\n");
}

#[test]
fn one_object_is_shown() {
    let sandbox = directory();
    expect![[r#"
        # terraform_data.c[1]:
        resource "terraform_data" "c" {
            id     = "id-c1"
            input  = "x"
            output = "x"
        }
    "#]]
    .assert_eq(&works(&sandbox, &["state", "show", "terraform_data.c[1]"]));
    let secret = works(&sandbox, &["state", "show", "random_password.p"]);
    assert!(secret.contains("result") && secret.contains("(sensitive value)"), "{secret}");
    assert!(!secret.contains("hunter2"), "{secret}");
    assert!(works(&sandbox, &["state", "show", "-show-sensitive", "random_password.p"]).contains("\"hunter2!\""));
    let json: serde_json::Value =
        serde_json::from_str(&works(&sandbox, &["state", "show", "-json", "terraform_data.a"])).unwrap();
    let resources = json["values"]["root_module"]["resources"].as_array().unwrap();
    assert_eq!((resources.len(), &resources[0]["address"]), (1, &"terraform_data.a".into()));
    assert!(json["values"]["outputs"].is_null());
}

#[test]
fn without_a_provider_nobody_knows_what_is_secret() {
    let state = r#"{"version":4,"terraform_version":"1.12.0","serial":1,"lineage":"l","outputs":{},"resources":[{"mode":"managed",
        "type":"acme_vault","name":"v","provider":"provider[\"registry.opentofu.org/acme/acme\"]",
        "instances":[{"schema_version":0,"attributes":{"id":"i","word":"hunter2"}}]}],"check_results":null}"#;
    let sandbox = Sandbox::new().file("terraform.tfstate", state);
    for arguments in [&["show"][..], &["state", "show", "acme_vault.v"]] {
        let shown = works(&sandbox, arguments);
        assert!(shown.contains("resource \"acme_vault\" \"v\" {") && !shown.contains("hunter2"), "{shown}");
    }
    for arguments in [&["show", "-json"][..], &["state", "show", "-json", "acme_vault.v"]] {
        let said = refused(&sandbox, arguments, "Failed to load plugin schemas");
        assert!(said.contains("groma init"), "{said}");
    }
    // What needs no schema works all the same.
    works(&sandbox, &["state", "mv", "acme_vault.v", "acme_vault.w"]);
}

#[test]
fn states_are_shown() {
    let sandbox = directory();
    let shown = works(&sandbox, &["show"]);
    assert!(shown.contains("# module.m[0].terraform_data.x:\n") && shown.contains("\nOutputs:\n"), "{shown}");
    assert!(!shown.contains("hunter2") && !shown.contains("hush"), "{shown}");
    assert_eq!(works(&sandbox, &["show", "-state"]), shown);
    assert_eq!(works(&sandbox, &["show", "terraform.tfstate"]), shown);
    let json = works(&sandbox, &["show", "-json"]);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["values"]["root_module"]["child_modules"][0]["address"], "module.m[0]");
    works(&sandbox, &["show", "-json-into=file"]);
    assert_eq!(sandbox.read("file"), json);
    let empty = Sandbox::new().file("main.tf", "");
    assert_eq!(works(&empty, &["show"]), "No state.\n");
    assert_eq!(works(&empty, &["show", "-json"]), "{\"format_version\":\"1.0\"}\n");
}

#[test]
fn configurations_are_shown() {
    let sandbox = directory();
    let document: serde_json::Value = serde_json::from_str(&works(&sandbox, &["show", "-config", "-json"])).unwrap();
    assert_eq!(document["root_module"]["resources"].as_array().unwrap().len(), 3);
    assert_eq!(document["root_module"]["module_calls"]["m"]["source"], "./m");
    let module: serde_json::Value = serde_json::from_str(&works(&sandbox, &["show", "-module=m", "-json"])).unwrap();
    assert_eq!(module["root_module"]["resources"][0]["address"], "terraform_data.x");
}

#[test]
fn plans_are_shown() {
    let sandbox = Sandbox::new().file("main.tf", "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n");
    let planned = works(&sandbox, &["plan", "-out=saved"]);
    let shown = works(&sandbox, &["show", "saved"]);
    let change = "  + resource \"terraform_data\" \"a\" {\n      + id     = (known after apply)\n";
    assert!(planned.contains(change) && shown.contains(change), "{shown}");
    assert_eq!(works(&sandbox, &["show", "-plan=saved"]), shown);
    let document: serde_json::Value = serde_json::from_str(&works(&sandbox, &["show", "-json", "saved"])).unwrap();
    assert_eq!(document["resource_changes"][0]["change"]["actions"], serde_json::json!(["create"]));
    assert_eq!(document["configuration"]["root_module"]["resources"][0]["address"], "terraform_data.a");
    refused(&sandbox, &["show", "-plan=main.tf"], "");
    assert!(!sandbox.exists("terraform.tfstate"));
}

#[test]
fn what_cannot_be_shown_is_said() {
    let sandbox = directory()
        .file("torn", "{\"version\": 4, \"serial\": 3")
        .file("half", "{\"version\":4,\"serial\":3,\"outputs\":7}");
    refused(&sandbox, &["show", "missing"], "Failed to read the given file as a state or plan file");
    refused(&sandbox, &["show", "main.tf"], "Failed to read the given file as a state or plan file");
    refused(&sandbox, &["show", "torn"], "Failed to read the given file as a state or plan file");
    refused(&sandbox, &["show", "half"], "Couldn't show state file");
    refused(&sandbox, &["show", "-config"], "JSON output required for configuration");
    refused(&sandbox, &["show", "-module=m"], "JSON output required for module");
    refused(&sandbox, &["show", "-state", "-config", "-json"], "Conflicting object types to show");
    refused(&sandbox, &["show", "-state", "x"], "Unexpected command line arguments");
}
