//! Sources that Stacks have their configurations from: repositories, which are looked at again and again, and artifacts of Flux. Each is fetched
//! once for all Stacks of a namespace that ask for the same, beside everything else: whoever asks is told what is known, and told again when
//! that changes. Nothing here is more than what can be fetched again.

pub mod flux;
mod folder;
mod follow;

#[cfg(test)]
mod tests;
pub mod watches;
pub mod wish;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groma_run::source::git::Manners;
use groma_run::source::tree::Tree;
use groma_run::source::{Limits, SourceError, Trouble};
use tokio::sync::{Notify, Semaphore};
use tokio::task::AbortHandle;

use crate::api::shared::Moment;
use crate::runs::in_process::Clock;
use crate::work::Workshop;
use folder::Folder;
use wish::Wish;

/// How many are looked at at once.
const TURNS: usize = 8;
/// So many failures in a row that may pass are worth telling, as long as something is known.
const WORTH_TELLING: u32 = 3;

/// Namespace and name of a Stack.
pub type Name = (String, String);

/// What sources may be, for whoever runs an operator to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Premises {
    /// How large they may be.
    pub limits: Limits,
}

/// How sources are fetched.
#[derive(Clone)]
pub struct Settings {
    /// Where trees are laid down.
    pub folder: PathBuf,
    /// What sources may be.
    pub premises: Premises,
    /// How git is run.
    pub manners: Manners,
    /// What time it is.
    pub clock: Clock,
}

impl Settings {
    /// Those of an operator.
    pub fn of(workshop: &Workshop, clock: Clock) -> Self {
        const PASSED_ON: [&str; 5] = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"];
        let known = |name: &String| PASSED_ON.iter().any(|known| known.eq_ignore_ascii_case(name));
        let environment = workshop.environment.iter().filter(|(name, _)| known(name));
        let environment = environment.map(|(name, value)| (name.clone(), value.clone())).collect();
        Self {
            folder: workshop.scratch.join(".sources"),
            premises: workshop.sources,
            manners: Manners {
                for_others: workshop.premises.shared,
                environment,
                networks: workshop.premises.networks.clone(),
            },
            clock,
        }
    }
}

/// What is known of a source.
#[derive(Debug, Clone)]
pub enum Known {
    /// It is being fetched for the first time.
    Fetching,
    /// This is what it has.
    Tree {
        /// All of it.
        tree: Arc<Tree>,
        /// Why nothing newer can be had, if that is so and worth telling.
        failing: Option<SourceError>,
    },
    /// It could not be fetched. It is tried again.
    Failed(SourceError),
}

/// All sources that somebody wants.
pub struct Sources {
    settings: Settings,
    registry: Mutex<Registry>,
    turns: Semaphore,
    told: Box<dyn Fn(&Name) + Send + Sync>,
}

#[derive(Default)]
struct Registry {
    entries: BTreeMap<String, Entry>,
    users: BTreeMap<Name, String>,
    /// Where trees are; made when it is first needed.
    folder: Option<Arc<Folder>>,
}

/// One source.
struct Entry {
    wish: Wish,
    /// Who wants it, and how often they want it looked at.
    users: BTreeMap<Name, Duration>,
    tree: Option<Arc<Tree>>,
    /// What the same source had before, for as long as what it has now cannot be had.
    before: Option<Arc<Tree>>,
    failure: Option<(SourceError, u32)>,
    /// When it was last looked whether there is something new, whatever came of it.
    checked_at: Option<Moment>,
    /// Who wants to know when it has been looked again.
    waiting: BTreeSet<Name>,
    wake: Arc<Notify>,
    task: Option<AbortHandle>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.task.iter().for_each(AbortHandle::abort);
    }
}

impl Entry {
    fn known(&self) -> Known {
        let failing = self.failure.as_ref();
        match (&self.tree, failing) {
            (Some(tree), failing) => {
                let is_worth = |(problem, count): &&(SourceError, u32)| {
                    *count >= WORTH_TELLING || problem.kind != Trouble::Passing
                };
                let failing = failing.filter(is_worth).map(|(problem, _)| problem.clone());
                Known::Tree { tree: Arc::clone(tree), failing }
            }
            // It may come yet.
            (None, Some((problem, count)))
                if self.before.is_some() && problem.kind == Trouble::Passing && *count < WORTH_TELLING =>
            {
                Known::Fetching
            }
            (None, Some((problem, _))) => match &self.before {
                Some(tree) => Known::Tree { tree: Arc::clone(tree), failing: Some(problem.clone()) },
                None => Known::Failed(problem.clone()),
            },
            (None, None) => Known::Fetching,
        }
    }

