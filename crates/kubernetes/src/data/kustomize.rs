//! Building a kustomization, with the program that there is for that: `kustomize`, or else `kubectl`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use groma_kit::Call;
use groma_kit::outside::Outside;
use groma_model::diag::Diagnostic;
use tokio::process::Command;

/// Programs and what they are told before the path.
const PROGRAMS: [(&str, &str); 2] = [("kustomize", "build"), ("kubectl", "kustomize")];
/// More of what a program complains about is not shown.
const SHOWN: usize = 4_000;

/// What a kustomization gives, as YAML. Warnings of the program are warnings of the call.
pub(super) async fn build(path: &str, outside: &Outside, call: &mut Call) -> Result<String, Diagnostic> {
    if path.trim().is_empty() {
        return Err(Diagnostic::error("Kustomize build failed", "The path of the kustomization is empty."));
    }
    let (program, verb) = find(outside)?;
    // What begins with a dash would be an option.
    let path_argument = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    let mut command = Command::new(&program);
    command
        .args([verb, &path_argument])
        .current_dir(&outside.directory)
        .env_clear()
        .envs(outside.environment.iter())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let failed = |why: &str| {
        let detail = format!("{} {verb} {path} failed: {why}", name_of(&program));
        Diagnostic::error("Kustomize build failed", detail)
    };
    let output = tokio::select! {
        output = command.output() => output.map_err(|error| failed(&error.to_string()))?,
        () = call.stopped() => return Err(failed("the run was given up.")),
    };
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(failed(&explained(&output, &complaints)));
    }
    for warning in complaints.lines().map(plain).filter(|line| !line.is_empty()).collect::<BTreeSet<_>>() {
        call.diagnostics.push(Diagnostic::warning("Kustomize warning", format!("{path}: {warning}")));
    }
    String::from_utf8(output.stdout).map_err(|_| failed("what it wrote is no text in UTF-8."))
}

fn explained(output: &Output, complaints: &str) -> String {
    let shown: String = complaints.trim().chars().take(SHOWN).collect();
    let shown = shown.strip_prefix("Error: ").or(shown.strip_prefix("error: ")).unwrap_or(&shown);
    if shown.is_empty() { format!("{}, without a word.", output.status) } else { shown.to_owned() }
}

/// A line without what the program marks warnings with.
fn plain(line: &str) -> &str {
    let line = line.trim().trim_start_matches('#').trim_start();
    line.strip_prefix("Warning:").map_or(line, str::trim)
}

fn find(outside: &Outside) -> Result<(PathBuf, &'static str), Diagnostic> {
    if let Some(advice) = &outside.no_programs {
        let detail = format!("A kustomization is built with a program, and programs may not be started here. {advice}");
        return Err(Diagnostic::error("Kustomize not available", detail));
    }
    let search = outside.environment.get("PATH").map(String::as_str).unwrap_or_default();
    let place = |name: &str| {
        let mut places = std::env::split_paths(search).map(|place| outside.directory.join(place).join(name));
        places.find(|path| is_program(path))
    };
    PROGRAMS.iter().find_map(|(name, verb)| Some((place(name)?, *verb))).ok_or_else(|| {
        let detail = "A kustomization is built with the program kustomize, or with kubectl, and neither is in the search path \
                      (PATH). Install one of them, or give the built manifests as content.";
        Diagnostic::error("Kustomize not available", detail)
    })
}

fn name_of(program: &Path) -> String {
    program.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
