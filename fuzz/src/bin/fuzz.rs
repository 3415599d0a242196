//! The binary that libFuzzer drives. `GROMA_FUZZ_TARGET` names the target, or is `list`.

#![no_main]
#![expect(clippy::print_stdout, clippy::exit, clippy::disallowed_methods, reason = "libFuzzer owns `main`")]

use std::sync::OnceLock;

use groma_fuzz::{TARGETS, Target};

static CHOSEN: OnceLock<Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: choose(),
    |data: &[u8]| {
        if let Some(target) = CHOSEN.get() {
            (target.run)(data);
        }
    }
);

/// Picks the target before libFuzzer reads its own arguments.
fn choose() {
    let wanted = std::env::var("GROMA_FUZZ_TARGET").unwrap_or_default();
    if wanted == "list" {
        for target in TARGETS {
            println!("{}", target.name);
        }
        std::process::exit(0);
    }
    let Some(target) = TARGETS.iter().find(|target| target.name == wanted) else {
        println!("GROMA_FUZZ_TARGET names no target: {wanted:?}");
        std::process::exit(2);
    };
    CHOSEN.get_or_init(|| *target);
}
