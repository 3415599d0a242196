//! The formatting corpus: every file given to `fmt -`. The results must be equal byte for byte;
//! what one rejects, the other must reject.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::answers::{self, Answers};
use super::program::{Program, Run};
use super::{Case, Outcome, Programs, corpus, pool, scratch};

/// Compares all files whose id contains the filter.
pub(super) fn compare(programs: &Programs, kept: &mut Answers, filter: &str) -> Result<Vec<Case>> {
    let mut files = corpus::entries("fmt")?;
    files.retain(|file| id(file).contains(filter));
    let tofu = format_all(&programs.tofu, &files, kept)?;
    let groma = format_all(&programs.groma, &files, kept)?;
    let terraform = programs.terraform.as_ref().map(|program| format_all(program, &files, kept)).transpose()?;
    let mut terraform = terraform.map(Vec::into_iter);
    let mut cases = Vec::new();
    for ((file, groma), tofu) in files.iter().zip(groma).zip(tofu) {
        let terraform = terraform.as_mut().and_then(Iterator::next);
        cases.push(Case { id: id(file), groma, tofu, terraform });
    }
    Ok(cases)
}

fn id(file: &Path) -> String {
    format!("fmt/{}", corpus::name_of(file))
}

fn format_all(program: &Program, files: &[PathBuf], kept: &mut Answers) -> Result<Vec<Outcome>> {
    let keyed: Vec<(String, Vec<u8>)> = files
        .iter()
        .map(|file| {
            let source = std::fs::read(file)?;
            Ok((answers::key(program, &[b"fmt", &source]), source))
        })
        .collect::<Result<_>>()?;
    let known = |key: &str| if program.keep_answers { kept.get(key).map(str::to_owned) } else { None };
    let results = pool::map(&keyed, |_, (key, source)| match known(key) {
        Some(answer) => Ok(answer),
        None => Ok(answer(&program.run(&scratch::root()?, &["fmt", "-"], source)?)),
    })?;
    if program.keep_answers {
        for ((key, _), answer) in keyed.into_iter().zip(&results) {
            kept.put(key, answer.clone());
        }
    }
    Ok(results.into_iter().map(|verdict| Outcome { verdict, detail: String::new() }).collect())
}

/// The formatted text with everything visible that an eye would miss, or that it was rejected.
fn answer(run: &Run) -> String {
    match run.code {
        Some(0) => run.text().replace('\r', "␍").replace('\t', "␉").replace('\u{feff}', "<BOM>"),
        // Which exit code says "not valid" is left to each program.
        Some(1 | 2) => "rejected".to_owned(),
        _ => run.failure(),
    }
}
