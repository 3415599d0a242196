//! What a file is that somebody takes for a plan. A glance at its beginning, for messages that help.

use super::container;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A plan of ours.
    GromaPlan,
    /// A plan of OpenTofu or Terraform.
    OtherPlan,
    /// A plan as JSON, from `show -json`.
    JsonPlan,
    /// The name of a plan that is kept elsewhere.
    RemotePlan,
    /// A plan that is encrypted.
    Encrypted,
    /// A state, encrypted or not.
    State,
    /// Nothing at all.
    Empty,
    /// Something else.
    Other,
}

/// What a file is, as far as its beginning tells.
pub fn recognise(bytes: &[u8]) -> FileKind {
    if let Some(ours) = container::is_ours(bytes) {
        return ours;
    }
    if bytes.is_empty() {
        return FileKind::Empty;
    }
    // Both other tools write a zip archive whose entry `tfplan` is the plan; before version 0.12 it was something else.
    let names_plan = || bytes.windows(b"tfplan".len()).any(|window| window == b"tfplan");
    if bytes.starts_with(b"tfplan") || (bytes.starts_with(b"PK") && names_plan()) {
        return FileKind::OtherPlan;
    }
    let start = bytes.trim_ascii_start();
    if !start.starts_with(b"{") {
        return FileKind::Other;
    }
    let Ok(json) = serde_json::from_slice::<serde_json::Value>(start) else { return FileKind::Other };
    let has = |name: &str| json.get(name).is_some();
    if has("remote_plan_format") {
        FileKind::RemotePlan
    } else if has("encrypted_data") {
        // Only of states it is known which they are.
        if has("lineage") || has("serial") { FileKind::State } else { FileKind::Encrypted }
    } else if has("planned_values") || has("resource_changes") {
        FileKind::JsonPlan
    } else if has("lineage") || has("serial") || has("values") {
        FileKind::State
    } else {
        FileKind::Other
    }
}

/// Why a file cannot be used as a plan, in a sentence.
pub(super) fn complaint(kind: FileKind) -> String {
    match kind {
        FileKind::OtherPlan => {
            "This is a plan file of OpenTofu or Terraform. Plan files cannot be carried from one tool to another; make a new plan \
             with \"groma plan -out=FILE\"."
        }
        FileKind::JsonPlan => {
            "This is a plan as JSON, which is for reading only. The plan file itself is what \"groma plan -out=FILE\" writes."
        }
        FileKind::RemotePlan => {
            "This file only names a plan that is kept elsewhere, by Terraform Cloud or the like. Make a new plan with \"groma \
             plan -out=FILE\"."
        }
        FileKind::Encrypted => {
            "The given plan file is encrypted and requires a valid encryption configuration to decrypt: the encryption block has \
             no target \"plan\", and neither has TF_ENCRYPTION."
        }
        FileKind::State => "This is a state file, not a plan file.",
        FileKind::Empty => "The file is empty. Perhaps the plan was interrupted, or the disk was full.",
        FileKind::GromaPlan | FileKind::Other => "The given file is not a valid plan file.",
    }
    .to_owned()
}
