//! The validation corpus: every module given to `validate -json`. The verdict must be the same, and
//! so must severity, file and line of each diagnostic; summaries are compared for information.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;

use super::answers::{self, Answers};
use super::program::{Program, Run};
use super::{Case, Outcome, Programs, corpus, pool, scratch};

/// Between the verdict and the detail in a kept answer.
const SEPARATOR: &str = "\n====\n";

/// Compares all modules whose id contains the filter.
pub(super) fn compare(programs: &Programs, kept: &mut Answers, filter: &str) -> Result<Vec<Case>> {
    let mut modules = corpus::entries("validate")?;
    modules.retain(|module| module.is_dir() && id(module).contains(filter));
    let tofu = validate_all(&programs.tofu, &modules, kept)?;
    let groma = validate_all(&programs.groma, &modules, kept)?;
    let terraform = programs.terraform.as_ref().map(|program| validate_all(program, &modules, kept)).transpose()?;
    let mut terraform = terraform.map(Vec::into_iter);
    let mut cases = Vec::new();
    for ((module, groma), tofu) in modules.iter().zip(groma).zip(tofu) {
        let terraform = terraform.as_mut().and_then(Iterator::next);
        cases.push(Case { id: id(module), groma, tofu, terraform });
    }
    Ok(cases)
}

fn id(module: &Path) -> String {
    format!("validate/{}", corpus::name_of(module))
}

fn validate_all(program: &Program, modules: &[PathBuf], kept: &mut Answers) -> Result<Vec<Outcome>> {
    let keyed: Vec<(String, &PathBuf)> = modules
        .iter()
        .map(|module| {
            let tree = answers::hash_tree(module)?;
            Ok((answers::key(program, &[b"validate", tree.as_bytes()]), module))
        })
        .collect::<Result<_>>()?;
    let known = |key: &str| if program.keep_answers { kept.get(key).map(str::to_owned) } else { None };
    let results = pool::map(&keyed, |_, (key, module)| match known(key) {
        Some(answer) => Ok(answer),
        None => validate(program, module),
    })?;
    if program.keep_answers {
        for ((key, _), answer) in keyed.into_iter().zip(&results) {
            kept.put(key, answer.clone());
        }
    }
    Ok(results.iter().map(|answer| outcome(answer)).collect())
}

fn outcome(answer: &str) -> Outcome {
    let (verdict, detail) = answer.split_once(SEPARATOR).unwrap_or((answer, ""));
    Outcome { verdict: verdict.to_owned(), detail: detail.to_owned() }
}

fn validate(program: &Program, module: &Path) -> Result<String> {
    let dir = scratch::copy(module, program.name, "validate", &corpus::name_of(module))?;
    program.prepare(&dir)?;
    Ok(answer(&program.run(&dir, &["validate", "-json"], b"")?))
}

/// `valid` or `invalid` and a line per diagnostic, sorted: the order is not part of the contract.
fn answer(run: &Run) -> String {
    let Ok(result) = serde_json::from_slice::<Value>(&run.stdout) else {
        return format!("no JSON: {}\n{}", run.failure(), run.text());
    };
    let diagnostics = result["diagnostics"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut lines: Vec<String> = diagnostics.iter().map(place).collect();
    lines.sort();
    let mut detail: Vec<String> =
        diagnostics.iter().map(|diagnostic| format!("{} {}", place(diagnostic), summary(diagnostic))).collect();
    detail.sort();
    lines.insert(0, if result["valid"] == true { "valid" } else { "invalid" }.to_owned());
    format!("{}{SEPARATOR}{}", lines.join("\n"), detail.join("\n"))
}

fn place(diagnostic: &Value) -> String {
    let severity = diagnostic["severity"].as_str().unwrap_or("?");
    let file = diagnostic["range"]["filename"].as_str().unwrap_or("-");
    match diagnostic["range"]["start"]["line"].as_u64() {
        Some(line) => format!("{severity} {file}:{line}"),
        None => format!("{severity} -"),
    }
}

/// The summary; a cycle is shown without its members, whose order is not fixed.
fn summary(diagnostic: &Value) -> &str {
    let summary = diagnostic["summary"].as_str().unwrap_or("?");
    if summary.starts_with("Cycle: ") { "Cycle" } else { summary }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_become_sorted_places() {
        let json = r#"{"valid": false, "diagnostics": [
            {"severity": "error", "summary": "B", "range": {"filename": "m.tf", "start": {"line": 7}}},
            {"severity": "error", "summary": "Cycle: b, a"},
            {"severity": "warning", "summary": "A", "range": {"filename": "m.tf", "start": {"line": 2}}}]}"#;
        let run = Run { stdout: json.as_bytes().to_vec(), stderr: String::new(), code: Some(1) };
        let outcome = outcome(&answer(&run));
        assert_eq!(outcome.verdict, "invalid\nerror -\nerror m.tf:7\nwarning m.tf:2");
        assert_eq!(outcome.detail, "error - Cycle\nerror m.tf:7 B\nwarning m.tf:2 A");
    }
}
