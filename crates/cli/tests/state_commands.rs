//! Commands that look into a state or change it without planning, and those that get tokens: what is printed, the exit code, and
//! what is in the files afterwards.

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

#[path = "state_commands/editing.rs"]
mod editing;
#[path = "state_commands/elsewhere.rs"]
mod elsewhere;
#[path = "state_commands/encryption.rs"]
mod encryption;
#[path = "state_commands/fixture.rs"]
mod fixture;
#[path = "state_commands/importing.rs"]
mod importing;
#[path = "state_commands/login.rs"]
mod login;
#[path = "state_commands/pushing.rs"]
mod pushing;
#[path = "state_commands/recovering.rs"]
mod recovering;
#[path = "state_commands/showing.rs"]
mod showing;
#[path = "state_commands/workspaces.rs"]
mod workspaces;
