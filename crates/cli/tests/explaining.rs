//! Commands that say what a plan does and why: `explain` and `graph`, on plans that are made for them and on saved ones.

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

#[path = "explaining/drawn.rs"]
mod drawn;
#[path = "explaining/explained.rs"]
mod explained;
