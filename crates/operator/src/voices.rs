//! Everything of the operator that speaks with others than the API server: it hears webhooks, looks after pull requests and tells people
//! how Stacks are. It has workers of its own, so that nobody who looks at Stacks waits for an answer.

pub mod notifications;
mod receiver;
pub mod requests;
pub mod webhooks;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use groma_network::Networks;
use kube::api::DynamicObject;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::api::names;
use crate::api::shared::KeyRef;
use crate::api::stack::Stack;
use crate::bundle::Content;
use crate::metrics::Metrics;
use crate::objects::{Kind, Notice, Place, Store, controller, data_of};
use crate::operator::agenda::Agenda;
use crate::runs::in_process::Clock;
use crate::sources::Sources;
use notifications::Notifier;
use receiver::signature::Event;
use receiver::{Ears, listen};
use requests::Requests;

/// How many of them speak at once.
const WORKERS: usize = 4;
/// How often it is told that somebody calls who has not the secret.
const COMPLAINTS: Duration = Duration::from_mins(10);

/// How it is spoken.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Where webhooks are heard, if anywhere.
    pub hook_address: Option<SocketAddr>,
    /// Where all events are told, if anywhere.
    pub events_address: Option<String>,
    /// Where connections to those whom Stacks name may lead. None for everywhere.
    pub networks: Option<Networks>,
}

/// Has the source of a Stack looked at anew.
pub trait Refresher: Send + Sync {
    /// As soon as it can be done; nobody waits for it.
    fn refresh(&self, namespace: &str, stack: &str);
}

impl Refresher for Sources {
    fn refresh(&self, namespace: &str, stack: &str) {
        self.refresh_for(&(namespace.to_owned(), stack.to_owned()));
    }
}

/// Speaks with others.
pub struct Voices {
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
    hook_address: Option<SocketAddr>,
    agenda: Agenda<Errand>,
    requests: Requests,
    notifier: Notifier,
    refresher: OnceLock<Arc<dyn Refresher>>,
    index: Mutex<BTreeMap<Name, Known>>,
}

/// Namespace and name of a Stack.
type Name = (String, String);

/// What is to be done, about which Stack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Errand {
    Requests(Name),
    Notify(Name),
}

/// What is known about a Stack.
#[derive(Default)]
struct Known {
    /// What calls about it are signed with.
    hook: Option<KeyRef>,
    has_requests: bool,
    /// When it was last told that somebody calls who has not the secret.
    complained: Option<Instant>,
}

impl Voices {
    /// Nobody speaks yet.
    pub fn new(store: Arc<dyn Store>, clock: &Clock, metrics: Arc<Metrics>, settings: &Settings) -> Arc<Self> {
        let networks = || settings.networks.clone();
        Arc::new(Self {
            requests: Requests::new(Arc::clone(&store), Arc::clone(clock), networks()),
            notifier: Notifier::new(Arc::clone(&store), Arc::clone(clock), Arc::clone(&metrics), networks()),
            store,
            metrics,
            hook_address: settings.hook_address,
            agenda: Agenda::default(),
            refresher: OnceLock::new(),
            index: Mutex::default(),
        })
    }

    /// Who has sources looked at when somebody calls.
    pub fn refreshes(&self, refresher: Arc<dyn Refresher>) {
        // There is one at most.
        let _ = self.refresher.set(refresher);
    }

