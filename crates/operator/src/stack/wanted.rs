//! What a Stack asks for: its bundle. A function of the Stack and of what it refers to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use groma_run::source::SourceError;
use groma_run::source::relevance::Question;
use groma_run::source::tree::Tree;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::api::names;
use crate::api::shared::HolderKind;
use crate::api::stack::{Attempt, Stack, StackSpec};
use crate::api::upkeep::OrphanPolicy;
use crate::bundle::{BackendBlock, Bundle, Content, part};
use crate::inputs::{self, HolderRef, Holders, InputError, Resolving, below};
use crate::stack::reserved;
use crate::voices::webhooks;

/// How the states of Stacks are kept that say nothing about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateHome {
    /// The kind of the backend. How it is reached is known where runs are.
    pub kind: String,
    /// The directory that they are in, if they are files.
    pub directory: Option<PathBuf>,
}

/// What is fetched for a Stack.
#[derive(Debug, Clone, Default)]
pub struct Referred {
    /// Secrets and ConfigMaps that are there.
    pub holders: Holders,
    /// What keeps others from telling values from their marks.
    pub salt: Vec<u8>,
    /// What was fetched, for a Stack whose configuration is elsewhere.
    pub source: Option<Package>,
    /// What the Stack asks for whose state is read, if that is another one's.
    pub previewed: Option<Box<StackSpec>>,
}

/// What of a source goes with the runs of a Stack.
#[derive(Debug, Clone, Default)]
pub struct Package {
    /// What people know the source by.
    pub revision: String,
    /// Made of what matters of it, and of nothing else.
    hash: String,
    files: BTreeMap<String, Content>,
    programs: BTreeSet<String>,
    /// What is not there that should be.
    missing: Vec<String>,
}

impl Package {
    /// What of a tree goes with the runs of a Stack. Reads files.
    pub fn of(spec: &StackSpec, tree: &Tree) -> Result<Self, SourceError> {
        let root = below(spec.path.trim_matches('/')).unwrap_or_else(|| ".".to_owned());
        let revision = tree.revision.clone();
        let mut missing = Vec::new();
        if !tree.has_directory(&root) {
            missing.push(format!("spec.path: the source has no directory {root:?} at {revision}"));
        }
        for path in &spec.inputs.var_files {
            if !below(path).is_some_and(|path| tree.has_file(&path)) {
                missing.push(format!("spec.inputs.varFiles: the source has no file {path:?} at {revision}"));
            }
        }
        let var_files = spec.inputs.var_files.clone();
        let selection = tree.select(&Question { root, var_files, programs: spec.allow_exec })?;
        let files = tree.contents(&selection)?.into_iter().map(|(path, bytes)| (path, Content(bytes))).collect();
        let programs = tree.programs(&selection);
        Ok(Self { revision, hash: selection.hash.clone(), files, programs, missing })
    }
}

