//! The source of a Stack: what is known of it, and what of it goes with a run. Nothing is waited for.

use std::sync::Arc;

use groma_run::source::tree::Tree;
use groma_run::source::{SourceError, Trouble};

use super::{ReconcileError, Reconciler};
use crate::api::names;
use crate::api::shared::{HolderKind, Moment};
use crate::api::source::{FluxSource, GitSource};
use crate::api::stack::{Stack, StackStatus};
use crate::api::upkeep::SourceSeen;
use crate::inputs::{HolderRef, Holders};
use crate::objects::StoreError;
use crate::sources::wish::{What, Wish};
use crate::sources::{Known, Name, flux, wish};
use crate::stack::decide::source::{Lacking, Refresh, SourceFacts, patience_ends};
use crate::stack::wanted::Package;

/// What is known of the source of a Stack.
#[derive(Default)]
pub(super) struct Sourced {
    /// What goes with runs.
    pub(super) package: Option<Package>,
    /// What is decided with.
    pub(super) facts: SourceFacts,
    /// States that are in it and were left out.
    pub(super) states: Vec<String>,
}

impl Sourced {
    fn lacking(lacking: Lacking) -> Self {
        Self { facts: SourceFacts { lacking: Some(lacking), ..SourceFacts::default() }, ..Self::default() }
    }

    fn failed(problem: SourceError) -> Self {
        Self::lacking(match problem.kind {
            Trouble::NotFound => Lacking::NotFound(problem.message),
            Trouble::Denied => Lacking::Denied(problem.message),
            _ => Lacking::Failed(problem.message),
        })
    }
}

impl Reconciler {
    /// What is known of the source of a Stack that is to stay. What goes is taken down with what was applied.
    pub(super) async fn sourced(
        &self,
        stack: &Stack,
        holders: &Holders,
        now: Moment,
    ) -> Result<Sourced, ReconcileError> {
        let name = name_of(stack);
        let source = &stack.spec.source;
        if stack.metadata.deletion_timestamp.is_some() || (source.git.is_none() && source.flux.is_none()) {
            self.forget_source(&name);
            return Ok(Sourced::default());
        }
        if let Some(git) = &source.git {
            return Ok(self.git(stack, &name, git, holders, now).await);
        }
        let Some(source) = &source.flux else { return Ok(Sourced::default()) };
        self.flux(stack, &name, source, now).await
    }

    pub(super) fn forget_source(&self, stack: &Name) {
        if let Some(sources) = &self.sources {
            sources.forget(stack);
        }
    }

    async fn git(&self, stack: &Stack, name: &Name, git: &GitSource, holders: &Holders, now: Moment) -> Sourced {
        let secret = git.secret_ref.as_ref().map(|name| HolderRef { kind: HolderKind::Secret, name: name.clone() });
        let wish = match wish::of_git(&name.0, git, secret.and_then(|secret| holders.get(&secret))) {
            Ok(wish) => wish,
            Err(problem) => return Sourced::failed(problem),
        };
        let mut sourced = self.asked(stack, name, wish, wish::interval(git)).await;
        if let Some(Lacking::Denied(message)) = &mut sourced.facts.lacking {
            *message = match &git.secret_ref {
                Some(secret) => format!("{message}. Who we are is in spec.source.git.secretRef: Secret {secret:?}"),
                None => format!("{message}. Credentials may be given with spec.source.git.secretRef"),
            };
        }
        let checked_at = self.sources.as_ref().and_then(|sources| sources.checked_at(name));
        sourced.facts.refresh = match retry_at(stack, now) {
            Some(since) if checked_at < Some(since) => Refresh::Due,
            _ => Refresh::Done,
        };
        sourced
    }

    async fn flux(
        &self,
        stack: &Stack,
        name: &Name,
        source: &FluxSource,
        now: Moment,
    ) -> Result<Sourced, ReconcileError> {
        let place = flux::place(source, &name.0);
        // Whether it is there is nothing that is told.
        if place.namespace.as_ref() != Some(&name.0) && !self.settings.across_namespaces {
            let message = "spec.source.flux: sources of other namespaces may not be used; the operator can allow it with \
                           -allow-cross-namespace";
            return Ok(Sourced::lacking(Lacking::Denied(message.to_owned())));
        }
        let object = match self.store.get(&place).await {
            Ok(found) => found,
            Err(StoreError::Forbidden { reason, .. }) => return Ok(Sourced::lacking(Lacking::Denied(reason))),
            Err(problem) => return Err(problem.into()),
        };
        let Some(object) = object else {
            return Ok(Sourced::lacking(Lacking::NotFound(format!("spec.source.flux: {place} is not there"))));
        };
        let Some(artifact) = flux::artifact(&object) else {
            let says = flux::says(&object).unwrap_or("it has not fetched anything yet");
            return Ok(Sourced::lacking(Lacking::Failed(format!("{place} has no artifact: {says}"))));
        };
        let namespace = place.namespace.clone().unwrap_or_default();
        let wish = Wish { namespace, what: What::Artifact(artifact) };
        let mut sourced = self.asked(stack, name, wish, std::time::Duration::MAX).await;
        sourced.facts.refresh = match retry_at(stack, now) {
            Some(since) => {
                let token = since.0.to_string();
                match (flux::asked(&object), flux::handled(&object)) {
                    (_, Some(handled)) if handled == token => Refresh::Done,
                    (Some(asked), _) if asked == token => Refresh::Pending,
                    _ => Refresh::Due,
                }
            }
            None => Refresh::Done,
        };
        Ok(sourced)
    }