    /// Works until it is dropped.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut tasks = JoinSet::new();
        if let Some(address) = self.hook_address {
            let ears: Arc<dyn Ears> = Arc::clone(&self) as Arc<dyn Ears>;
            tasks.spawn(async move {
                if let Err(problem) = listen(address, ears).await {
                    tracing::error!(%address, %problem, "webhooks are not heard");
                }
            });
        }
        for _ in 0..WORKERS {
            let me = Arc::clone(&self);
            tasks.spawn(async move {
                while let Some(errand) = me.agenda.next().await {
                    let again = match &errand {
                        Errand::Requests((namespace, name)) => me.requests.look_at(namespace, name).await,
                        Errand::Notify((namespace, name)) => me.notifier.look_at(namespace, name).await,
                    };
                    if let Some(again) = again {
                        me.agenda.add(errand.clone(), Instant::now() + again);
                    }
                    me.agenda.done(&errand);
                }
            });
        }
        while tasks.join_next().await.is_some() {}
    }

    /// A Stack was seen.
    pub(crate) fn see(&self, kind: &Kind, object: &DynamicObject, is_gone: bool) {
        if *kind != Kind::of::<Stack>() {
            return;
        }
        let metadata = &object.metadata;
        let (Some(namespace), Some(name)) = (metadata.namespace.clone(), metadata.name.clone()) else { return };
        let is_preview = metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(names::PREVIEW_OF));
        if let Some(owner) = controller(metadata).filter(|_| is_preview) {
            self.add(Errand::Requests((namespace.clone(), owner.name.clone())));
        }
        let key = (namespace, name);
        if is_gone {
            self.index().remove(&key);
            return;
        }
        let spec = &object.data["spec"];
        let git = &spec["source"]["git"];
        let has_requests = git["pullRequests"].is_object();
        let had_requests = {
            let mut index = self.index();
            let known = index.entry(key.clone()).or_default();
            known.hook = serde_json::from_value(git["webhook"]["secretRef"].clone()).ok();
            std::mem::replace(&mut known.has_requests, has_requests)
        };
        if has_requests || had_requests {
            self.add(Errand::Requests(key.clone()));
        }
        if spec["notifications"].as_array().is_some_and(|all| !all.is_empty()) {
            self.add(Errand::Notify(key));
        }
    }

    fn add(&self, errand: Errand) {
        self.agenda.add(errand, Instant::now());
    }

    fn index(&self) -> MutexGuard<'_, BTreeMap<Name, Known>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Ears for Voices {
    async fn secret(&self, namespace: &str, stack: &str) -> Option<Content> {
        let key = (namespace.to_owned(), stack.to_owned());
        let hook = self.index().get(&key).and_then(|known| known.hook.clone())?;
        let found = self.store.get(&Place::new(Kind::secret(), namespace, &hook.name)).await;
        match found {
            Ok(secret) => data_of(&secret?).remove(&hook.key).map(Content),
            Err(problem) => {
                tracing::warn!(namespace, stack, %problem, "the secret of a webhook could not be read");
                None
            }
        }
    }

    fn heard(&self, namespace: &str, stack: &str, event: Event) {
        self.metrics.heard(if event == Event::Other { "ignored" } else { "taken" });
        let key = (namespace.to_owned(), stack.to_owned());
        let has_requests = self.index().get(&key).is_some_and(|known| known.has_requests);
        if event == Event::Push
            && let Some(refresher) = self.refresher.get()
        {
            refresher.refresh(namespace, stack);
        }
        if event != Event::Other && has_requests {
            self.requests.is_new(namespace, stack);
            self.add(Errand::Requests(key));
        }
    }

    async fn refused(&self, namespace: &str, stack: &str) {
        self.metrics.heard("refused");
        {
            let key = (namespace.to_owned(), stack.to_owned());
            let mut index = self.index();
            let Some(known) = index.get_mut(&key).filter(|known| known.hook.is_some()) else { return };
            if known.complained.is_some_and(|at| at.elapsed() < COMPLAINTS) {
                return;
            }
            known.complained = Some(Instant::now());
        }
        let about = Place::new(Kind::of::<Stack>(), namespace, stack);
        let message = "Somebody calls the webhook of this Stack without the secret of spec.source.git.webhook.secretRef, or that is not \
                       there. It is said once in ten minutes.";
        let reason = "HookRefused".to_owned();
        self.store.notice(Notice { about, uid: None, is_warning: true, reason, message: message.to_owned() }).await;
    }
}
