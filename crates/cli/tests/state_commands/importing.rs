//! `import`: one object into the state, and nothing else.

use crate::fixture::{directory, refused, state, stored, works};
use crate::sandbox::Sandbox;

/// With what is imported in these tests: nothing of it is complete.
fn before() -> Sandbox {
    directory()
        .file(
            "more.tf",
            "resource \"random_integer\" \"n\" {}\n\
             resource \"terraform_data\" \"s\" {\n  input = var.word\n}\n\
             resource \"terraform_data\" \"many\" {\n  for_each = toset([\"k\"])\n  input = terraform_data.missing[0].output\n}\n\
             resource \"terraform_data\" \"missing\" {\n  count = 1\n}\n\
             output \"n\" {\n  value = random_integer.n.result\n}\n",
        )
        .file("m/more.tf", "resource \"terraform_data\" \"y\" {}\n")
}

#[test]
fn an_object_is_taken_in() {
    let sandbox = before();
    let said = works(&sandbox, &["import", "random_integer.n", "42,1,100"]);
    assert!(said.contains("random_integer.n") && said.contains("Import successful!"), "{said}");
    let now = stored(&sandbox, "terraform.tfstate");
    assert_eq!((&now["serial"], &now["lineage"]), (&5.into(), &state()["lineage"]));
    let resources = now["resources"].as_array().unwrap();
    let imported = resources.iter().find(|resource| resource["type"] == "random_integer").unwrap();
    assert_eq!(imported["instances"][0]["attributes"]["result"], 42);
    assert_eq!(imported["provider"], "provider[\"registry.opentofu.org/hashicorp/random\"]");
    // Everything else is as it was, but for outputs that can be worked out now.
    let rest: Vec<_> = resources.iter().filter(|resource| resource["type"] != "random_integer").cloned().collect();
    assert_eq!(&serde_json::Value::from(rest), &state()["resources"]);
    assert_eq!(now["outputs"]["n"]["value"], 42);
    assert_eq!(now["outputs"]["word"], state()["outputs"]["word"]);
    assert_eq!(stored(&sandbox, "terraform.tfstate.backup"), state());
}

#[test]
fn data_is_read_as_by_a_plan() {
    let sandbox = before().file("greeting", "hello").file(
        "data.tf",
        "data \"local_file\" \"greeting\" {\n  filename = \"greeting\"\n}\n\
             data \"local_file\" \"missing\" {\n  filename = \"missing\"\n}\n\
             output \"greeting\" {\n  value = data.local_file.greeting.content\n}\n\
             output \"later\" {\n  value = terraform_data.missing[0].id\n}\n",
    );
    works(&sandbox, &["import", "random_integer.n", "42,1,100"]);
    let now = stored(&sandbox, "terraform.tfstate");
    assert_eq!(now["outputs"]["greeting"]["value"], "hello");
    // Known once it is made.
    assert_eq!(now["outputs"]["later"], serde_json::json!({ "value": null, "type": "string" }));
    let listed = works(&sandbox, &["state", "list"]);
    assert!(listed.starts_with("data.local_file.greeting\nrandom_integer.n\n"), "{listed}");
}

#[test]
fn addresses_have_keys_and_modules() {
    let sandbox = before();
    works(&sandbox, &["import", "terraform_data.many[\"k\"]", "one"]);
    works(&sandbox, &["import", "module.m[0].terraform_data.y", "two"]);
    works(&sandbox, &["import", "-config=m", "-state=other.tfstate", "terraform_data.y", "three"]);
    let listed = works(&sandbox, &["state", "list"]);
    assert!(
        listed.contains("terraform_data.many[\"k\"]\n") && listed.contains("module.m[0].terraform_data.y\n"),
        "{listed}"
    );
    assert_eq!(works(&sandbox, &["state", "list", "-state=other.tfstate", "-id=three"]), "terraform_data.y\n");
}

#[test]
fn secrets_of_the_configuration_stay_secret() {
    let sandbox = before();
    works(&sandbox, &["import", "terraform_data.s", "id-s"]);
    let now = stored(&sandbox, "terraform.tfstate");
    let imported = now["resources"].as_array().unwrap().iter().find(|resource| resource["name"] == "s").unwrap();
    let path = serde_json::json!([[{ "type": "get_attr", "value": "input" }]]);
    assert_eq!(imported["instances"][0]["sensitive_attributes"], path);
}

#[test]
fn what_cannot_be_imported_changes_nothing() {
    let sandbox = before();
    let nowhere = "Configuration for import target does not exist";
    for (arguments, summary) in [
        (["import", "terraform_data.a", "id"], "Resource already managed by groma"),
        (["import", "terraform_data.c[7]", "id"], nowhere),
        (["import", "terraform_data.c", "id"], nowhere),
        (["import", "module.m.terraform_data.y", "id"], nowhere),
        (["import", "module.m[3].terraform_data.y", "id"], nowhere),
        (["import", "module.z.terraform_data.y", "id"], "Import to non-existent module"),
        (["import", "data.terraform_data.a", "id"], "Invalid target resource address"),
        (["import", "ephemeral.terraform_data.a", "id"], "Invalid target resource address"),
        (["import", "nonsense", "id"], "Invalid address"),
        (["import", "random_integer.n", "no number"], ""),
    ] {
        refused(&sandbox, &arguments, summary);
    }
    let missing = refused(
        &sandbox,
        &["import", "terraform_data.nope", "id"],
        "resource address \"terraform_data.nope\" does not exist in the configuration.",
    );
    assert!(missing.contains("\nresource \"terraform_data\" \"nope\" {\n"), "{missing}");
    refused(&sandbox, &["import", "-config=nowhere", "terraform_data.a", "id"], "No groma configuration files");
}

#[test]
fn variables_are_needed_only_where_they_matter() {
    let sandbox = before().file("required.tf", "variable \"needed\" {}\n");
    refused(&sandbox, &["import", "-input=false", "random_integer.n", "42,1,100"], "No value for required variable");
    works(&sandbox, &["import", "-input=false", "-var", "needed=x", "random_integer.n", "42,1,100"]);
}

#[test]
fn a_broken_configuration_is_not_imported_into() {
    let sandbox = before().file("broken.tf", "resource \"terraform_data\" {\n");
    refused(&sandbox, &["import", "random_integer.n", "42,1,100"], "");
}
