//! The operator on a real cluster, as people use it: they write Stacks, and look at what comes of them. Every test has a namespace and an
//! operator of its own, which it can kill and start again. Pods run on a node in `operator_jobs.rs`.
//!
//! Where what is: a Stack from its beginning to its end in `stacks`; what goes into it, and what comes out of it, in `inputs`; the
//! limitations of the document that this began with in `limitations`; the traps of others, by their numbers, in `traps`; who may do and see what in
//! `security`; what fails around it in `faults`.
//!
//! `cargo xtask test` says where the programs of the clusters are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/api.rs"]
mod api;
#[path = "operator/faults.rs"]
mod faults;
#[path = "operator/inputs.rs"]
mod inputs;
#[path = "operator/limitations.rs"]
mod limitations;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/proxy.rs"]
mod proxy;
#[path = "operator/security.rs"]
mod security;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/server.rs"]
mod server;
#[path = "operator/simple.rs"]
mod simple;
#[path = "operator/stacks.rs"]
mod stacks;
#[path = "operator/stage.rs"]
mod stage;
#[path = "operator/traps.rs"]
mod traps;
