//! Every kind of block, one at a time.

use groma_model::ty::Type;
use groma_model::value::Value;

use super::{check, check_main, load, module};
use crate::config::{IgnoreChanges, OnFailure, Parsing, Repetition, ResourceMode, When};

#[test]
fn variables_have_types_and_defaults() {
    let module = module(
        r#"
variable "a" {
  type        = object({ x = optional(number, 3), y = string })
  default     = { y = "z" }
  description = "what"
  nullable    = false
  sensitive   = true
}
variable "b" {}
variable "c" { type = bool }
"#,
    );
    let a = &module.variables["a"];
    let expected = Value::object([("x", Value::number(3)), ("y", Value::string("z"))]);
    assert_eq!(a.default, Some(expected));
    assert!(a.is_sensitive() && !a.is_nullable() && !a.is_ephemeral() && !a.is_required());
    assert_eq!(a.parsing(), Parsing::Expression);
    assert_eq!(module.variables["b"].constraint(), Type::Dynamic);
    assert_eq!(module.variables["b"].parsing(), Parsing::Literal);
    assert_eq!(module.variables["c"].parsing(), Parsing::Literal);
}

#[test]
fn variables_are_checked() {
    check_main(
        r#"
variable "1a" {}
variable "count" {}
variable "t" { type = "string" }
variable "d" {
  type    = number
  default = "x"
}
variable "n" {
  nullable = false
  default  = null
}
variable "v" {
  validation {
    condition     = true
    error_message = "x"
  }
}
variable "o" {
  type    = object({ a = string })
  default = { a = "1", b = "2" }
}
variable "f" { sensitive = var.t }
variable "dup" {}
variable "dup" {}
variable "e" { deprecated = " " }
"#,
        &[
            "error 2 Invalid variable name",
            "error 3 Invalid variable name",
            "error 4 Invalid quoted type constraints",
            "error 7 Invalid default value for variable",
            "error 11 Invalid default value for variable",
            "error 15 Invalid validation expression",
            "error 15 Invalid variable validation condition",
            "warning 21 Object attribute is ignored",
            "error 23 Variables not allowed",
            "error 25 Duplicate variable declaration",
            "error 26 Invalid `deprecated` value",
        ],
    );
}

#[test]
fn outputs_and_locals_are_checked() {
    check_main(
        r#"
output "a" {}
output "b" {
  value      = 1
  depends_on = ["terraform_data.x", 5]
  postcondition {
    condition     = true
    error_message = ""
  }
}
output "b" { value = 2 }
locals {
  x = 1
  y = 2
}
locals { x = 3 }
"#,
        &[
            "error 2 Missing required argument",
            "warning 5 Quoted references are deprecated",
            "error 5 Invalid expression",
            "error 6 Postconditions are not allowed",
            "error 11 Duplicate output definition",
            "error 16 Duplicate local value definition",
        ],
    );
}

#[test]
fn resources_are_decoded() {
    let module = module(
        r#"
resource "terraform_data" "a" {
  count    = 2
  input    = 1
  provider = terraform
  lifecycle {
    create_before_destroy = true
    ignore_changes        = [input, triggers_replace["a"]]
    replace_triggered_by  = [terraform_data.b[count.index].id]
    precondition {
      condition     = terraform_data.b[0].id != ""
      error_message = "no"
    }
  }
  provisioner "local-exec" {
    when       = destroy
    on_failure = continue
    command    = "echo ${self.id}"
  }
}
resource "terraform_data" "b" {
  for_each = {}
  lifecycle { ignore_changes = all }
}
data "terraform_remote_state" "c" {
  backend = "local"
  lifecycle { enabled = true }
}
"#,
    );
    let a = module.resource(ResourceMode::Managed, "terraform_data", "a").unwrap();
    assert!(matches!(a.repetition, Repetition::Count(_)));
    assert_eq!(a.managed.create_before_destroy, Some(true));
    assert!(matches!(&a.managed.ignore_changes, IgnoreChanges::Paths(paths) if paths.len() == 2));
    assert_eq!(a.managed.replace_triggered_by.len(), 1);
    assert_eq!(a.managed.provisioners[0].when, When::Destroy);
    assert_eq!(a.managed.provisioners[0].on_failure, OnFailure::Continue);
    assert!(a.provider.is_builtin());
    let b = module.resource(ResourceMode::Managed, "terraform_data", "b").unwrap();
    assert!(matches!(b.managed.ignore_changes, IgnoreChanges::All));
    let c = module.resource(ResourceMode::Data, "terraform_remote_state", "c").unwrap();
    assert!(matches!(c.repetition, Repetition::Enabled(_)));
}

