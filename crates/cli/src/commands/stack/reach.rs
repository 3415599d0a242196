//! Which cluster, as whom, and which Stack in it; or which directory of an operator without a cluster. The only place that knows where
//! objects are.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use groma_model::text::visible;
use groma_operator::api::names;
use groma_operator::api::run::Run;
use groma_operator::api::stack::Stack;
use groma_operator::objects::cluster::{Cluster, Reach};
use groma_operator::objects::files::Files;
use groma_operator::objects::{Kind, Place, Store, StoreError, find, find_all};
use groma_operator::runs::plan_text;
use groma_operator::serve::standalone::{self, Layout};
use kube::Client;
use kube::api::DynamicObject;
use serde_json::Value as Json;

use super::trouble::Trouble;
use crate::commands::Context;
use crate::commands::shared::kubeconfigs;
use crate::failure::Failure;
use crate::ui::Ui;

/// How many names are suggested.
const SUGGESTED: usize = 5;
/// How often it is tried again when somebody else has written meanwhile.
const ATTEMPTS: usize = 5;

/// Which cluster, and as whom.
#[derive(Debug, Clone, Default, clap::Args)]
pub(in crate::commands) struct ReachArgs {
    /// A kubeconfig, instead of the usual ones.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Its context, instead of the current one.
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// The namespace, instead of the one of the context.
    #[arg(long, short, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// The directory of an operator that works without a cluster. The current one if it has one that works.
    #[arg(long, value_name = "DIR", env = "GROMA_STANDALONE", hide_env_values = true, conflicts_with_all = ["kubeconfig", "context"])]
    standalone: Option<PathBuf>,

    /// Where that operator keeps what it knows, if that is not `.groma` in its directory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["kubeconfig", "context"])]
    state_dir: Option<PathBuf>,

    /// Show no colours.
    #[arg(long)]
    no_color: bool,
}

/// A Stack, as it is named on the command line: NAME or NAMESPACE/NAME.
#[derive(Debug, Clone)]
pub(in crate::commands) struct StackName {
    namespace: Option<String>,
    name: String,
}

impl std::str::FromStr for StackName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (namespace, name) = match text.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, text),
        };
        if name.is_empty() || name.contains('/') || namespace.is_some_and(str::is_empty) {
            return Err("give NAME or NAMESPACE/NAME".to_owned());
        }
        Ok(Self { namespace: namespace.map(str::to_owned), name: name.to_owned() })
    }
}

/// A cluster that is reached, and where things are said.
pub(in crate::commands) struct Desk {
    pub(in crate::commands) ui: Ui,
    /// Where objects are.
    pub(in crate::commands) store: Box<dyn Store>,
    /// The namespace of what is named without one.
    pub(in crate::commands) namespace: String,
    /// For what is special to clusters; none without one.
    pub(in crate::commands) client: Option<Client>,
    /// Where things are without a cluster.
    pub(in crate::commands) alone: Option<Alone>,
    /// How a `kubernetes` backend gets to the same cluster.
    pub(in crate::commands) backend: BTreeMap<String, Json>,
    runtime: tokio::runtime::Runtime,
}

/// An operator without a cluster.
pub(in crate::commands) struct Alone {
    /// Where things are.
    pub(in crate::commands) layout: Layout,
    /// What is written, and by whom.
    pub(in crate::commands) files: Files,
    /// Who we are.
    pub(in crate::commands) me: String,
}

impl ReachArgs {
    /// Reaches it.
    pub(in crate::commands) fn open(&self, context: &Context) -> Result<Desk, Trouble> {
        let ui = Ui::new(&context.environment, self.no_color);
        let made = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = made.map_err(Failure::Terminal)?;
        if let Some(layout) = self.alone(context)? {
            return self.open_alone(context, layout, ui, runtime);
        }
        let reach = Reach { files: kubeconfigs(context, self.kubeconfig.as_deref()), context: self.context.clone() };
        let reached = runtime.block_on(reach.client()).map_err(|problem| Trouble::NoCluster(problem.to_string()))?;
        let (client, namespace) = reached;
        let namespace = self.namespace.clone().unwrap_or(namespace);
        let store = Box::new(Cluster::new(client.clone(), names::FIELD_MANAGER));
        Ok(Desk { ui, store, namespace, client: Some(client), alone: None, backend: reach.backend(), runtime })
    }

