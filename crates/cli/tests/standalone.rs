//! The operator without a cluster, as people use it: they write files, and look at what comes of them. Every test has a directory and an operator
//! of its own, which it can kill and start again.
//!
//! Where what is: a Stack from its beginning to its end in `lives`; what people write wrong in `mistakes`; operators that are killed, or that are two,
//! in `kills`; what commands do in `commands`; configurations in repositories in
//! `repositories`; the page of the manual in `page`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[path = "standalone/commands.rs"]
mod commands;
#[path = "standalone/kills.rs"]
mod kills;
#[path = "standalone/lives.rs"]
mod lives;
#[path = "standalone/mistakes.rs"]
mod mistakes;
#[path = "standalone/page.rs"]
mod page;
#[path = "standalone/repositories.rs"]
mod repositories;
#[path = "standalone/stage.rs"]
mod stage;