#[test]
fn resources_are_checked() {
    check_main(
        r#"
resource "terraform_data" "a" {
  count    = 1
  for_each = {}
  lifecycle {
    enabled        = true
    ignore_changes = ["*"]
  }
  lifecycle {}
  locals {}
  provider = "terraform"
}
resource "terraform_data" "b" {
  lifecycle {
    replace_triggered_by = [var.x, terraform_data.a.id, each.value]
    precondition {
      condition     = terraform_data.b.id == ""
      error_message = "x"
    }
  }
  provisioner "chef" {}
  provisioner "local-exec" {
    when    = never
    command = "x"
  }
  provisioner "local-exec" {
    when    = destroy
    command = var.x
  }
}
data "terraform_remote_state" "c" {
  backend = "local"
  lifecycle { prevent_destroy = true }
}
ephemeral "x_y" "d" {
  lifecycle { ignore_changes = all }
  connection {}
}
resource "terraform_data" "b" {}
"#,
        &[
            "error 3 Invalid combination of \"count\", \"enabled\", and \"for_each\"",
            "error 7 Invalid ignore_changes wildcard",
            "error 9 Duplicate lifecycle block",
            "error 10 Reserved block type name in resource block",
            "warning 11 Quoted references are deprecated",
            "error 15 Invalid reference in replace_triggered_by expression",
            "error 15 Invalid replace_triggered_by expression",
            "error 15 Invalid each reference in replace_triggered_by expression",
            "error 15 Invalid replace_triggered_by expression",
            "error 17 Invalid reference in precondition",
            "error 21 The \"chef\" provisioner has been removed",
            "error 23 Invalid \"when\" keyword",
            "error 28 Invalid reference from destroy provisioner",
            "error 33 Invalid data resource lifecycle argument",
            "error 36 Invalid lifecycle configuration for ephemeral resource",
            "error 37 Invalid configuration block for ephemeral resource",
            "error 39 Duplicate resource \"terraform_data\" configuration",
        ],
    );
}

#[test]
fn escaping_blocks_give_arguments_back() {
    let module = module("resource \"terraform_data\" \"a\" {\n  _ {\n    count = 3\n  }\n}\n");
    let resource = module.resource(ResourceMode::Managed, "terraform_data", "a").unwrap();
    assert!(matches!(resource.repetition, Repetition::Once));
    let (attributes, _) = resource.config.just_attributes();
    assert_eq!(attributes[0].name.name, "count");
}

#[test]
fn refactoring_blocks_are_checked() {
    check_main(
        r#"
moved {
  from = terraform_data.a
  to   = module.b
}
moved {
  from = terraform_data.a[0]
  to   = module.b["x"].terraform_data.c
}
moved { from = ephemeral.x.y }
removed { from = terraform_data.z }
removed {
  from = terraform_data.y[0]
}
removed {
  from = data.x.y
}
import {
  to = terraform_data.w
}
import {
  to = terraform_data.w[each.key]
  id = "x"
  identity = {}
}
import {
  to = var.x["a"]
  id = "x"
}
import {
  to = upper("x")
  id = "x"
}
"#,
        &[
            "error 2 Invalid \"moved\" addresses",
            "error 10 Missing required argument",
            "error 10 Invalid \"moved\" address",
            "error 10 Invalid \"moved\" address",
            "warning 11 Missing lifecycle from the removed block",
            "error 13 Resource instance address with keys is not allowed",
            "error 16 Data source address is not allowed",
            "error 18 Missing required import argument",
            "error 23 Conflicting import arguments",
            "error 31 Invalid import address expression",
        ],
    );
}