    /// Where things are, if there is no cluster.
    fn alone(&self, context: &Context) -> Result<Option<Layout>, Trouble> {
        let state = self.state_dir.as_ref().map(|state| context.working_dir.join(state));
        let named = self.standalone.is_some() || state.is_some();
        let directory =
            self.standalone.as_ref().map_or_else(|| context.working_dir.clone(), |dir| context.working_dir.join(dir));
        let layout = Layout::of(&directory, state.as_deref());
        if !named {
            let is_ours = self.kubeconfig.is_none() && self.context.is_none() && standalone::is_held(&layout.state);
            return Ok(is_ours.then_some(layout));
        }
        if !layout.objects().is_dir() {
            let detail = format!(
                "No operator has ever worked with {}: there is no {}. \"groma operator -standalone {}\" begins one; if it keeps its \
                 state elsewhere, say where with -state-dir.",
                directory.display(),
                layout.objects().display(),
                directory.display()
            );
            return Err(Trouble::Refused("No operator", detail));
        }
        Ok(Some(layout))
    }

    fn open_alone(
        &self,
        context: &Context,
        layout: Layout,
        ui: Ui,
        runtime: tokio::runtime::Runtime,
    ) -> Result<Desk, Trouble> {
        if !standalone::is_held(&layout.state) {
            ui.message("No operator works here now. What is asked for is done when one does.\n");
        }
        let files = standalone::objects(&layout)?;
        let name = ["USER", "LOGNAME"].iter().find_map(|name| context.environment.all.get(*name));
        let me = name.cloned().unwrap_or_else(|| owner(&layout));
        let namespace = self.namespace.clone().unwrap_or_else(|| "default".to_owned());
        let store = Box::new(files.clone());
        let alone = Some(Alone { layout, files, me });
        Ok(Desk { ui, store, namespace, client: None, alone, backend: BTreeMap::new(), runtime })
    }
}

impl Desk {
    /// Writes what objects say, which anybody may have written: nothing in it is obeyed by a terminal.
    pub(in crate::commands) fn show(&self, text: &str) -> Result<(), Failure> {
        self.ui.out(&visible(text))
    }

    /// Waits for something to come.
    pub(in crate::commands) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Waits a while.
    pub(in crate::commands) fn pause(&self, length: Duration) {
        // A sleep begins inside of a runtime only.
        self.wait(async { tokio::time::sleep(length).await });
    }

    /// Where a Stack is.
    pub(in crate::commands) fn place(&self, name: &StackName) -> (String, String) {
        (name.namespace.clone().unwrap_or_else(|| self.namespace.clone()), name.name.clone())
    }

    /// A Stack, or what may have been meant.
    pub(in crate::commands) fn stack(&self, name: &StackName) -> Result<Stack, Trouble> {
        let (namespace, name) = self.place(name);
        match self.wait(find::<Stack>(&*self.store, &namespace, &name)) {
            Ok(Some(stack)) => Ok(stack),
            // Where even the kind is not known, that is an error.
            Ok(None) | Err(StoreError::Missing(_)) => Err(self.no_stack(namespace, name)),
            Err(problem) => Err(problem.into()),
        }
    }

    fn no_stack(&self, namespace: String, name: String) -> Trouble {
        let listed = match self.wait(find_all::<Stack>(&*self.store, None, &[])) {
            Err(StoreError::Forbidden { .. }) => self.wait(find_all::<Stack>(&*self.store, Some(&namespace), &[])),
            listed => listed,
        };
        match listed {
            Ok(known) => Trouble::NoStack { similar: similar(&known, &namespace, &name), namespace, name },
            Err(problem) => problem.into(),
        }
    }

    /// All Stacks, in one namespace or in all.
    pub(in crate::commands) fn stacks(&self, namespace: Option<&str>) -> Result<Vec<Stack>, Trouble> {
        let mut found = self.wait(find_all::<Stack>(&*self.store, namespace, &[]))?;
        found.sort_by_key(|stack| (stack.metadata.namespace.clone(), stack.metadata.name.clone()));
        Ok(found)
    }

    /// The Runs of a Stack, oldest first.
    pub(in crate::commands) fn runs(&self, stack: &Stack) -> Result<Vec<Run>, Trouble> {
        let (namespace, name) =
            (stack.metadata.namespace.as_deref(), stack.metadata.name.as_deref().unwrap_or_default());
        let mut runs: Vec<Run> = self.wait(find_all(&*self.store, namespace, &[(names::STACK, name)]))?;
        runs.sort_by_key(|run| run.spec.number);
        Ok(runs)
    }

