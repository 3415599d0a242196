//! Objects whose pods really run, or fail to, on a cluster with a node: what `kubernetes.rs` tells with a status that the test writes is told
//! here by the kubelet. All tests share one cluster.
//!
//! Where the scenarios of the specification are: 36 and 42 in `rollouts`, `jobs` and `readiness`; 37 and 38 in `seeds`; what becomes of pods when
//! their owner is destroyed in `removals`. `compared` tells both seeds under Terraform and OpenTofu too, and prints what was different.
//!
//! `cargo xtask test` says where the programs are, and the plugin is built before (`GROMA_PROVIDER_K8SCONNECT`, or beside groma).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/api.rs"]
mod api;
#[path = "kubernetes_pods/compared.rs"]
mod compared;
#[path = "kubernetes_pods/jobs.rs"]
mod jobs;
#[path = "kubernetes_pods/node.rs"]
mod node;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/proxy.rs"]
mod proxy;
#[path = "kubernetes_pods/readiness.rs"]
mod readiness;
#[path = "kubernetes_pods/removals.rs"]
mod removals;
#[path = "kubernetes_pods/rollouts.rs"]
mod rollouts;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;
#[path = "kubernetes_pods/seeds.rs"]
mod seeds;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/space.rs"]
mod space;
#[path = "kubernetes/tool.rs"]
mod tool;
