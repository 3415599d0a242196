//! Rules about the order of replacements, as users meet them: how they are tried, what is told, what is logged, and what machines read.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_raw_string_hashes,
    reason = "tests may panic, and the tool that updates snapshots writes hashes"
)]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;

#[path = "rules/kept.rs"]
mod kept;
#[path = "rules/logged.rs"]
mod logged;
#[path = "rules/page.rs"]
mod page;
#[path = "rules/published.rs"]
mod published;
#[path = "rules/said.rs"]
mod said;
#[path = "rules/secrets.rs"]
mod secrets;
#[path = "rules/told.rs"]
mod told;
#[path = "rules/tried.rs"]
mod tried;

/// Something that is replaced by every release, and made first.
const RELEASED: &str = r#"
variable "release" {
  default = "1"
}

resource "terraform_data" "web" {
  triggers_replace = var.release

  lifecycle {
    create_before_destroy = true
  }
}
"#;
