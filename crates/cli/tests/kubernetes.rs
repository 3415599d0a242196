//! Objects on a real cluster, through the command line: the scenarios of the specification, by their numbers, which the tests name. All run
//! on two clusters that are started once: one where nothing happens by itself, so that a test does what a controller would, and one with
//! controllers. Pods run on neither.
//!
//! `cargo xtask test` says where the programs of the clusters are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[path = "kubernetes/api.rs"]
mod api;
#[path = "kubernetes/bad_input.rs"]
mod bad_input;
#[path = "kubernetes/credentials.rs"]
mod credentials;
#[path = "kubernetes/definitions.rs"]
mod definitions;
#[path = "kubernetes/drift.rs"]
mod drift;
#[path = "kubernetes/faults.rs"]
mod faults;
#[path = "kubernetes/imports.rs"]
mod imports;
#[path = "kubernetes/lifecycle.rs"]
mod lifecycle;
#[path = "kubernetes/patches.rs"]
mod patches;
#[path = "kubernetes/proxy.rs"]
mod proxy;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;
#[path = "kubernetes/seeds.rs"]
mod seeds;
#[path = "kubernetes/server.rs"]
mod server;
#[path = "kubernetes/space.rs"]
mod space;
#[path = "kubernetes/texts.rs"]
mod texts;
#[path = "kubernetes/upgrades.rs"]
mod upgrades;
#[path = "kubernetes/waits.rs"]
mod waits;
#[path = "kubernetes/webhook.rs"]
mod webhook;
