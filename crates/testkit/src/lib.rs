//! For tests only: a simulated [`cloud`] that enforces its rules, the provider of it ([`simulator`]), working directories in memory
//! ([`workspace`]), and random configurations with random edits ([`configuration`], [`edit`]). Nothing here touches a disk or a network.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "it serves tests, which may panic")]

pub mod chance;
pub mod cloud;
pub mod configuration;
pub mod edit;
pub mod servers;
pub mod simulator;
pub mod workspace;
pub mod writing;
