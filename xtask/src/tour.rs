//! `cargo xtask tour`: the main jobs on examples, from nothing to nothing. First on the command line ([`command_line`]), then as people live with it
//! ([`kept`]): an operator keeps what a repository says, without a cluster. Works in copies, leaves nothing behind, and fails if a step does not come
//! out as it is told.

mod command_line;
mod kept;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::product;

/// How long all of it may take, once groma is built.
const MOST: Duration = Duration::from_mins(1);

/// Plan, apply, change and destroy an example; then have it kept: commit, plan, apply, drift, a wait that fails, its repair, the end.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Another groma than the one that is built for this.
    #[arg(long, value_name = "FILE")]
    groma: Option<PathBuf>,
}

/// Runs the tour.
pub(crate) fn run(args: &Args) -> Result<()> {
    let groma = match &args.groma {
        Some(groma) => std::path::absolute(groma)?,
        None => product::groma()?,
    };
    with(&groma)
}

/// The same with the groma that tests use.
pub(crate) fn step() -> Result<()> {
    with(&product::groma_for_tests()?)
}

fn with(groma: &Path) -> Result<()> {
    let begin = Instant::now();
    println!("\n━━ 1. On the command line ━━");
    command_line::run(groma)?;
    println!("\n━━ 2. Kept by the operator, without a cluster ━━");
    kept::run(groma)?;
    let took = begin.elapsed();
    println!("\nThat took {:.1} s. docs/book/src/standalone.md has more.", took.as_secs_f64());
    ensure!(took < MOST, "it must not take more than {} s", MOST.as_secs());
    Ok(())
}
