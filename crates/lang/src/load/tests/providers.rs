//! Provider configurations that cross module calls.

use super::{check, load};

const CHILD: &str = r#"
terraform {
  required_providers {
    x = {
      source                = "a/x"
      configuration_aliases = [x.east]
    }
  }
}
resource "x_thing" "t" { provider = x.east }
"#;

#[test]
fn an_expected_alias_must_be_passed() {
    let main = "terraform {\n  required_providers {\n    x = { source = \"a/x\" }\n  }\n}\nprovider \"x\" { alias = \"west\" }\n\
                module \"m\" {\n  source = \"./m\"\n  providers = { x.east = x.west }\n}\n";
    check(&[("main.tf", main), ("m/main.tf", CHILD)], &[]);
    let main = "module \"m\" {\n  source = \"./m\"\n}\n";
    check(&[("main.tf", main), ("m/main.tf", CHILD)], &["error main.tf:1 Missing required provider configuration"]);
}

#[test]
fn a_configuration_of_another_provider_does_not_fit() {
    let main = "terraform {\n  required_providers {\n    y = { source = \"b/y\" }\n  }\n}\nprovider \"y\" { alias = \"z\" }\n\
                module \"m\" {\n  source = \"./m\"\n  providers = {\n    x.east = y.z\n  }\n}\n";
    check(&[("main.tf", main), ("m/main.tf", CHILD)], &["error main.tf:10 Provider type mismatch"]);
}

#[test]
fn modules_with_their_own_configurations_stand_once() {
    let main = "module \"m\" {\n  source = \"./m\"\n  count  = 2\n}\n";
    check(
        &[("main.tf", main), ("m/main.tf", "provider \"x\" {\n  a = 1\n}\n")],
        &["error main.tf:3 Module is incompatible with count, for_each, enabled and depends_on"],
    );
    check(
        &[("main.tf", main), ("m/main.tf", "provider \"x\" {\n}\n")],
        &["warning m/main.tf:1 Redundant empty provider block"],
    );
}

#[test]
fn instances_of_configurations_are_chosen_by_key() {
    let main = r#"
provider "x" {
  alias    = "many"
  for_each = { a = 1 }
}
provider "x" {
  alias = "one"
  a     = 1
}
resource "x_y" "a" { provider = x.many["a"] }
resource "x_y" "b" { provider = x.many }
resource "x_y" "c" { provider = x.one["a"] }
resource "x_y" "d" { provider = x["a"] }
"#;
    check(&[("main.tf", main)], &["error main.tf:13 Invalid provider configuration reference"]);
    let main = main.replace("resource \"x_y\" \"d\" { provider = x[\"a\"] }\n", "");
    check(
        &[("main.tf", &main)],
        &[
            "error main.tf:11 Invalid resource provider configuration",
            "error main.tf:12 Invalid resource provider configuration",
        ],
    );
}

#[test]
fn aliases_that_nobody_declares_are_missing() {
    check(
        &[(
            "main.tf",
            "resource \"terraform_data\" \"a\" {\n  provider = terraform.nope\n}\n\
             resource \"terraform_data\" \"b\" {\n  provider = terraform.neither\n}\n",
        )],
        &["error main.tf:2 Provider configuration not present", "error main.tf:5 Provider configuration not present"],
    );
}

#[test]
fn local_names_lead_to_providers() {
    let (_, module, _) = load(&[(
        "main.tf",
        "terraform {\n  required_providers {\n    my = { source = \"example.com/a/b\" }\n  }\n}\n\
         resource \"my_thing\" \"a\" {}\nresource \"other_thing\" \"b\" {}\nresource \"terraform_data\" \"c\" {}\n",
    )]);
    let providers: Vec<String> = module.resources.values().map(|resource| resource.provider.to_string()).collect();
    assert_eq!(
        providers,
        ["example.com/a/b", "registry.opentofu.org/hashicorp/other", "terraform.io/builtin/terraform"]
    );
}
