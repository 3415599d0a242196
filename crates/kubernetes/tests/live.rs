//! The provider against a real API server with its controllers, driven as an engine drives it. Every test has a
//! namespace of its own.

#![cfg(feature = "peers")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

#[path = "live/cluster.rs"]
mod cluster;
#[path = "live/driver.rs"]
mod driver;
#[path = "live/ignoring.rs"]
mod ignoring;
#[path = "live/moving.rs"]
mod moving;
#[path = "live/objects.rs"]
mod objects;
#[path = "live/patches.rs"]
mod patches;
#[path = "live/sets.rs"]
mod sets;
