//! Replays every seed and every input that once failed, without libFuzzer.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test stops at the first surprise, and names the file")]

use std::path::Path;

use groma_fuzz::TARGETS;

#[test]
fn every_target_has_seeds_and_they_hold() {
    for target in TARGETS {
        let count = replay("seeds", target.name, target.run);
        assert!(count > 0, "{} has no seeds", target.name);
    }
}

#[test]
fn inputs_that_once_failed_hold() {
    for target in TARGETS {
        replay("regressions", target.name, target.run);
    }
}

#[test]
fn every_folder_belongs_to_a_target() {
    for kind in ["seeds", "regressions", "dictionaries"] {
        for name in names(&Path::new(env!("CARGO_MANIFEST_DIR")).join(kind)) {
            let name = name.trim_end_matches(".dict");
            assert!(TARGETS.iter().any(|target| target.name == name), "{kind}/{name} has no target");
        }
    }
}

/// Runs one target on every file of its folder; says which file it is, should one fail.
fn replay(kind: &str, name: &str, run: fn(&[u8])) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(name);
    let files = names(&folder);
    for file in &files {
        println!("{kind}/{name}/{file}");
        run(&std::fs::read(folder.join(file)).unwrap());
    }
    files.len()
}

/// Names in a folder, sorted; none if there is no folder.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
