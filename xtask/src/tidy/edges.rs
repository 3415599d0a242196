//! Which crate may use which. The table is the one of ARCHITECTURE.md; a new edge is a decision
//! and belongs in `docs/adr`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;

use super::Problem;
use crate::{process, workspace};

/// A crate and the crates of this workspace that it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("groma-model", &[]),
    ("groma-syntax", &["groma-model"]),
    ("groma-lang", &["groma-model", "groma-syntax"]),
    ("groma-rules", &["groma-model", "groma-syntax", "groma-lang"]),
    ("groma-network", &[]),
    ("groma-fetch", &["groma-model", "groma-network"]),
    ("groma-state", &["groma-model"]),
    ("groma-backends", &["groma-model", "groma-network", "groma-state"]),
    ("groma-provider", &["groma-model", "groma-fetch"]),
    ("groma-kit", &["groma-model", "groma-network", "groma-provider"]),
    ("groma-builtin", &["groma-model", "groma-network", "groma-provider", "groma-kit"]),
    ("groma-kubernetes", &["groma-model", "groma-network", "groma-provider", "groma-kit"]),
    ("groma-engine", &["groma-model", "groma-lang", "groma-rules", "groma-state", "groma-provider"]),
    (
        "groma-run",
        &[
            "groma-model",
            "groma-syntax",
            "groma-lang",
            "groma-rules",
            "groma-network",
            "groma-fetch",
            "groma-state",
            "groma-backends",
            "groma-provider",
            "groma-kit",
            "groma-builtin",
            "groma-kubernetes",
            "groma-engine",
        ],
    ),
    ("groma-engines", &["groma-model", "groma-lang", "groma-rules", "groma-provider", "groma-run"]),
    ("groma-operator", &["groma-model", "groma-network", "groma-fetch", "groma-run", "groma-engines"]),
    ("groma-cli", &["groma-model", "groma-syntax", "groma-lang", "groma-run", "groma-engines", "groma-operator"]),
    ("xtask", &[]),
];

/// Crates that exist for tests only: they may use anything, and only tests may use them.
const TEST_ONLY: &[&str] = &[
    "groma-fuzz",
    "groma-interchange",
    "groma-rulebench",
    "groma-served",
    "groma-simulated",
    "groma-slice",
    "groma-testkit",
    "groma-wirebench",
];

/// Whether a crate exists for tests only.
pub(crate) fn is_for_tests(name: &str) -> bool {
    TEST_ONLY.contains(&name)
}

/// Crates that see only the neutral provider API: no wire, no installer.
const API_ONLY: &[&str] = &["groma-engine", "groma-kit", "groma-builtin", "groma-engines"];

/// Crates from elsewhere that must not be reachable from a crate, however indirectly.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("groma-model", &["tokio", "tonic", "kube", "reqwest", "clap"]),
    ("groma-syntax", &["tokio", "tonic", "kube", "reqwest", "clap"]),
    ("groma-lang", &["tokio", "tonic", "kube", "reqwest", "clap"]),
    ("groma-rules", &["tokio", "tonic", "kube", "reqwest", "clap"]),
    ("groma-engine", &["tonic", "kube", "reqwest", "clap"]),
    ("groma-run", &["clap"]),
];

/// Checks the edges inside the workspace, from `cargo metadata --no-deps`.
pub(super) fn check(metadata: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in list(&metadata["packages"]) {
        let name = text(&package["name"]);
        let manifest = relative(metadata, package);
        if is_for_tests(name) {
            continue;
        }
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            problems.push(Problem::in_file(
                &manifest,
                format!("`{name}` is not in the table of crate edges (xtask/src/tidy/edges.rs)"),
            ));
            continue;
        };
        for dependency in list(&package["dependencies"]) {
            if dependency["path"].is_string() {
                problems.extend(check_edge(&manifest, name, allowed, dependency));
            }
        }
    }
    problems
}

