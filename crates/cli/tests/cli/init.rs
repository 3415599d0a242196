//! `groma init`.

use expect_test::expect;

use crate::sandbox::Sandbox;

const NEEDS_THING: &str = "\
terraform {
  required_providers {
    thing = {
      source  = \"example.com/acme/thing\"
      version = \"~> 1.0\"
    }
  }
}
";

#[test]
fn an_empty_directory() {
    Sandbox::new().run(&["init"]).is(expect![[r#"
        exit code 0
        ----- stdout
        groma initialized in an empty directory!

        The directory has no configuration files. You may begin working with groma
        immediately by creating configuration files.
    "#]]);
}

#[test]
fn providers_inside_groma_need_nothing_and_are_named() {
    let sandbox = Sandbox::new()
        .file(
            "main.tf",
            "resource \"random_id\" \"x\" {\n  byte_length = 4\n}\n\nmodule \"inner\" {\n  source = \"./inner\"\n}\n",
        )
        .file("inner/main.tf", "resource \"terraform_data\" \"y\" {\n}\n");
    let outcome = sandbox.run(&["init"]);
    assert!(outcome.stdout.contains("- Using built-in hashicorp/random v3."), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("- terraform.io/builtin/terraform is built in to groma"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("- inner in inner"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("groma has been successfully initialized!"), "{}", outcome.stdout);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    assert!(!sandbox.exists(".terraform.lock.hcl"), "built-in providers are never locked");
}

#[test]
fn what_is_built_in_must_fit_the_constraints() {
    let config = "terraform {\n  required_providers {\n    random = {\n      source  = \"hashicorp/random\"\n      version = \"~> 2.0\"\n    }\n  }\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config).mirror(&[("registry.opentofu.org/hashicorp/random", "2.3.0")]);
    let outcome = sandbox.run(&["init"]);
    assert!(outcome.stdout.contains("- Not using built-in hashicorp/random v3."), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("- Installed hashicorp/random v2.3.0 (unauthenticated)"), "{}", outcome.stdout);
    assert!(sandbox.read(".terraform.lock.hcl").contains("version     = \"2.3.0\""));
}

#[test]
fn the_user_decides_between_built_in_and_published() {
    let config =
        "terraform {\n  required_providers {\n    null = {\n      source = \"hashicorp/null\"\n    }\n  }\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config).mirror(&[("registry.opentofu.org/hashicorp/null", "3.1.0")]);
    let published = "- Installed hashicorp/null v3.1.0 (unauthenticated)";
    let built_in = "- Using built-in hashicorp/null v3.";
    assert!(sandbox.run(&["init"]).stdout.contains(built_in));
    assert!(sandbox.run(&["init", "-builtin=false"]).stdout.contains(published));
    // The lock file has an entry now, which decides.
    let again = sandbox.run(&["init"]);
    assert!(again.stdout.contains("- Using previously-installed hashicorp/null v3.1.0"), "{}", again.stdout);
    assert!(sandbox.run(&["init", "-builtin"]).stdout.contains(built_in));
    assert!(!sandbox.read(".terraform.lock.hcl").contains("hashicorp/null"));
}

#[test]
fn a_provider_is_installed_and_locked() {
    let sandbox = Sandbox::new().file("main.tf", NEEDS_THING).mirror(&[
        ("example.com/acme/thing", "1.2.0"),
        ("example.com/acme/thing", "1.10.0"),
        ("example.com/acme/thing", "2.0.0"),
    ]);
    sandbox.run(&["init"]).is(expect![[r#"
        exit code 0
        ----- stdout

        Initializing the backend...

        Initializing provider plugins...
        - Finding example.com/acme/thing versions matching "~> 1.0"...
        - Installing example.com/acme/thing v1.10.0...
        - Installed example.com/acme/thing v1.10.0 (unauthenticated)

        groma has created a lock file .terraform.lock.hcl to record the provider
        selections it made above. Include this file in your version control repository
        so that the same selections are made by default when you run "groma init" in
        the future.

        groma has been successfully initialized!

        You may now begin working with groma. If you ever set or change modules,
        providers or backend configuration, rerun this command to reinitialize your
        working directory. If you forget, other commands will detect it and remind you
        to do so if necessary.
        ----- stderr

        Warning: Incomplete lock file information for providers

        Due to your customized provider installation methods, lock file checksums
        had to be calculated locally for the following providers:
          - example.com/acme/thing

        The current .terraform.lock.hcl file only includes checksums for
        PLATFORM, so these providers cannot be installed on another platform.

        To calculate additional checksums for another platform, run:
          groma providers lock -platform=PLATFORM
        (where PLATFORM is the platform to generate)
    "#]]);
    expect![[r##"
        # This file is maintained automatically by "tofu init".
        # Manual edits may be lost in future updates.

        provider "example.com/acme/thing" {
          version     = "1.10.0"
          constraints = "~> 1.0"
          hashes = [
            "h1:LFlrxLVfhdneJtbugqXMsyR7kmHRDkfmfrcNnmZIT9Q=",
          ]
        }
    "##]]
    .assert_eq(&sandbox.read(".terraform.lock.hcl"));
    expect![[r#"
        .terraform
        .terraform.lock.hcl
        .terraform/providers
        .terraform/providers/example.com
        .terraform/providers/example.com/acme
        .terraform/providers/example.com/acme/thing
        .terraform/providers/example.com/acme/thing/1.10.0
        .terraform/providers/example.com/acme/thing/1.10.0/PLATFORM
        .terraform/providers/example.com/acme/thing/1.10.0/PLATFORM.lock
        .tofurc
        main.tf
    "#]]
    .assert_eq(&sandbox.files());
    sandbox.run(&["init"]).is(expect![[r#"
        exit code 0
        ----- stdout

        Initializing the backend...

        Initializing provider plugins...
        - Reusing previous version of example.com/acme/thing from the dependency lock file
        - Using previously-installed example.com/acme/thing v1.10.0

        groma has been successfully initialized!

        You may now begin working with groma. If you ever set or change modules,
        providers or backend configuration, rerun this command to reinitialize your
        working directory. If you forget, other commands will detect it and remind you
        to do so if necessary.
    "#]]);
    sandbox.run(&["version"]).is(expect![[r#"
        exit code 0
        ----- stdout
        groma v0.1.0
        on PLATFORM
        + provider example.com/acme/thing v1.10.0
    "#]]);
}

#[test]
fn a_locked_version_is_kept_until_upgraded() {
    let lock = "provider \"example.com/acme/thing\" {\n  version     = \"1.2.0\"\n  constraints = \"~> 1.0\"\n}\n";
    let sandbox = Sandbox::new()
        .file("main.tf", NEEDS_THING)
        .file(".terraform.lock.hcl", lock)
        .mirror(&[("example.com/acme/thing", "1.2.0"), ("example.com/acme/thing", "1.10.0")]);
    let kept = sandbox.run(&["init"]);
    assert!(kept.stdout.contains("- Installed example.com/acme/thing v1.2.0"), "{}", kept.stdout);
    let upgraded = sandbox.run(&["init", "-upgrade"]);
    assert!(upgraded.stdout.contains("- Installed example.com/acme/thing v1.10.0"), "{}", upgraded.stdout);
    assert!(upgraded.stdout.contains("groma has made some changes to the provider dependency selections"));
    assert!(sandbox.read(".terraform.lock.hcl").contains("1.10.0"));
}

#[test]
fn a_readonly_lock_file_stays_as_it_is() {
    let sandbox = Sandbox::new().file("main.tf", NEEDS_THING).mirror(&[("example.com/acme/thing", "1.2.0")]);
    sandbox.run(&["init", "-lockfile=readonly"]).is(expect![[r#"
        exit code 1
        ----- stdout

        Initializing the backend...

        Initializing provider plugins...
        ----- stderr

        Error: Provider dependency changes detected

        Changes to the required provider dependencies were detected, but the lock
        file is read-only. To use and record these requirements, run "groma init"
        without the "-lockfile=readonly" flag.

        These are required but not locked: example.com/acme/thing.
    "#]]);
    assert!(!sandbox.exists(".terraform.lock.hcl"));
    sandbox.run(&["init", "-upgrade", "-lockfile=readonly"]).is(expect![[r#"
        exit code 1
        ----- stdout

        Initializing the backend...
        ----- stderr
        The -upgrade flag conflicts with -lockfile=readonly.
    "#]]);
}

#[test]
fn a_version_that_nobody_has() {
    let sandbox = Sandbox::new().file("main.tf", NEEDS_THING).mirror(&[("example.com/acme/thing", "2.0.0")]);
    sandbox.run(&["init"]).is(expect![[r#"
        exit code 1
        ----- stdout

        Initializing the backend...

        Initializing provider plugins...
        - Finding example.com/acme/thing versions matching "~> 1.0"...
        ----- stderr

        Error: Failed to resolve provider packages

        Could not resolve provider example.com/acme/thing: no available releases
        match the given constraints ~> 1.0

        The newest versions are: 2.0.0.
    "#]]);
}

#[test]
fn a_provider_that_nobody_has() {
    let sandbox = Sandbox::new().file("main.tf", NEEDS_THING).mirror(&[]).file("mirror/x", "");
    let outcome = sandbox.run(&["init"]);
    assert!(outcome.stderr.contains("Error: Failed to query available provider packages"), "{}", outcome.stderr);
    // Where it was looked for is told.
    assert!(outcome.stderr.contains("/mirror"), "{}", outcome.stderr);
    assert_eq!(outcome.code, 1);
}

#[test]
fn backends_that_are_not_there_yet_are_not_pretended() {
    let sandbox = Sandbox::new().file("main.tf", "terraform {\n  backend \"gcs\" {\n  }\n}\n");
    sandbox.run(&["init"]).is(expect![[r#"
        exit code 1
        ----- stdout

        Initializing the backend...
        ----- stderr

        Error: Unsupported backend type

          on main.tf line 2, in terraform:
           2:   backend "gcs" {

        The backend "gcs" is not supported. Use s3, with the interoperability
        endpoint of Google Cloud Storage.

        Run "groma init -backend=false" to install modules and providers without it.
    "#]]);
    assert_eq!(sandbox.run(&["init", "-backend=false"]).code, 0);
}

#[test]
fn a_broken_configuration_is_said_to_be_broken() {
    Sandbox::new().file("main.tf", "module \"a\" {\n}\n").run(&["init"]).is(expect![[r#"
        exit code 1
        ----- stderr

        groma encountered problems during initialization, including problems
        with the configuration, described below.

        The configuration must be valid before initialization so that it is clear
        which modules and providers need to be installed.

        Error: Missing required argument

          on main.tf line 1, in module "a":
           1: module "a" {

        The argument "source" is required, but no definition was found.
    "#]]);
}

#[test]
fn mistakes_in_the_cli_configuration_are_told() {
    let sandbox = Sandbox::new().file("main.tf", "").file(".tofurc", "provider_installation {\n  magic {}\n}\n");
    let outcome = sandbox.run(&["init"]);
    assert!(outcome.stderr.contains("Error: Invalid provider_installation method block"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("2:3: unknown"), "{}", outcome.stderr);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
}

#[test]
fn development_overrides_are_told() {
    let config = "provider_installation {\n  dev_overrides {\n    \"example.com/acme/thing\" = \"build\"\n  }\n}\n";
    let sandbox = Sandbox::new().file("main.tf", NEEDS_THING).file(".tofurc", config);
    let outcome = sandbox.run(&["init"]);
    assert!(outcome.stdout.contains("- Using example.com/acme/thing from "), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("Warning: Provider development overrides are in effect"), "{}", outcome.stderr);
}

#[test]
fn machines_read_one_object_per_line() {
    let sandbox = Sandbox::new().file("main.tf", NEEDS_THING).mirror(&[("example.com/acme/thing", "1.2.0")]);
    let outcome = sandbox.run(&["init", "-json", "-json-into=log.json"]);
    assert_eq!(outcome.stdout, sandbox.read("log.json"));
    let mut messages = String::new();
    for line in outcome.stdout.lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(object["@timestamp"].as_str().unwrap().ends_with('Z'));
        messages.extend([object["@level"].as_str().unwrap(), " ", object["@message"].as_str().unwrap(), "\n"]);
    }
    expect![[r#"
        info groma 0.1.0
        info Initializing the backend...
        info Initializing provider plugins...
        info Finding example.com/acme/thing versions matching "~> 1.0"...
        info Installing example.com/acme/thing v1.2.0...
        info Installed example.com/acme/thing v1.2.0 (unauthenticated)
        info groma has created a lock file .terraform.lock.hcl to record the provider selections it made above. Include this file in your version control repository so that the same selections are made by default when you run "groma init" in the future.
        warn Warning: Incomplete lock file information for providers
        info groma has been successfully initialized!
        info You may now begin working with groma. If you ever set or change modules, providers or backend configuration, rerun this command to reinitialize your working directory. If you forget, other commands will detect it and remind you to do so if necessary.
    "#]].assert_eq(&messages);
}

#[test]
fn providers_of_the_state_are_installed_too() {
    let state = r#"{"version": 4, "terraform_version": "1.12.0", "serial": 1, "lineage": "x", "outputs": {}, "resources": [
        {"mode": "managed", "type": "thing_a", "name": "b", "provider": "provider[\"example.com/acme/thing\"]", "instances": []}]}"#;
    let sandbox = Sandbox::new()
        .file("main.tf", "")
        .file("terraform.tfstate", state)
        .mirror(&[("example.com/acme/thing", "1.2.0")]);
    let outcome = sandbox.run(&["init"]);
    assert!(
        outcome.stdout.contains("- Installed example.com/acme/thing v1.2.0"),
        "{} {}",
        outcome.stdout,
        outcome.stderr
    );
    let damaged = sandbox.file("terraform.tfstate", "");
    let outcome = damaged.run(&["init"]);
    assert!(outcome.stderr.contains("Error: Error loading state"), "{}", outcome.stderr);
    assert_eq!(outcome.code, 1);
}
