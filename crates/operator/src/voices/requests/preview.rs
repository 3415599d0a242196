//! The Stack that a pull request becomes: what the Stack that it would change asks for, from another commit, and never carried out.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use super::comment::Outcome;
use super::forge::Request;
use crate::api::names;
use crate::api::run::{Phase, Run};
use crate::api::shared::Truth;
use crate::api::source::{GitRef, GitSource};
use crate::api::stack::{Approval, DeletionPolicy, Outputs, Stack};
use crate::objects::{controller, owned_by};

/// How much of the name of a Stack is in the names of those that are made for it: names are values of labels, too, and Runs add to them.
const MOST_OF_NAME: usize = 36;

/// Which of the pull requests a Stack is planned for: those that are to become part of what it follows.
pub(super) fn concerns(git: &GitSource, forks: bool, request: &Request) -> bool {
    let followed = git.reference.as_ref().and_then(|reference| reference.branch.as_deref());
    let is_base = followed.or(request.usual_base.as_deref()).is_none_or(|branch| branch == request.base);
    is_base && (forks || !request.is_fork)
}

/// Whether files that a pull request changes lie where a Stack has its files. Without knowing where those are, they do.
pub(super) fn touches(changed: &[String], directories: &BTreeSet<String>) -> bool {
    let lies_below = |file: &String| {
        directories.iter().any(|directory| {
            directory.is_empty() || file.strip_prefix(directory.as_str()).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    directories.is_empty() || changed.iter().any(lies_below)
}

/// The directories of files.
pub(super) fn directories<'f>(files: impl Iterator<Item = &'f String>) -> BTreeSet<String> {
    files.map(|file| file.rsplit_once('/').map_or(String::new(), |(directory, _)| directory.to_owned())).collect()
}

/// Its name. Nobody calls a Stack so by accident, and what is called so and not ours is left alone.
pub(super) fn name(stack: &Stack, number: u64) -> String {
    let of = stack.metadata.name.as_deref().unwrap_or_default();
    let uid = stack.metadata.uid.as_deref().unwrap_or_default();
    let hash = hex::encode(Sha256::digest(format!("{uid}/{number}")));
    let cut: String = of.chars().take(MOST_OF_NAME).collect();
    format!("{}-pr-{number}-{}", cut.trim_end_matches(['-', '.']), &hash[..8])
}

/// The Stack of a pull request.
pub(super) fn wanted(stack: &Stack, request: &Request) -> Stack {
    let mut spec = stack.spec.clone();
    if let Some(git) = &mut spec.source.git {
        git.reference = Some(GitRef { commit: Some(request.commit.clone()), ..GitRef::default() });
        git.pull_requests = None;
        git.webhook = None;
    }
    spec.plan_only = true;
    spec.preview_of.clone_from(&stack.metadata.name);
    spec.destroy = false;
    spec.approval = Approval::default();
    spec.deletion_policy = DeletionPolicy::Retain;
    spec.outputs = Outputs::default();
    spec.health_checks.clear();
    spec.notifications.clear();
    spec.depends_on.clear();
    // Who may not push to the repository starts no programs here.
    spec.allow_exec &= !request.is_fork;
    let of = stack.metadata.name.clone().unwrap_or_default();
    let mut preview = Stack::new(&name(stack, request.number), spec);
    preview.metadata.namespace.clone_from(&stack.metadata.namespace);
    preview.metadata.labels = Some(BTreeMap::from([
        (names::PREVIEW_OF.to_owned(), label(&of)),
        (names::PULL_REQUEST.to_owned(), request.number.to_string()),
    ]));
    preview.metadata.owner_references = Some(vec![owned_by(stack)]);
    preview
}

/// The name of a Stack as it stands in a label, which takes no more than 63 characters.
pub(super) fn label(name: &str) -> String {
    if name.len() <= 63 {
        return name.to_owned();
    }
    let hash = hex::encode(Sha256::digest(name));
    let cut: String = name.chars().take(50).collect();
    format!("{cut}.{}", &hash[..12])
}

/// Whether a Stack was made for another one.
pub(super) fn is_of(preview: &Stack, stack: &Stack) -> bool {
    let owner = controller(&preview.metadata).map(|owner| &owner.uid);
    owner.is_some() && owner == stack.metadata.uid.as_ref()
}

/// The pull request that a Stack was made for.
pub(super) fn number(preview: &Stack) -> Option<u64> {
    preview.metadata.labels.as_ref()?.get(names::PULL_REQUEST)?.parse().ok()
}

/// What came of it so far. `run` is its last Run; `source_hash` is what the Stack that it was made for consists of.
pub(super) fn outcome(preview: &Stack, run: Option<&Run>, commit: &str, source_hash: &str) -> Outcome {
    let status = preview.status.clone().unwrap_or_default();
    let ready = status.conditions.iter().find(|known| known.kind == "Ready");
    let Some(ready) = ready.filter(|ready| ready.observed_generation == preview.metadata.generation) else {
        return Outcome::Pending;
    };
    let is_fetched = status.source.as_ref().is_some_and(|seen| seen.revision.contains(commit));
    let run = run.and_then(|run| run.status.as_ref()).filter(|status| status.phase.is_over());
    match (ready.status, run) {
        (Truth::True, Some(run)) if is_fetched && run.phase == Phase::Succeeded => {
            let own = status.attempted.map(|about| about.source_hash).unwrap_or_default();
            let is_same = !own.is_empty() && own == source_hash;
            if is_same {
                return Outcome::Untouched;
            }
            let text = run.plan.as_ref().map(|plan| plan.text.clone()).unwrap_or_default();
            Outcome::Planned { counts: run.planned.unwrap_or_default(), text }
        }
        (Truth::False, Some(run)) if is_fetched && run.phase == Phase::Failed => {
            Outcome::Failed { message: run.message.clone(), told: run.diagnostics.clone() }
        }
        // Nothing could even be begun.
        (Truth::False, _) if !waits(&ready.reason) => {
            Outcome::Failed { message: ready.message.clone(), told: Vec::new() }
        }
        _ => Outcome::Pending,
    }
}

/// Whether something else has to happen first, which is nobody's failure.
fn waits(reason: &str) -> bool {
    matches!(reason, "DependencyNotReady" | "Progressing" | "SourceFetching")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn stack(more: &Json) -> Stack {
        let mut spec = json!({
            "source": {"git": {
                "url": "https://git.example/acme/infra.git", "ref": {"branch": "main"},
                "pullRequests": {"provider": "gitea", "tokenRef": {"name": "forge", "key": "token"}},
                "webhook": {"secretRef": {"name": "hook", "key": "secret"}},
            }},
            "path": "envs/prod", "approval": {"mode": "auto"}, "allowExec": true,
            "outputs": {"secret": {"name": "out"}}, "notifications": [{"url": "https://chat.example"}],
        });
        for (name, value) in more.as_object().unwrap() {
            spec[name] = value.clone();
        }
        let mut stack = Stack::new("app", serde_json::from_value(spec).unwrap());
        stack.metadata.namespace = Some("team".to_owned());
        stack.metadata.uid = Some("uid-1".to_owned());
        stack
    }

    fn request(number: u64, is_fork: bool) -> Request {
        let usual_base = Some("main".to_owned());
        Request { number, commit: "a".repeat(40), base: "main".to_owned(), usual_base, is_fork }
    }

    #[test]
    fn it_asks_for_the_same_and_carries_nothing_out() {
        let stack = stack(&json!({}));
        let preview = wanted(&stack, &request(7, false));
        let spec = &preview.spec;
        let git = spec.source.git.as_ref().unwrap();
        assert_eq!(git.reference.as_ref().unwrap().commit, Some("a".repeat(40)));
        assert!(git.pull_requests.is_none() && git.webhook.is_none());
        assert!(spec.plan_only && spec.allow_exec && spec.outputs == Outputs::default());
        assert_eq!((spec.preview_of.as_deref(), spec.path.as_str()), (Some("app"), "envs/prod"));
        assert_eq!(spec.deletion_policy, DeletionPolicy::Retain);
        assert!(spec.notifications.is_empty());
        assert!(is_of(&preview, &stack) && number(&preview) == Some(7));
        assert!(!wanted(&stack, &request(7, true)).spec.allow_exec, "strangers start no programs");
    }

    #[test]
    fn names_are_short_and_their_own() {
        let mut long = stack(&json!({}));
        long.metadata.name = Some("a".repeat(200));
        assert!(name(&long, 1_234_567).len() <= 60);
        assert_ne!(name(&long, 1), name(&long, 2));
        let mut other = long.clone();
        other.metadata.uid = Some("uid-2".to_owned());
        assert_ne!(name(&long, 1), name(&other, 1));
        assert!(label(&"a".repeat(200)).len() <= 63);
    }

    #[test]
    fn only_what_the_stack_follows_is_planned() {
        let of = |reference: Json| {
            let git = json!({"url": "https://git.example/a/b", "ref": reference});
            serde_json::from_value::<GitSource>(git).unwrap()
        };
        let elsewhere = Request { base: "next".to_owned(), ..request(1, false) };
        assert!(concerns(&of(json!({"branch": "main"})), false, &request(1, false)));
        assert!(!concerns(&of(json!({"branch": "main"})), false, &elsewhere));
        assert!(concerns(&of(json!({"branch": "next"})), false, &elsewhere));
        assert!(concerns(&of(json!(null)), false, &request(1, false)));
        assert!(!concerns(&of(json!(null)), false, &elsewhere), "it is not the usual branch");
        assert!(!concerns(&of(json!(null)), false, &request(1, true)));
        assert!(concerns(&of(json!(null)), true, &request(1, true)));
    }

    #[test]
    fn what_lies_elsewhere_does_not_matter() {
        let text = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let known = directories(text(&["envs/prod/main.tf", "modules/net/a.tf"]).iter());
        assert!(touches(&text(&["README.md", "modules/net/templates/x.tpl"]), &known));
        assert!(!touches(&text(&["README.md", "modules/network/a.tf", "envs/prod.tf"]), &known));
        assert!(touches(&text(&["README.md"]), &directories(text(&["main.tf"]).iter())), "all is below the root");
        assert!(touches(&text(&["README.md"]), &BTreeSet::new()), "it is not known");
    }

    fn seen(ready: &str, reason: &str, revision: &str, phase: &str, generation: i64) -> Outcome {
        let mut preview = wanted(&stack(&json!({})), &request(7, false));
        preview.metadata.generation = Some(2);
        preview.status = serde_json::from_value(json!({
            "conditions": [{
                "type": "Ready", "status": ready, "reason": reason, "message": "said", "observedGeneration": generation,
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
            "source": {"revision": revision}, "attempted": {"sourceHash": "new"},
        }))
        .unwrap();
        let run = json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": "r"},
            "spec": {
                "stack": "app", "number": 1, "action": "plan", "bundle": "b", "about": {}, "engine": "native", "executor": "inProcess",
                "approval": {}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
            },
            "status": {"phase": phase, "message": "it went so", "planned": {"add": 1, "change": 0, "destroy": 0}, "plan": {"id": "p", "text": "+ x"}},
        });
        let run: Run = serde_json::from_value(run).unwrap();
        outcome(&preview, Some(&run), &"a".repeat(40), "old")
    }

    #[test]
    fn an_outcome_is_about_the_newest_commit() {
        let newest = format!("sha1:{}", "a".repeat(40));
        let counts = crate::api::run::PlanCounts { add: 1, ..Default::default() };
        let planned = Outcome::Planned { counts, text: "+ x".to_owned() };
        assert_eq!(seen("True", "Planned", &newest, "Succeeded", 2), planned);
        assert_eq!(seen("True", "Planned", "sha1:bbbb", "Succeeded", 2), Outcome::Pending, "an older commit");
        assert_eq!(seen("True", "Planned", &newest, "Succeeded", 1), Outcome::Pending, "an older spec");
        assert_eq!(seen("Unknown", "Progressing", &newest, "Planning", 2), Outcome::Pending);
        let failed = Outcome::Failed { message: "it went so".to_owned(), told: Vec::new() };
        assert_eq!(seen("False", "InvalidConfiguration", &newest, "Failed", 2), failed);
        let failed = Outcome::Failed { message: "said".to_owned(), told: Vec::new() };
        assert_eq!(seen("False", "InvalidSpec", "", "Queued", 2), failed);
        assert_eq!(seen("False", "DependencyNotReady", &newest, "Queued", 2), Outcome::Pending);
    }
}
