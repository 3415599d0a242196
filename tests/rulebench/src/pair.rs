//! Plans with and without rules in turns, so that what else the machine does hits them alike.

use std::hint::black_box;

use anyhow::{Result, bail};
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::{Builder, Runtime};

use crate::world::{World, replaced};

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
fn time(world: &World, runtime: &Runtime) -> Result<f64> {
    let start = clock();
    let plan = black_box(runtime.block_on(world.plan())?);
    let time = clock() - start;
    drop(plan);
    Ok(time)
}

/// Times of all worlds, in rounds: forwards and backwards, so that a drift is the same for all.
pub fn times(worlds: &[World], rounds: usize) -> Result<Vec<Vec<f64>>> {
    let runtime = runtime()?;
    let mut times = vec![Vec::new(); worlds.len()];
    for world in worlds {
        time(world, &runtime)?;
    }
    for _ in 0..rounds {
        let mut round = vec![0.0; worlds.len()];
        for at in (0..worlds.len()).chain((0..worlds.len()).rev()) {
            // Each finds what it left itself, and not what another one did: otherwise those at the ends would be faster, which follow themselves.
            time(&worlds[at], &runtime)?;
            round[at] += time(&worlds[at], &runtime)? / 2.0;
        }
        times.iter_mut().zip(round).for_each(|(times, time)| times.push(time));
    }
    Ok(times)
}

/// Fails unless a plan of the world replaces so many, and creates so many of them first: what is measured must be what was meant.
pub fn expect(world: &World, wanted: (usize, usize)) -> Result<()> {
    let found = replaced(&runtime()?.block_on(world.plan())?);
    if found == wanted {
        return Ok(());
    }
    bail!("{found:?} objects are replaced and created first, not {wanted:?}")
}
