//! How much more memory plans need with rules, at their peak. A program of its own, since counting takes time.
//!
//! `--json` prints figures for machines, which judge themselves, and a word restricts it to those with it in their name.

use std::process::ExitCode;

use anyhow::Result;
use groma_rulebench::figure::{Figure, Unit};
use groma_rulebench::pair::runtime;
use groma_rulebench::world::{Kind, Variant, World};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    let filter = arguments.iter().find(|argument| !argument.starts_with("--"));
    let mut all_hold = true;
    for (objects, size) in [(1_000, "1k"), (10_000, "10k")] {
        for (one_in, share, limit) in [(20, "p05", 1.02), (1, "p100", 1.1)] {
            let peak_of = |variant| peak(&World::new(Kind { variant, objects, one_in })?);
            let without = peak_of(Variant::None)?;
            for variant in [Variant::CatalogueNoMatch, Variant::Rules1, Variant::Rules8] {
                let name = format!("memory/{}/{size}/{share}", variant.name());
                if filter.is_some_and(|filter| !name.contains(filter.as_str())) {
                    continue;
                }
                let ratio = peak_of(variant)? / without;
                let limit = if variant == Variant::CatalogueNoMatch { 1.005 } else { limit };
                let figure = Figure::new(name, &[ratio], Unit::Ratio, limit);
                all_hold &= figure.holds();
                print(&if json { figure.to_json().to_string() } else { figure.to_string() });
            }
        }
    }
    Ok(if all_hold || json { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[expect(clippy::print_stdout, reason = "the result")]
fn print(line: &str) {
    println!("{line}");
}

/// What a plan needs at most beyond what is there before. The first one also makes what is made once.
fn peak(world: &World) -> Result<f64> {
    let runtime = runtime()?;
    drop(runtime.block_on(world.plan())?);
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let plan = runtime.block_on(world.plan())?;
    let peak = ALLOCATOR.peak_usage().saturating_sub(before);
    drop(plan);
    Ok(peak as f64)
}