    async fn asked(&self, stack: &Stack, name: &Name, wish: Wish, interval: std::time::Duration) -> Sourced {
        let Some(sources) = &self.sources else {
            let message = "spec.source: whoever looks at this Stack fetches no sources";
            return Sourced::lacking(Lacking::Denied(message.to_owned()));
        };
        match sources.ask(name, wish, interval) {
            Known::Fetching => Sourced::lacking(Lacking::Fetching),
            Known::Failed(problem) => Sourced::failed(problem),
            Known::Tree { tree, failing } => {
                let seen = SourceSeen { revision: tree.revision.clone(), digest: tree.digest.clone() };
                let facts = SourceFacts {
                    seen: Some(seen),
                    failing: failing.map(|problem| problem.message),
                    ..SourceFacts::default()
                };
                let states = tree.states.clone();
                match packed(stack, tree).await {
                    Ok(package) => Sourced { package: Some(package), facts, states },
                    Err(problem) => {
                        let failed = Sourced::failed(problem);
                        Sourced { facts: SourceFacts { lacking: failed.facts.lacking, ..facts }, states, ..failed }
                    }
                }
            }
        }
    }

    /// Asks the source of a Stack to look for something newer.
    pub(super) async fn refresh_source(&self, stack: &Stack, since: Moment) -> Result<(), ReconcileError> {
        let name = name_of(stack);
        let Some(source) = &stack.spec.source.flux else {
            if let Some(sources) = &self.sources {
                sources.refresh_for(&name);
            }
            return Ok(());
        };
        let place = flux::place(source, &name.0);
        let Some(mut object) = self.store.get(&place).await? else { return Ok(()) };
        let notes = object.metadata.annotations.get_or_insert_default();
        notes.insert(names::FLUX_REQUESTED_AT.to_owned(), since.0.to_string());
        match self.store.replace(&place.kind, &object).await {
            Ok(_) => Ok(()),
            // It is tried again with what there is, in a while.
            Err(StoreError::Forbidden { reason, .. }) => {
                tracing::warn!(%place, reason, "a source cannot be asked to look for something newer");
                Ok(())
            }
            Err(problem) => Err(problem.into()),
        }
    }

    /// States in sources are a mistake that is told once for each of them.
    pub(super) async fn tell_of_states(&self, stack: &Stack, before: Option<&StackStatus>, states: &[String]) {
        let seen = |status: Option<&StackStatus>| status.and_then(|status| status.source.clone());
        let after = seen(stack.status.as_ref());
        if states.is_empty() || after.is_none() || seen(before) == after {
            return;
        }
        let shown: Vec<&str> = states.iter().take(10).map(String::as_str).collect();
        let message = format!(
            "The source has {} that no run uses, as the state is kept elsewhere: {}. Take them out of it: states have secrets in them.",
            if states.len() == 1 { "a state" } else { "states" },
            shown.join(", ")
        );
        self.tell(stack, true, "StateInSource", message).await;
    }
}

fn name_of(stack: &Stack) -> Name {
    (stack.metadata.namespace.clone().unwrap_or_default(), stack.metadata.name.clone().unwrap_or_default())
}

/// Since when it is time to try a run again, if the source is to be asked first and it is still waited for it.
fn retry_at(stack: &Stack, now: Moment) -> Option<Moment> {
    let failures = stack.status.as_ref().and_then(|status| status.failures.as_ref());
    let retry_at = failures.and_then(|failures| failures.retry_at).filter(|at| *at <= now);
    retry_at.filter(|at| stack.spec.refresh_source_on_retry && now < patience_ends(*at))
}

/// What tofu-controller would make a configuration of.
const TEMPLATE: &str = "main.tf.tpl";

/// Reading files is nothing for who has other things to do.
async fn packed(stack: &Stack, tree: Arc<Tree>) -> Result<Package, SourceError> {
    if let Some(message) = template(stack, |path| tree.has_file(path)) {
        return Err(SourceError::new(Trouble::Invalid, message));
    }
    let spec = stack.spec.clone();
    let packed = tokio::task::spawn_blocking(move || Package::of(&spec, &tree));
    packed.await.map_err(|problem| SourceError::new(Trouble::Passing, problem.to_string()))?
}

/// That a source has a template that is not rendered, if the Stack is one that comes from tofu-controller: without it, a plan would take down
/// what the template declares.
fn template(stack: &Stack, has_file: impl Fn(&str) -> bool) -> Option<String> {
    let path = match stack.spec.path.trim_matches('/') {
        "" | "." => TEMPLATE.to_owned(),
        root => format!("{root}/{TEMPLATE}"),
    };
    let is_concerned = stack.metadata.labels.as_ref().is_some_and(|of| of.contains_key(names::TERRAFORM));
    (is_concerned && has_file(&path)).then(|| {
        format!(
            "{path} is a template, which tofu-controller renders and groma does not, so nothing is planned: write what it becomes into a .tf \
             file, with variables in the place of values, and take it out of the source"
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_template_of_tofu_controller_is_told_and_not_left_out() {
        let stack = |labels: serde_json::Value, path: &str| -> Stack {
            serde_json::from_value(json!({
                "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": "app", "labels": labels},
                "spec": {"source": {"inline": {}}, "path": path},
            }))
            .unwrap()
        };
        let theirs = json!({names::TERRAFORM: "app"});
        let in_root = |path: &str| path == "main.tf.tpl";
        assert!(template(&stack(theirs.clone(), ""), in_root).is_some_and(|told| told.starts_with("main.tf.tpl is")));
        assert_eq!(template(&stack(theirs.clone(), "a/"), in_root), None);
        assert!(template(&stack(theirs, "a/"), |path| path == "a/main.tf.tpl").is_some());
        assert_eq!(template(&stack(json!({}), ""), in_root), None, "a Stack may have files of any name");
    }
}