    /// What would make somebody decide otherwise.
    fn told(&self) -> (Option<(String, String)>, Option<String>) {
        match self.known() {
            Known::Fetching => (None, None),
            Known::Failed(problem) => (None, Some(problem.message)),
            Known::Tree { tree, failing } => {
                (Some((tree.revision.clone(), tree.digest.clone())), failing.map(|problem| problem.message))
            }
        }
    }
}

impl Sources {
    /// None yet. `told` hears of Stacks whose source is another one than before.
    pub fn new(settings: Settings, told: impl Fn(&Name) + Send + Sync + 'static) -> Arc<Self> {
        let turns = Semaphore::new(TURNS);
        Arc::new(Self { settings, registry: Mutex::default(), turns, told: Box::new(told) })
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of what a Stack wants. From now on it is told when that changes.
    pub fn ask(self: &Arc<Self>, stack: &Name, wish: Wish, interval: Duration) -> Known {
        let key = wish.key();
        let mut registry = self.registry();
        let before = registry.had_before(stack, &key, &wish);
        registry.release(stack, Some(&key));
        registry.users.insert(stack.clone(), key.clone());
        let entry = registry.entries.entry(key.clone()).or_insert_with(|| Entry {
            wish,
            users: BTreeMap::new(),
            tree: None,
            before: None,
            failure: None,
            checked_at: None,
            waiting: BTreeSet::new(),
            wake: Arc::default(),
            task: None,
        });
        entry.users.insert(stack.clone(), interval);
        if entry.tree.is_none() && entry.before.is_none() {
            entry.before = before;
        }
        if entry.task.is_none() {
            let following = tokio::spawn(follow::follow(Arc::downgrade(self), key, Arc::clone(&entry.wake)));
            entry.task = Some(following.abort_handle());
        }
        entry.known()
    }

    /// A Stack wants nothing any more.
    pub fn forget(&self, stack: &Name) {
        self.registry().release(stack, None);
    }

    /// Looks at once whether there is something new in repositories whose addresses are like that. Gives how many there are.
    pub fn refresh(&self, is_meant: impl Fn(&str) -> bool) -> usize {
        let registry = self.registry();
        let meant = registry.entries.values().filter(|entry| entry.wish.repository().is_some_and(&is_meant));
        meant.map(|entry| entry.wake.notify_one()).count()
    }

    /// Looks at once whether there is something new for a Stack, which is told when that is known.
    pub fn refresh_for(&self, stack: &Name) {
        let mut registry = self.registry();
        let Some(key) = registry.users.get(stack).cloned() else { return };
        if let Some(entry) = registry.entries.get_mut(&key) {
            entry.waiting.insert(stack.clone());
            entry.wake.notify_one();
        }
    }

    /// When it was last looked whether there is something new for a Stack.
    pub fn checked_at(&self, stack: &Name) -> Option<Moment> {
        let registry = self.registry();
        registry.users.get(stack).and_then(|key| registry.entries.get(key)).and_then(|entry| entry.checked_at)
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.registry().entries.len()
    }

    /// Nothing is looked at any more.
    pub fn stop(&self) {
        let mut registry = self.registry();
        registry.entries.clear();
        registry.users.clear();
    }
}

impl Registry {
    /// What a Stack had of a source that it wants something newer of now.
    fn had_before(&self, stack: &Name, key: &str, wish: &Wish) -> Option<Arc<Tree>> {
        let known = self.users.get(stack).filter(|known| *known != key)?;
        let entry = self.entries.get(known).filter(|entry| entry.wish.is_of_the_same(wish))?;
        entry.tree.as_ref().or(entry.before.as_ref()).map(Arc::clone)
    }

    /// A Stack wants something else than before. What nobody wants is forgotten.
    fn release(&mut self, stack: &Name, but: Option<&String>) {
        let Some(key) = self.users.get(stack).filter(|key| Some(*key) != but).cloned() else { return };
        self.users.remove(stack);
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.users.remove(stack);
            entry.waiting.remove(stack);
            if entry.users.is_empty() {
                self.entries.remove(&key);
            }
        }
    }
}