#[test]
fn checks_are_decoded_and_checked() {
    check_main(
        r#"
check "a" {
  data "terraform_remote_state" "x" {
    backend = "local"
    count   = 1
  }
}
check "b" {
  assert {
    condition     = true
    error_message = "x"
  }
}
"#,
        &[
            "error 5 Invalid \"count\" attribute",
            "error 2 Zero assert blocks",
            "error 10 Invalid assert expression",
            "error 8 Zero assert blocks",
        ],
    );
    let (_, module, _) = load(&[(
        "main.tf",
        "check \"a\" {\n  data \"x_y\" \"z\" {}\n  assert {\n    condition = data.x_y.z.a\n    error_message = \"\"\n  }\n}\n",
    )]);
    let data = module.resource(ResourceMode::Data, "x_y", "z").unwrap();
    assert_eq!(data.check.as_deref(), Some("a"));
}

#[test]
fn settings_are_checked() {
    check_main(
        r#"
terraform {
  required_providers {
    a = { source = "x/y/z/w" }
    b = { version = "nope" }
    C = { source = "x/c" }
    d = { other = 1 }
    e = 5
  }
  backend "local" {}
  backend "s3" {}
  provider_meta "x" { a = var.b }
}
required_providers {}
provider "x" {
  alias   = "1"
  count   = 1
  version = "1.0"
  lifecycle {}
}
language { edition = tofu3000 }
"#,
        &[
            "error 4 Invalid provider source string",
            "error 5 Invalid version constraint",
            "error 6 Invalid provider local name",
            "error 7 Invalid required_providers object",
            "error 12 Variables not allowed",
            "error 14 Invalid required_providers block",
            "error Invalid provider configuration alias",
            "error 17 Reserved argument name in provider block",
            "warning 18 Version constraints inside provider configuration blocks are deprecated",
            "error 19 Reserved block type name in provider block",
            "error 21 Unsupported language edition",
            "error 11 Duplicate backend configuration",
        ],
    );
}

#[test]
fn encryption_is_decoded_and_checked() {
    let module = module(
        r#"
terraform {
  encryption {
    key_provider "pbkdf2" "k" { passphrase = "correct horse battery staple" }
    method "aes_gcm" "m" { keys = key_provider.pbkdf2.k }
    state {
      method   = method.aes_gcm.m
      enforced = true
      fallback {}
    }
  }
}
"#,
    );
    let encryption = module.encryption.unwrap();
    let state = encryption.state.unwrap();
    assert!(state.enforced && state.method.is_some() && state.fallback.is_some());
    check_main(
        "terraform {\n  encryption {\n    plan {}\n    plan {}\n    method \"a\" \"b\" {}\n    method \"a\" \"b\" {}\n  }\n}\n",
        &["error 4 Duplicate plan block", "error 2 Duplicate method", "error 2 Duplicate method"],
    );
}

#[test]
fn the_json_syntax_means_the_same() {
    let text = r#"{
  "variable": {"v": {"type": "list(string)", "default": ["a"]}},
  "resource": {"terraform_data": {"a": {
    "//": "a comment",
    "input": "${var.v[0]}",
    "depends_on": ["terraform_data.b"],
    "lifecycle": {"ignore_changes": ["input"], "replace_triggered_by": ["terraform_data.b.id"]}
  }, "b": {"lifecycle": {"ignore_changes": "all"}}}},
  "moved": [{"from": "terraform_data.x", "to": "terraform_data.a"}],
  "provider": {"terraform": [{"alias": "x"}]}
}"#;
    let (_, module, found) = load(&[("main.tf.json", text)]);
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(module.variables["v"].constraint(), Type::list(Type::String));
    let a = module.resource(ResourceMode::Managed, "terraform_data", "a").unwrap();
    assert_eq!(a.depends_on.len(), 1);
    assert_eq!(a.managed.replace_triggered_by.len(), 1);
    assert_eq!(module.moved[0].to.as_ref().unwrap().to_string(), "terraform_data.a");
    assert_eq!(module.provider_configs.keys().next().unwrap().to_string(), "terraform.x");
}

#[test]
fn a_version_that_does_not_fit_hides_everything_else() {
    let text = "terraform {\n  required_version = \">= 99\"\n}\nnonsense {}\n";
    check(&[("main.tofu", text)], &["error main.tofu:2 Incompatible module"]);
    check(
        &[("main.tf", text)],
        &["warning main.tf:2 Unsupported required_version", "error main.tf:4 Unsupported block type"],
    );
}
