//! Stacks on a real API server, without an operator: the kinds and what is refused of them, the chart, who may do what, who may agree to plans, and every
//! command of `groma stack` on objects that the tests write as the operator would.
//!
//! `cargo xtask test` says where the programs of the clusters are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/api.rs"]
mod api;
#[path = "operator_cli/chart.rs"]
mod chart;
#[path = "operator_cli/commands.rs"]
mod commands;
#[path = "operator_cli/installing.rs"]
mod installing;
#[path = "operator_cli/kinds.rs"]
mod kinds;
#[path = "operator_cli/pods.rs"]
mod pods;
#[path = "operator_cli/previews.rs"]
mod previews;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;
#[path = "operator_cli/team.rs"]
mod team;
#[path = "operator_cli/ways.rs"]
mod ways;
