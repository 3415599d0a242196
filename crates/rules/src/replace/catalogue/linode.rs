//! What is known about the resource types of Linode.

use super::row::{Class, ROW, Row};

pub(super) const ROWS: &[Row] = &[Row {
    id: "linode.instance.label",
    resource: "linode_instance",
    classes: &[Class::Claim],
    triggers: &["root_pass"],
    claims: &[&["label"]],
    because: "Labels are unique in an account",
    symptom: "Label must be unique among your Linodes",
    suggestions: &["Give the new instance another label"],
    threads: &["pulumi/pulumi-linode#882", "linode/terraform-provider-linode#1839"],
    ..ROW
}];