    /// One Run.
    pub(in crate::commands) fn run(&self, namespace: &str, name: &str) -> Result<Option<Run>, Trouble> {
        Ok(self.wait(find::<Run>(&*self.store, namespace, name))?)
    }

    /// All of the plan of a Run; as much as the Run says of it, for those who may not read more.
    pub(in crate::commands) fn plan_text(&self, run: &Run) -> String {
        self.wait(plan_text::whole(&*self.store, run))
    }

    /// Changes an object. If somebody else writes at the same time, the change is made to what they wrote.
    pub(in crate::commands) fn change(
        &self,
        place: &Place,
        change: impl Fn(&mut DynamicObject) -> Result<(), Trouble>,
    ) -> Result<DynamicObject, Trouble> {
        for _ in 1..ATTEMPTS {
            match self.try_change(place, &change) {
                Err(Trouble::Store(StoreError::Conflict(_))) => {}
                done => return done,
            }
        }
        self.try_change(place, &change)
    }

    fn try_change(
        &self,
        place: &Place,
        change: &impl Fn(&mut DynamicObject) -> Result<(), Trouble>,
    ) -> Result<DynamicObject, Trouble> {
        let found = self.wait(self.store.get(place))?;
        let Some(mut object) = found else { return Err(StoreError::Missing(place.clone()).into()) };
        change(&mut object)?;
        Ok(self.wait(self.store.replace(&place.kind, &object))?)
    }

    /// Changes a Stack that is there.
    pub(in crate::commands) fn change_stack(
        &self,
        name: &StackName,
        change: impl Fn(&mut DynamicObject) -> Result<(), Trouble>,
    ) -> Result<(String, String), Trouble> {
        let (namespace, name) = self.place(name);
        match self.change(&Place::new(Kind::of::<Stack>(), &namespace, &name), change) {
            Err(Trouble::Store(StoreError::Missing(_))) => Err(self.no_stack(namespace, name)),
            done => done.map(|_| (namespace, name)),
        }
    }
}

/// Whose a state directory is: nobody else can write there.
fn owner(layout: &Layout) -> String {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(&layout.state).map_or_else(|_| "somebody".to_owned(), |found| format!("user {}", found.uid()))
}

/// Names that are nearly the same, or the same in another namespace.
fn similar(known: &[Stack], namespace: &str, name: &str) -> Vec<String> {
    let is_near = |stack: &&Stack| {
        let own = stack.metadata.name.as_deref().unwrap_or_default();
        let here = stack.metadata.namespace.as_deref() == Some(namespace);
        own == name || (here && (own.contains(name) || groma_model::text::suggestion(name, [own]).is_some()))
    };
    let full = |stack: &Stack| {
        let part = |text: &Option<String>| text.clone().unwrap_or_default();
        format!("{}/{}", part(&stack.metadata.namespace), part(&stack.metadata.name))
    };
    known.iter().filter(is_near).take(SUGGESTED).map(full).collect()
}

/// An annotation.
pub(in crate::commands) fn annotate(object: &mut DynamicObject, name: &str, value: &str) {
    object.metadata.annotations.get_or_insert_default().insert(name.to_owned(), value.to_owned());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stack(namespace: &str, name: &str) -> Stack {
        let mut stack = Stack::new(name, serde_json::from_value(json!({"source": {"inline": {}}})).unwrap());
        stack.metadata.namespace = Some(namespace.to_owned());
        stack
    }

    #[test]
    fn stacks_are_named_with_or_without_their_namespace() {
        let name = "team/app".parse::<StackName>().unwrap();
        assert_eq!((name.namespace.as_deref(), name.name.as_str()), (Some("team"), "app"));
        assert_eq!("app".parse::<StackName>().unwrap().namespace, None);
        for wrong in ["", "/", "a/", "/a", "a/b/c"] {
            assert!(wrong.parse::<StackName>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn near_names_and_those_of_other_namespaces_are_meant() {
        let known = [stack("a", "network"), stack("b", "netwrok"), stack("a", "app"), stack("a", "net")];
        assert_eq!(similar(&known, "a", "netwrok"), ["a/network", "b/netwrok"]);
        assert!(similar(&known, "c", "database").is_empty());
    }
}
