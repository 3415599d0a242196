//! Runs the suite in `tests/lang`: files of the language that say what each expression is worth. See the README there.
//!
//! `UPDATE=1 cargo test -p groma-lang --test lang` writes what is found into the files; read the diff before you believe it.

#[path = "lang/annotate.rs"]
mod annotate;
#[path = "lang/outside.rs"]
mod outside;
#[path = "lang/section.rs"]
mod section;

use std::fs;
use std::path::{Path, PathBuf};

use section::Section;

fn suite_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lang")
}

fn suite_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(suite_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "tf") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn language_suite() {
    #[expect(clippy::disallowed_methods, reason = "a test has no edge above it")]
    let update = std::env::var_os("UPDATE").is_some();
    let mut failures = Vec::new();
    let mut assertions = 0;
    for path in suite_files(&suite_dir()) {
        let text = fs::read_to_string(&path).unwrap();
        let (sections, intro) = Section::split(&text);
        let mut updated = intro;
        for section in &sections {
            let run = section.run();
            assertions += run.found.iter().map(annotate::Found::assertions).sum::<usize>();
            let wanted = annotate::write(section, &run);
            if wanted != section.text && !update {
                let name = path.file_name().unwrap().to_string_lossy();
                let difference = annotate::difference(&section.text, &wanted);
                failures.push(format!("{name}, section {:?}:\n{difference}", section.name));
            }
            updated.push_str(&wanted);
        }
        if update && updated != text {
            fs::write(&path, updated).unwrap();
        }
    }
    assert!(failures.is_empty(), "{} sections differ:\n\n{}", failures.len(), failures.join("\n"));
    assert!(assertions > 100, "the suite is missing");
}
