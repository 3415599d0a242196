//! Plans with and without rules in turns, so that what else the machine does hits them alike.
//!
//! Each is made by a process of its own, as a plan of a user is. In one process it would find the heap as others have left it, with holes
//! wherever something was kept: that costs several hundredths of the time, and no user has it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::{Builder, Runtime};

use crate::world::{Kind, World, replaced};

/// The program that makes plans and says how long each took.
const ONCE: &str = "groma-rulebench-once";

/// What this thread has worked so far, in milliseconds: waiting for a core does not count.
pub fn clock() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

/// One on which everything happens on this thread.
pub fn runtime() -> Result<Runtime> {
    Ok(Builder::new_current_thread().build()?)
}

/// How long a plan takes.
fn time(kind: Kind) -> Result<f64> {
    let program: PathBuf = std::env::current_exe()?.with_file_name(ONCE);
    let Kind { variant, objects, one_in } = kind;
    let mut command = Command::new(&program);
    command.args([variant.name(), &objects.to_string(), &one_in.to_string()]);
    let output = command.output().with_context(|| format!("{ONCE} is built with the package; it makes the plans"))?;
    if !output.status.success() {
        bail!("{ONCE}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let said = String::from_utf8(output.stdout)?;
    said.trim().parse().with_context(|| format!("{ONCE} said {said:?}"))
}

/// Times of all kinds, in rounds: forwards and backwards, so that a drift is the same for all.
pub fn times(kinds: &[Kind], rounds: usize) -> Result<Vec<Vec<f64>>> {
    let mut times = vec![Vec::new(); kinds.len()];
    for _ in 0..rounds {
        let mut round = vec![0.0; kinds.len()];
        for at in (0..kinds.len()).chain((0..kinds.len()).rev()) {
            round[at] += time(kinds[at])? / 2.0;
        }
        times.iter_mut().zip(round).for_each(|(times, time)| times.push(time));
    }
    Ok(times)
}

/// Fails unless a plan of the world replaces so many, and creates so many of them first: what is measured must be what was meant.
pub fn expect(kind: Kind, wanted: (usize, usize)) -> Result<()> {
    let found = replaced(&runtime()?.block_on(World::new(kind)?.plan())?);
    if found == wanted {
        return Ok(());
    }
    bail!("{found:?} objects are replaced and created first, not {wanted:?}")
}
