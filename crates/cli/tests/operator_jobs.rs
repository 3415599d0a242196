//! Runs in Jobs, in pods that really run on a node, with no rights but those of the account of their namespace. The pods have groma from this
//! machine, since no image is built for tests.
//!
//! `cargo xtask test` says where the programs of the cluster are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/api.rs"]
mod api;
#[path = "operator_jobs/honoured.rs"]
mod honoured;
#[path = "operator_jobs/jobs.rs"]
mod jobs;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "operator/kind.rs"]
mod kind;
#[path = "operator_jobs/simple.rs"]
mod simple;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "operator/stage.rs"]
mod stage;
