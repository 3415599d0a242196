//! What is known about the resource types of the provider of local files.

use super::row::{Class, ROW, Row};

const LOCAL_FILE: Row = Row {
    id: "local.file",
    resource: "local_file",
    classes: &[Class::Link],
    triggers: &["content", "file_permission", "directory_permission"],
    links: &[&["filename"]],
    because: "A file is where it is: written again first, it is deleted afterwards",
    symptom: "the file is gone after the apply",
    suggestions: &["Remove create_before_destroy from the file", "Write the new content to another file"],
    threads: &["hashicorp/terraform-provider-local#146"],
    ..ROW
};

pub(super) const ROWS: &[Row] =
    &[LOCAL_FILE, Row { id: "local.sensitive_file", resource: "local_sensitive_file", ..LOCAL_FILE }];
