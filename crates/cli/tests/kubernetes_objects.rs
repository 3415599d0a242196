//! Objects on a real cluster, through the command line: the scenarios of the specification, by their numbers, which the tests name. All run
//! on two clusters that are started once: one where nothing happens by itself, so that a test does what a controller would, and one with
//! controllers. Pods run on neither.
//!
//! Not a step of `cargo xtask test` yet: run it by hand, with `eval "$(cargo xtask peers --env)"` and
//! `cargo test -p groma-cli --features peers --test kubernetes_objects`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[path = "kubernetes_objects/api.rs"]
mod api;
#[path = "kubernetes_objects/bad_input.rs"]
mod bad_input;
#[path = "kubernetes_objects/credentials.rs"]
mod credentials;
#[path = "kubernetes_objects/definitions.rs"]
mod definitions;
#[path = "kubernetes_objects/drift.rs"]
mod drift;
#[path = "kubernetes_objects/faults.rs"]
mod faults;
#[path = "kubernetes_objects/imports.rs"]
mod imports;
#[path = "kubernetes_objects/lifecycle.rs"]
mod lifecycle;
#[path = "kubernetes_objects/patches.rs"]
mod patches;
#[path = "kubernetes_objects/proxy.rs"]
mod proxy;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;
#[path = "kubernetes_objects/seeds.rs"]
mod seeds;
#[path = "kubernetes_objects/server.rs"]
mod server;
#[path = "kubernetes_objects/space.rs"]
mod space;
#[path = "kubernetes_objects/texts.rs"]
mod texts;
#[path = "kubernetes_objects/upgrades.rs"]
mod upgrades;
#[path = "kubernetes_objects/waits.rs"]
mod waits;
#[path = "kubernetes_objects/webhook.rs"]
mod webhook;