/// Checks one dependency on a crate of the workspace.
fn check_edge(manifest: &Path, name: &str, allowed: &[&str], dependency: &Value) -> Option<Problem> {
    let target = text(&dependency["name"]);
    let for_tests = dependency["kind"] == "dev";
    if is_for_tests(target) {
        return (!for_tests).then(|| Problem::in_file(manifest, format!("`{target}` may only be a dev-dependency")));
    }
    // A crate may name itself in its own tests, to switch a feature on.
    if for_tests && target == name {
        return None;
    }
    if !allowed.contains(&target) {
        let message = format!("`{name}` must not use `{target}` (see ARCHITECTURE.md)");
        return Some(Problem::in_file(manifest, message));
    }
    let whole = dependency["uses_default_features"] == true;
    let wire = list(&dependency["features"]).iter().any(|feature| feature != "api");
    if !for_tests && target == "groma-provider" && API_ONLY.contains(&name) && (whole || wire) {
        let message = format!("`{name}` may use only the `api` of `{target}`: no default features");
        return Some(Problem::in_file(manifest, message));
    }
    None
}

/// Checks what each crate reaches outside the workspace, with its own features only: a build of the
/// whole workspace unifies features and would hide a breach.
pub(super) fn check_external() -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let packages = workspace::packages()?;
    for (name, forbidden) in FORBIDDEN {
        if !packages.iter().any(|package| package == name) {
            continue;
        }
        let mut tree = workspace::cargo();
        tree.args(["tree", "--edges=normal", "--prefix=none", "--format={p}", "--package", name]);
        let reached = process::capture(&mut tree)?;
        for line in reached.lines() {
            let dependency = line.split(' ').next().unwrap_or_default();
            if forbidden.contains(&dependency) {
                let manifest = PathBuf::from(name.replace("groma-", "crates/")).join("Cargo.toml");
                let message = format!("`{name}` must not reach `{dependency}`");
                problems.push(Problem::in_file(&manifest, message));
            }
        }
    }
    problems.dedup();
    Ok(problems)
}

/// The manifest's path relative to the root.
fn relative(metadata: &Value, package: &Value) -> PathBuf {
    let path = Path::new(text(&package["manifest_path"]));
    path.strip_prefix(text(&metadata["workspace_root"])).unwrap_or(path).to_path_buf()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A workspace with one crate that has one dependency inside the workspace.
    fn problems(name: &str, dependency: Value) -> Vec<String> {
        let metadata = json!({
            "workspace_root": "/repository",
            "packages": [{
                "name": name,
                "manifest_path": "/repository/crates/x/Cargo.toml",
                "dependencies": [dependency],
            }],
        });
        check(&metadata).iter().map(ToString::to_string).collect()
    }

    fn on(name: &str, kind: Option<&str>) -> Value {
        json!({
            "name": name, "path": "/repository/crates/y", "kind": kind,
            "uses_default_features": true, "features": [],
        })
    }

    #[test]
    fn an_allowed_edge_is_silent() {
        assert!(problems("groma-syntax", on("groma-model", None)).is_empty());
    }

    #[test]
    fn an_edge_upwards_is_refused() {
        assert_eq!(
            problems("groma-syntax", on("groma-lang", None)),
            ["crates/x/Cargo.toml: `groma-syntax` must not use `groma-lang` (see ARCHITECTURE.md)"]
        );
    }

    #[test]
    fn an_edge_upwards_is_refused_in_tests_too() {
        assert_eq!(problems("groma-model", on("groma-run", Some("dev"))).len(), 1);
    }

    #[test]
    fn the_testkit_is_for_tests() {
        assert!(problems("groma-run", on("groma-testkit", Some("dev"))).is_empty());
        assert_eq!(problems("groma-run", on("groma-testkit", None)).len(), 1);
    }

    #[test]
    fn the_engine_sees_only_the_provider_api() {
        assert_eq!(problems("groma-engine", on("groma-provider", None)).len(), 1);
        let api = json!({
            "name": "groma-provider", "path": "/repository/crates/y", "kind": null,
            "uses_default_features": false, "features": [],
        });
        assert!(problems("groma-engine", api).is_empty());
    }

    #[test]
    fn an_unknown_crate_must_be_entered_in_the_table() {
        assert_eq!(problems("groma-surprise", on("groma-model", None)).len(), 1);
    }

    #[test]
    fn a_crate_from_elsewhere_is_not_our_business() {
        let dependency = json!({ "name": "serde", "path": null, "kind": null });
        assert!(problems("groma-model", dependency).is_empty());
    }
}
