//! Override files: what they replace, and what they cannot.

use groma_model::value::Value;

use super::{check, load};
use crate::config::{Repetition, ResourceMode};

#[test]
fn overrides_replace_what_they_say() {
    let (_, module, found) = load(&[
        (
            "main.tf",
            r#"
variable "v" {
  type    = string
  default = "a"
}
locals { l = 1 }
output "o" { value = 1 }
resource "terraform_data" "r" {
  count = 1
  input = 1
  triggers_replace = 2
}
terraform {
  backend "local" {}
}
"#,
        ),
        (
            "main_override.tf",
            r#"
variable "v" { default = 5 }
locals { l = 2 }
output "o" { sensitive = true }
resource "terraform_data" "r" {
  for_each = {}
  input    = 3
}
terraform {
  cloud { organization = "x" }
}
provider "x" {}
"#,
        ),
    ]);
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(module.variables["v"].default, Some(Value::string("5")));
    assert!(module.outputs["o"].sensitive && module.outputs["o"].expr.is_some());
    let resource = module.resource(ResourceMode::Managed, "terraform_data", "r").unwrap();
    assert!(matches!(resource.repetition, Repetition::ForEach(_)));
    let (attributes, _) = resource.config.just_attributes();
    assert_eq!(attributes.len(), 2);
    assert!(module.backend.is_none() && module.cloud.is_some());
    assert_eq!(module.provider_configs.len(), 1);
}

#[test]
fn overrides_need_something_to_override() {
    check(
        &[
            ("main.tf", "variable \"v\" {\n  type = number\n  default = 1\n}\noutput \"o\" {\n  value = 1\n}\n"),
            (
                "override.tf",
                r#"
variable "w" {}
variable "v" { type = list(string) }
locals { l = 1 }
output "o" { depends_on = [terraform_data.x] }
output "p" {}
module "m" {}
resource "terraform_data" "r" {}
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
provider "x" { alias = "y" }
check "c" {}
"#,
            ),
        ],
        &[
            "error override.tf:14 Can't override check blocks",
            "error override.tf:13 Missing base provider configuration for override",
            "error override.tf:2 Missing base variable declaration to override",
            "error override.tf:3 Invalid default value for variable",
            "error override.tf:4 Missing base local value definition to override",
            "error override.tf:5 Unsupported override",
            "error override.tf:6 Missing base output definition to override",
            "error override.tf:7 Missing module call to override",
            "error override.tf:8 Missing resource to override",
            "error override.tf:9 Cannot override 'moved' blocks",
        ],
    );
}
