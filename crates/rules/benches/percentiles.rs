//! How long predicates take. One about a single value less than 10 microseconds as a rule, and none more than a millisecond, not even the
//! slowest of a hundred about a single value, or this fails.
//!
//! `--json` prints figures for machines, which judge themselves, and a word restricts it to those with it in their name.

#![allow(clippy::print_stdout, reason = "a bench reports")]

mod scene;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;

use scene::{Asked, Scene, large, small};

/// How often each predicate about a single value is asked.
const CALLS: usize = 100_000;
/// How often each of the others is.
const LARGE_CALLS: usize = 300;
/// What one about a single value takes at most, as a rule.
const SMALL_BAR: Duration = Duration::from_micros(10);
/// What none may take.
const BAR: Duration = Duration::from_millis(1);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    let filter = arguments.iter().find(|argument| !argument.starts_with("--"));
    let scene = Scene::new();
    let mut all_hold = true;
    let mut tell = |name: String, time: Duration, bar: Duration| {
        all_hold &= time <= bar;
        let (ms, limit) = (time.as_secs_f64() * 1e3, bar.as_secs_f64() * 1e3);
        if json {
            let figure = json!({ "name": name, "low": ms, "median": ms, "high": ms, "limit": limit });
            println!("{figure}");
        } else {
            println!("{name:<56} {ms:>9.4} ms <= {limit} {}", if time <= bar { "ok" } else { "MISSED" });
        }
    };
    let wanted = |asked: &Asked| filter.is_none_or(|filter| format!("predicate/{}", asked.name).contains(filter));
    for asked in small().iter().filter(|asked| wanted(asked)) {
        let (median, high) = taken(asked, &scene, CALLS);
        tell(format!("predicate/{} median", asked.name), median, SMALL_BAR);
        tell(format!("predicate/{} p99", asked.name), high, BAR);
    }
    for asked in large().iter().filter(|asked| wanted(asked)) {
        let (median, _) = taken(asked, &scene, LARGE_CALLS);
        tell(format!("predicate/{} median", asked.name), median, BAR);
    }
    if all_hold || json { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What half of all calls take at most, and 99 of 100.
fn taken(asked: &Asked, scene: &Scene, calls: usize) -> (Duration, Duration) {
    let case = scene.case();
    let mut times: Vec<Duration> = (0..calls)
        .map(|_| {
            #[expect(clippy::disallowed_methods, reason = "a bench measures")]
            let start = Instant::now();
            let found = black_box(asked.predicate.ask(&case, false));
            let time = start.elapsed();
            drop(found);
            time
        })
        .collect();
    times.sort_unstable();
    (times[calls / 2], times[calls / 100 * 99])
}