/// The bundle of a Stack, and what it is about; or everything that is wrong.
pub fn bundle(stack: &Stack, referred: &Referred, home: &StateHome) -> Result<(Bundle, Attempt), Vec<String>> {
    let spec = &stack.spec;
    let mut problems = Vec::new();
    let mut files = files(spec, &referred.holders, &mut problems);
    let package = referred.source.as_ref();
    match package {
        Some(package) => {
            files.extend(package.files.clone());
            problems.extend(package.missing.iter().cloned());
        }
        None if spec.source.git.is_some() || spec.source.flux.is_some() => {
            problems.push("spec.source: it has not been fetched".to_owned());
        }
        None => {}
    }
    let root = match spec.path.trim_matches('/') {
        "" | "." => ".".to_owned(),
        path => below(path).unwrap_or_else(|| {
            problems.push(format!("spec.path: {path:?} must be a path below the source, without \"..\""));
            String::new()
        }),
    };
    let resolved = inputs::resolve(&spec.inputs, &referred.holders, &referred.salt).unwrap_or_else(|found| {
        problems.extend(found.iter().map(ToString::to_string));
        crate::bundle::ResolvedInputs::default()
    });
    if spec.preview_of.is_some() && !spec.plan_only {
        problems.push("spec.previewOf: it needs spec.planOnly, as what is seen there is never carried out".to_owned());
    }
    let backend = backend(stack, referred, home, &mut problems);
    problems.extend(reserved::problems(spec, resolved.environment.keys(), backend.at_home));
    let bundle = Bundle {
        files,
        programs: package.map(|package| package.programs.clone()).unwrap_or_default(),
        root,
        inputs: resolved,
        var_files: spec.inputs.var_files.clone(),
        workspace: spec.workspace.clone(),
        backend,
        targets: spec.targets.clone(),
        allow_exec: spec.allow_exec,
        parallelism: spec.parallelism,
        engine: spec.engine,
        preview: spec.preview_of.is_some(),
        webhooks: webhooks::prepare(&spec.webhooks, &referred.holders, &mut problems),
        adoption: spec.adoption.clone(),
        orphans: spec.orphan_policy != OrphanPolicy::Ignore,
        var_files_win: spec.inputs.var_files_win,
        plan_copy: spec.plan_copy.clone(),
        plan_unlocked: spec.plan_unlocked,
    };
    // A configuration that is not there is none that asks for nothing.
    if bundle.files.is_empty() && (spec.source.git.is_some() || spec.source.flux.is_some()) {
        problems.push("spec.source: there is nothing in it".to_owned());
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let about = Attempt {
        spec_hash: spec_hash(spec),
        source_hash: package.map_or_else(|| bundle.source_hash(), |package| package.hash.clone()),
        inputs_hash: inputs::inputs_hash(&bundle.inputs, &referred.salt),
        revision: package.map(|package| package.revision.clone()),
    };
    Ok((bundle, about))
}

fn files(spec: &StackSpec, holders: &Holders, problems: &mut Vec<String>) -> BTreeMap<String, Content> {
    let mut found = BTreeMap::new();
    let mut add = |field: &str, path: &str, content: Vec<u8>, problems: &mut Vec<String>| match below(path) {
        Some(path) => {
            found.insert(path, Content(content));
        }
        None => problems.push(format!("{field}: {path:?} must be a relative path, without \"..\"")),
    };
    for (path, text) in spec.source.inline.iter().flatten() {
        add("spec.source.inline", path, text.clone().into_bytes(), problems);
    }
    if let Some(source) = &spec.source.config_map {
        let field = "spec.source.configMap";
        let holder = HolderRef { kind: HolderKind::ConfigMap, name: source.name.clone() };
        match holders.get(&holder) {
            None => problems.push(format!("{field}: ConfigMap {:?} is not there", source.name)),
            Some(data) if source.items.is_empty() => {
                for (key, content) in data {
                    add(field, key, content.clone(), problems);
                }
            }
            Some(data) => {
                for (key, path) in &source.items {
                    match data.get(key) {
                        Some(content) => add(field, path, content.clone(), problems),
                        None => problems.push(format!("{field}: ConfigMap {:?} has no key {key:?}", source.name)),
                    }
                }
            }
        }
    }
    found
}

/// What the Secret of a state ends with that is kept for a Stack.
pub fn state_suffix(stack: &Stack) -> String {
    suffix_given(&stack.spec).unwrap_or_else(|| stack.metadata.name.clone().unwrap_or_default())
}

fn suffix_given(spec: &StackSpec) -> Option<String> {
    spec.state.as_ref().and_then(|state| state.suffix.clone())
}

fn backend(stack: &Stack, referred: &Referred, home: &StateHome, problems: &mut Vec<String>) -> BackendBlock {
    let name = stack.metadata.name.clone().unwrap_or_default();
    let namespace = stack.metadata.namespace.clone().unwrap_or_default();
    // Whoever shows what may become of a Stack reads that one's state.
    let name = stack.spec.preview_of.clone().unwrap_or(name);
    let previewed = referred.previewed.as_deref();
    let Some(given) = &stack.spec.backend else {
        if previewed.is_some_and(|previewed| previewed.backend.is_some()) {
            problems
                .push(format!("spec.previewOf: {name:?} says in spec.backend where its state is; say the same here"));
        }
        let mut config = BTreeMap::new();
        if home.kind == "kubernetes" {
            let mut labels = stack.spec.state.clone().unwrap_or_default().labels;
            labels.insert(names::KEPT_FOR.to_owned(), name.clone());
            let suffix = suffix_given(&stack.spec).or_else(|| previewed.and_then(suffix_given));
            config.insert("secret_suffix".to_owned(), json!(suffix.unwrap_or_else(|| name.clone())));
            config.insert("namespace".to_owned(), json!(namespace));
            config.insert("labels".to_owned(), json!(labels));
        }
        if home.directory.is_some() {
            // In the directory that is known where runs are.
            config.insert("path".to_owned(), json!(format!("{namespace}/{name}/terraform.tfstate")));
            config.insert("workspace_dir".to_owned(), json!(format!("{namespace}/{name}/workspaces")));
        }
        return BackendBlock { kind: home.kind.clone(), config, at_home: true };
    };
    let mut config: BTreeMap<_, _> = given.config.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect();
    let mut resolving = Resolving::new(&referred.holders, &referred.salt);
    for (at, from) in given.config_from.iter().enumerate() {
        let found = resolving.selected(&format!("spec.backend.configFrom[{at}]"), from);
        config.extend(found.into_iter().map(|(name, text)| (name, json!(text))));
    }
    problems.extend(resolving.problems.iter().map(InputError::to_string));
    BackendBlock { kind: given.kind.clone(), config, at_home: false }
}

/// What in a spec makes a difference to runs. How often they are, and what is kept of them, does not.
fn spec_hash(spec: &StackSpec) -> String {
    let mut relevant = json!({
        "engine": spec.engine,
        "approval": spec.approval,
        "planOnly": spec.plan_only,
        "destroy": spec.destroy,
        "outputs": spec.outputs,
        "healthChecks": spec.health_checks,
        "targets": spec.targets,
        "workspace": spec.workspace,
        "backend": spec.backend,
        "allowExec": spec.allow_exec,
        "varFiles": spec.inputs.var_files,
    });
    // A run that waits for a pod that cannot begin must make room for one that can.
    let pods = json!({
        "executor": spec.executor, "podTemplate": spec.pod_template, "serviceAccountName": spec.service_account_name,
    });
    for (name, value) in pods.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
        relevant[name] = value.clone();
    }
    if let Some(of) = &spec.preview_of {
        relevant["previewOf"] = json!(of);
    }
    // Stacks without any are what they were before there were any.
    if !spec.webhooks.is_empty() {
        relevant["webhooks"] = json!(spec.webhooks);
    }
    let rare = json!({
        "state": spec.state,
        "planCopy": spec.plan_copy,
        "planUnlocked": spec.plan_unlocked.then_some(true),
        "varFilesWin": spec.inputs.var_files_win.then_some(true),
        "adoption": spec.adoption,
        "orphanPolicy": (spec.orphan_policy != OrphanPolicy::Ignore).then_some(spec.orphan_policy),
    });
    for (name, value) in rare.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
        relevant[name] = value.clone();
    }
    let mut hash = Sha256::new();
    part(&mut hash, relevant.to_string().as_bytes());
    hex::encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(spec: serde_json::Value) -> Stack {
        let mut stack = Stack::new("app", serde_json::from_value(spec).unwrap());
        stack.metadata.namespace = Some("team".to_owned());
        stack
    }

    fn home() -> StateHome {
        StateHome { kind: "kubernetes".to_owned(), directory: None }
    }

    fn about(spec: serde_json::Value) -> Attempt {
        bundle(&stack(spec), &Referred::default(), &home()).unwrap().1
    }

    #[test]
    fn a_state_is_kept_in_the_namespace_of_its_stack() {
        let stack = stack(json!({"source": {"inline": {"main.tf": ""}}}));
        let (bundle, _) = bundle(&stack, &Referred::default(), &home()).unwrap();
        let labels = json!({"groma.dev/kept-for": "app"});
        let expected = json!({"labels": labels, "namespace": "team", "secret_suffix": "app"});
        assert_eq!(json!(bundle.backend.config), expected);
    }

    #[test]
    fn who_shows_what_may_become_of_a_stack_reads_the_state_of_that_one() {
        let suffix = |more: serde_json::Value, previewed: Option<serde_json::Value>| {
            let mut spec = json!({"source": {"inline": {"main.tf": ""}}, "planOnly": true, "previewOf": "shop"});
            spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let previewed = previewed.map(|more| {
                let mut spec = json!({"source": {"inline": {"main.tf": ""}}});
                spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                Box::new(serde_json::from_value(spec).unwrap())
            });
            let referred = Referred { previewed, ..Referred::default() };
            bundle(&stack(spec), &referred, &home()).map(|(bundle, _)| bundle.backend.config["secret_suffix"].clone())
        };
        let named = json!({"state": {"suffix": "old-shop"}});
        assert_eq!(suffix(json!({}), None), Ok(json!("shop")));
        assert_eq!(suffix(json!({}), Some(json!({}))), Ok(json!("shop")));
        assert_eq!(suffix(json!({}), Some(named.clone())), Ok(json!("old-shop")));
        // Those that are made of pull requests ask for what the other one asks for.
        assert_eq!(suffix(named.clone(), Some(named)), Ok(json!("old-shop")));
        let elsewhere = json!({"backend": {"kind": "s3"}});
        let problems = suffix(json!({}), Some(elsewhere)).unwrap_err();
        assert_eq!(problems, ["spec.previewOf: \"shop\" says in spec.backend where its state is; say the same here"]);
    }

    #[test]
    fn everything_that_is_wrong_is_told() {
        let stack = stack(json!({
            "source": {"configMap": {"name": "code"}},
            "path": "../up",
            "inputs": {"varsFrom": [{"kind": "Secret", "name": "vars"}]},
            "backend": {"kind": "s3", "configFrom": [{"kind": "Secret", "name": "s3"}]},
        }));
        let problems = bundle(&stack, &Referred::default(), &home()).unwrap_err();
        assert_eq!(
            problems,
            [
                "spec.source.configMap: ConfigMap \"code\" is not there",
                "spec.path: \"../up\" must be a path below the source, without \"..\"",
                "spec.inputs.varsFrom[0]: Secret \"vars\" is not there",
                "spec.backend.configFrom[0]: Secret \"s3\" is not there",
            ]
        );
    }

    #[test]
    fn only_what_matters_makes_a_difference() {
        let plain = about(json!({"source": {"inline": {"main.tf": ""}}}));
        let other_times = json!({
            "source": {"inline": {"main.tf": ""}}, "interval": "1m", "suspend": true, "history": {"failed": 1},
            "timeouts": {"plan": "1m"}, "retry": {"limit": 3}, "deletionPolicy": "retain", "parallelism": 3,
        });
        assert_eq!(about(other_times), plain);
        let targets = about(json!({"source": {"inline": {"main.tf": ""}}, "targets": ["a.b"]}));
        assert_ne!(targets.spec_hash, plain.spec_hash);
        let job = about(json!({"source": {"inline": {"main.tf": ""}}, "executor": "job"}));
        assert_ne!(job.spec_hash, plain.spec_hash);
        let source = about(json!({"source": {"inline": {"main.tf": "# new"}}}));
        assert_eq!((&source.spec_hash, &source.inputs_hash), (&plain.spec_hash, &plain.inputs_hash));
        assert_ne!(source.source_hash, plain.source_hash);
        let values = about(json!({"source": {"inline": {"main.tf": ""}}, "inputs": {"values": {"a": 1}}}));
        assert_ne!(values.inputs_hash, plain.inputs_hash);
    }
}
