//! `groma providers` and what is below it; configurations that are checked with providers.

use expect_test::expect;

use crate::sandbox::Sandbox;

#[test]
fn the_tree_of_requirements() {
    let child = "terraform {\n  required_providers {\n    thing = {\n      source  = \"example.com/acme/thing\"\n      version = \">= 1.0, < 3\"\n    }\n  }\n}\n\nresource \"null_resource\" \"x\" {\n}\n";
    let sandbox = Sandbox::new()
        .file("main.tf", "module \"a\" {\n  source = \"./a\"\n}\n\nmodule \"b\" {\n  source = \"./a\"\n}\n\nresource \"terraform_data\" \"x\" {\n}\n")
        .file("a/main.tf", child);
    sandbox.run(&["providers"]).is(expect![[r#"
        exit code 0
        ----- stdout

        Providers required by configuration:
        .
        ├── provider[terraform.io/builtin/terraform]
        ├── module.a
        │   ├── provider[example.com/acme/thing] >= 1.0.0, < 3.0.0
        │   └── provider[registry.opentofu.org/hashicorp/null]
        └── module.b
            ├── provider[example.com/acme/thing] >= 1.0.0, < 3.0.0
            └── provider[registry.opentofu.org/hashicorp/null]

    "#]]);
    let empty = Sandbox::new().run(&["providers"]);
    assert!(empty.stderr.contains("Error: No configuration files"), "{}", empty.stderr);
}

#[test]
fn schemas_are_for_machines() {
    let sandbox = Sandbox::new().file("main.tf", "resource \"null_resource\" \"x\" {\n}\n");
    sandbox.run(&["providers", "schema"]).is(expect![[r#"
        exit code 1
        ----- stderr

        Error: The `groma providers schema` command requires the `-json` flag.
    "#]]);
    let outcome = sandbox.run(&["providers", "schema", "-json"]);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let null = &json["provider_schemas"]["registry.opentofu.org/hashicorp/null"];
    assert_eq!(null["resource_schemas"]["null_resource"]["block"]["attributes"]["id"]["computed"], true);
}

#[test]
fn schemas_need_an_installation() {
    let config = "terraform {\n  required_providers {\n    thing = {\n      source = \"example.com/acme/thing\"\n    }\n  }\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config);
    sandbox.run(&["providers", "schema", "-json"]).is(expect![[r#"
        exit code 1
        ----- stderr

        Error: Inconsistent dependency lock file

        The following dependency selections recorded in the lock file are
        inconsistent with the current configuration:
          - provider example.com/acme/thing: required by this configuration but no version is selected

        To make the initial dependency selections that will initialize the
        dependency lock file, run:
          groma init
    "#]]);
    let lock = "provider \"example.com/acme/thing\" {\n  version = \"1.0.0\"\n}\n";
    let outcome = sandbox.file(".terraform.lock.hcl", lock).run(&["providers", "schema", "-json"]);
    assert!(outcome.stderr.contains("Error: Required plugins are not installed"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("there is no package for example.com/acme/thing 1.0.0"), "{}", outcome.stderr);
}

#[test]
fn what_is_not_there_is_missing() {
    let sandbox = Sandbox::new().file("main.tf", "resource \"thing_x\" \"y\" {\n}\n");
    sandbox.run(&["validate"]).is(expect![[r#"
        exit code 1
        ----- stderr

        Error: Missing required provider

        This configuration requires provider registry.opentofu.org/hashicorp/thing,
        but that provider isn't available. You may be able to install it
        automatically by running:
          groma init
    "#]]);
}

#[test]
fn built_in_providers_check_configurations_without_init() {
    let sandbox = Sandbox::new().file(
        "main.tf",
        "resource \"random_string\" \"x\" {\n  length = 0\n}\n\nresource \"random_pet\" \"y\" {\n  lenght = 2\n}\n\noutput \"z\" {\n  value = random_string.x.nope\n}\n",
    );
    sandbox.run(&["validate"]).is(expect![[r#"
        exit code 1
        ----- stderr

        Error: Invalid Attribute Value

          with random_string.x,
          on main.tf line 2, in resource "random_string" "x":
           2:   length = 0

        Attribute length value must be at least 1, got: 0

        Error: Unsupported argument

          with random_pet.y,
          on main.tf line 6, in resource "random_pet" "y":
           6:   lenght = 2

        An argument named "lenght" is not expected here. Did you mean "length"?
    "#]]);
    let never = Sandbox::new().file("main.tf", "resource \"random_pet\" \"y\" {\n}\n").env("GROMA_BUILTIN", "never");
    assert!(never.run(&["validate"]).stderr.contains("Error: Missing required provider"));
}

#[test]
fn hashes_are_locked_without_installing() {
    let config = "terraform {\n  required_providers {\n    thing = {\n      source = \"example.com/acme/thing\"\n    }\n  }\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config).mirror(&[("example.com/acme/thing", "1.0.0")]);
    sandbox.run(&["providers", "lock", "-fs-mirror=mirror"]).is(expect![[r#"
        exit code 0
        ----- stdout
        - Fetching example.com/acme/thing 1.0.0 for PLATFORM...
        - Retrieved example.com/acme/thing 1.0.0 for PLATFORM (unauthenticated)
        - Obtained example.com/acme/thing checksums for PLATFORM; This was a new provider and the checksums for this platform are now tracked in the lock file

        Success! groma has updated the lock file.

        Review the changes in .terraform.lock.hcl and then commit to your
        version control system to retain the new checksums.

    "#]]);
    expect![[r##"
        # This file is maintained automatically by "tofu init".
        # Manual edits may be lost in future updates.

        provider "example.com/acme/thing" {
          version = "1.0.0"
          hashes = [
            "h1:pKsPLjude1Vt1Q/MO4AwHzzHoEdPTnwhQTr9hnUj+7A=",
          ]
        }
    "##]]
    .assert_eq(&sandbox.read(".terraform.lock.hcl"));
    assert!(!sandbox.exists(".terraform"));
    sandbox.run(&["providers", "lock", "-fs-mirror=mirror"]).is(expect![[r#"
        exit code 0
        ----- stdout
        - Fetching example.com/acme/thing 1.0.0 for PLATFORM...
        - Retrieved example.com/acme/thing 1.0.0 for PLATFORM (unauthenticated)
        - Obtained example.com/acme/thing checksums for PLATFORM; All checksums for this platform were already tracked in the lock file

        Success! groma has validated the lock file and found no need for changes.
    "#]]);
    sandbox.run(&["providers", "lock", "-platform=nonsense", "example.com/acme/other"]).is(expect![[r#"
        exit code 1
        ----- stderr

        Error: Invalid target platform

        The string "nonsense" given in the -platform option is not a valid target
        platform: must be two words separated by an underscore.

        Error: Invalid provider argument

        The provider example.com/acme/other is not required by the current
        configuration.
    "#]]);
}
