//! A plugin that fails, at every call and at every moment of it: there is always an outcome, in time, and no process is
//! left. The plugins are those of `tests/providers`; `cargo xtask test` says where they are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod calls;
mod host;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../fixtures/kit.rs"]
mod kit;
mod left;
mod matrix;
mod start;
