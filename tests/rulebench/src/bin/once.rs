//! One plan, and nothing else: prints how many milliseconds this thread worked for it.
//!
//! To be counted or looked into from outside, too: `valgrind --tool=callgrind groma-rulebench-once rules_8 1000 1 1` has the instructions of
//! one plan of 1,000 objects with eight rules where every resource is replaced. With 0 as the last word it is none, and the difference of
//! both is what a plan takes. No clock is asked then: the page of the system that has it is not there in such a machine.

use anyhow::{Context as _, Result};
use groma_rulebench::pair::{clock, runtime};
use groma_rulebench::world::{Kind, Variant, World};

const USAGE: &str = "usage: groma-rulebench-once VARIANT OBJECTS ONE_IN [TIMES]";

#[expect(clippy::print_stdout, reason = "the result")]
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).map(|text| text.parse::<usize>().context(USAGE));
    let variant = arguments.first().and_then(|name| Variant::named(name)).context(USAGE)?;
    let kind = Kind { variant, objects: number(1).context(USAGE)??, one_in: number(2).context(USAGE)?? };
    let world = World::new(kind)?;
    let runtime = runtime()?;
    let Some(times) = number(3).transpose()? else {
        let start = clock();
        let plan = runtime.block_on(world.plan())?;
        println!("{:.4}", clock() - start);
        // What it takes to take a plan apart is not part of making it.
        std::mem::forget(plan);
        return Ok(());
    };
    for _ in 0..times {
        std::mem::forget(runtime.block_on(world.plan())?);
    }
    Ok(())
}
