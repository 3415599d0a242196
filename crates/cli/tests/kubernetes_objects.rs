//! Objects on a real cluster, through the command line: the scenarios of the specification, by their numbers, which the tests name. All run
//! on two clusters that are started once: one where nothing happens by itself, so that a test does what a controller would, and one with
//! controllers. Pods run on neither. `kubernetes_plugin.rs` tells the same stories with the plugin.
//!
//! Where the scenarios are: 1, 5 to 16 and 48 in `lifecycle`; 2 to 4 and 34 in `credentials`; 17 to 29 in `drift`; 30 to 33 in `definitions`; 35
//! in `imports`; 36 to 42 in `waits`; 43 to 45 in `patches`; 46 in `texts`; 47 in `upgrades`. Beside them: both seeds in `seeds`, a cluster that
//! is busy or away in `faults`, and what makes no sense in `bad_input`.
//!
//! What is not here, and why: clusters of clouds that are made by the same apply (4: only their address that is not known yet), approval of
//! risky replacements (11: the plan says what is lost, and protection forbids it), pods that really run or fail to (36, 38: their status is
//! written by the test), the real kustomize (46: a program that stands for it).
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
#[path = "kubernetes/identities.rs"]
mod identities;
#[path = "kubernetes/imports.rs"]
mod imports;
#[path = "kubernetes/lifecycle.rs"]
mod lifecycle;
#[path = "kubernetes/patches.rs"]
mod patches;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/proxy.rs"]
mod proxy;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;
#[path = "kubernetes/scenarios.rs"]
mod scenarios;
#[path = "kubernetes/seeds.rs"]
mod seeds;
#[path = "kubernetes/server.rs"]
mod server;
#[path = "kubernetes/space.rs"]
mod space;
#[path = "kubernetes/texts.rs"]
mod texts;
#[path = "kubernetes/tool.rs"]
mod tool;
#[path = "kubernetes/tunnel.rs"]
mod tunnel;
#[path = "kubernetes/upgrades.rs"]
mod upgrades;
#[path = "kubernetes/waits.rs"]
mod waits;
#[path = "kubernetes/webhook.rs"]
mod webhook;

#[test]
fn every_scenario_is_told() {
    scenarios::all_are_told(&[
        include_str!("kubernetes/credentials.rs"),
        include_str!("kubernetes/definitions.rs"),
        include_str!("kubernetes/drift.rs"),
        include_str!("kubernetes/imports.rs"),
        include_str!("kubernetes/lifecycle.rs"),
        include_str!("kubernetes/patches.rs"),
        include_str!("kubernetes/texts.rs"),
        include_str!("kubernetes/upgrades.rs"),
        include_str!("kubernetes/waits.rs"),
    ]);
}
