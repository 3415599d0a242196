//! The command line as people see it: what is printed where, and the exit code, in an environment of our own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_raw_string_hashes,
    reason = "tests may panic, and the tool that updates snapshots writes hashes"
)]

#[allow(dead_code, reason = "tests with plugins use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;

#[path = "cli/asking.rs"]
mod asking;
#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/console.rs"]
mod console;
#[path = "cli/environment.rs"]
mod environment;
#[path = "cli/fmt.rs"]
mod fmt;
#[path = "cli/general.rs"]
mod general;
#[path = "cli/init.rs"]
mod init;
#[path = "cli/modules.rs"]
mod modules;
#[path = "cli/operations.rs"]
mod operations;
#[path = "cli/pre_commit.rs"]
mod pre_commit;
#[path = "cli/providers.rs"]
mod providers;
#[path = "cli/testing.rs"]
mod testing;
#[path = "cli/validate.rs"]
mod validate;
