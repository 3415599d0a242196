//! The operator on a real cluster, as people use it: they write Stacks, and look at what comes of them. Every test has a namespace and an
//! operator of its own, which it can kill and start again. Pods run on a node in `operator_jobs.rs`.
//!
//! Where what is: a Stack from its beginning to its end in `stacks`; what goes into it, and what comes out of it, in `inputs` and `parity`; other
//! engines in `engines`; the limitations of the document that this began with in `limitations`, its kind in `kind` and `simple`; the traps of others, by
//! their numbers, in `traps`; who may do and see what in `security` and `rights`, and where it connects to in `networks`; what fails around it in `faults`
//! and `storms`, and where it itself is killed in `kills` and `restarts`; that nobody hears anything while all is well in `quiet`; what others see of it
//! in `traces`; namespaces that are deleted with Stacks in them in `endings`; every field of the kinds, wrong and right again, in `fields`, and what else
//! they do in `honoured`; when runs begin in `turns`; objects of tofu-controller in `tofu`; the page of the manual in `page`; objects that a state does
//! not know in `tickets`, and others who write it, or lose it, in `writers`.
//!
//! `cargo xtask test` says where the programs of the clusters are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/api.rs"]
mod api;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "traces/collector.rs"]
mod collector;
#[path = "operator/endings.rs"]
mod endings;
#[path = "operator/engines.rs"]
mod engines;
#[path = "operator/faults.rs"]
mod faults;
#[path = "operator/fields.rs"]
mod fields;
#[path = "operator/honoured.rs"]
mod honoured;
#[path = "operator/hook.rs"]
mod hook;
#[path = "operator/inputs.rs"]
mod inputs;
#[path = "operator/kills.rs"]
mod kills;
#[path = "operator/kind.rs"]
mod kind;
#[path = "operator/limitations.rs"]
mod limitations;
#[path = "operator/networks.rs"]
mod networks;
#[path = "operator/page.rs"]
mod page;
#[path = "operator/parity.rs"]
mod parity;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/proxy.rs"]
mod proxy;
#[path = "operator/quiet.rs"]
mod quiet;
#[path = "operator/recovery.rs"]
mod recovery;
#[path = "operator/restarts.rs"]
mod restarts;
#[path = "operator/rights.rs"]
mod rights;
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
#[path = "operator/storms.rs"]
mod storms;
#[path = "operator/tickets.rs"]
mod tickets;
#[path = "operator/tofu.rs"]
mod tofu;
#[path = "operator/traces.rs"]
mod traces;
#[path = "operator/traps.rs"]
mod traps;
#[path = "operator/turns.rs"]
mod turns;
#[path = "operator/writers.rs"]
mod writers;
