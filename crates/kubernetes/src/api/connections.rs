//! All connections of a process, one for each way to reach a cluster.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use groma_kit::at;
use groma_kit::outside::Outside;
use groma_model::diag::{Diagnostic, Diagnostics};
use tokio::sync::OnceCell;

use super::cluster::Cluster;
use super::link::Link;
use super::settings::{self, Trouble};
use crate::cluster::{CLUSTER, ClusterSpec, Given};

/// All connections of a process, one for each way to reach a cluster.
pub(crate) struct Connections {
    links: Arc<Links>,
    clusters: Mutex<HashMap<ClusterSpec, Arc<OnceCell<Arc<Cluster>>>>>,
    /// None until the provider is configured.
    default: Mutex<Option<Given>>,
    /// What was found missing, and told.
    missed: Mutex<BTreeSet<String>>,
}

/// Why there is no cluster.
enum Stopped {
    /// The kubeconfig is not there.
    Missing(String),
    Wrong(Box<Diagnostic>),
}

impl From<Trouble> for Stopped {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Missing(why) => Self::Missing(why),
            Trouble::Other(why) => Self::Wrong(unusable(&why).into()),
        }
    }
}

/// Ways to reach servers, and which of them the configuration of this run has.
pub(super) struct Links {
    outside: Outside,
    made: Mutex<HashMap<ClusterSpec, Arc<OnceCell<Arc<Link>>>>>,
    noted: Mutex<Vec<ClusterSpec>>,
}

impl Connections {
    pub(crate) fn new(outside: &Outside) -> Self {
        let links = Links { outside: outside.clone(), made: Mutex::default(), noted: Mutex::default() };
        Self { links: Arc::new(links), clusters: Mutex::default(), default: Mutex::default(), missed: Mutex::default() }
    }

    /// The provider's own connection, if it is configured with one; unknown while planning is possible.
    pub(crate) fn set_default(&self, given: Given) {
        if let Given::Here(spec) = &given {
            self.note(spec);
        }
        *self.default.lock().unwrap_or_else(PoisonError::into_inner) = Some(given);
    }

    /// The cluster that a resource is in. None if that is not known yet.
    pub(crate) async fn open(&self, given: &Given) -> Result<Option<Arc<Cluster>>, Diagnostic> {
        self.try_open(given).await.map_err(|stopped| match stopped {
            Stopped::Missing(why) => unusable(&why),
            Stopped::Wrong(wrong) => *wrong,
        })
    }

    /// The same while nothing is changed. A kubeconfig that is not there may be written by the apply, together with its cluster: then nothing is
    /// known yet, which is told once.
    pub(crate) async fn open_early(
        &self,
        given: &Given,
        told: &mut Diagnostics,
    ) -> Result<Option<Arc<Cluster>>, Diagnostic> {
        match self.try_open(given).await {
            Ok(opened) => Ok(opened),
            Err(Stopped::Missing(why)) => {
                if self.missed.lock().unwrap_or_else(PoisonError::into_inner).insert(why.clone()) {
                    told.push(missing(&why));
                }
                Ok(None)
            }
            Err(Stopped::Wrong(wrong)) => Err(*wrong),
        }
    }

    async fn try_open(&self, given: &Given) -> Result<Option<Arc<Cluster>>, Stopped> {
        let spec = match given {
            Given::Unknown => return Ok(None),
            Given::Here(spec) => spec.clone(),
            Given::Default => match self.default.lock().unwrap_or_else(PoisonError::into_inner).clone() {
                Some(Given::Here(spec)) => spec,
                Some(Given::Unknown) => return Ok(None),
                Some(Given::Default) | None => return Err(Stopped::Wrong(no_cluster().into())),
            },
        };
        let cell = entry(&self.clusters, &spec);
        let made = cell.get_or_try_init(|| async {
            let link = self.links.link(&spec).await.map_err(Stopped::from)?;
            Ok(Arc::new(Cluster::new(*spec, link, self.links.clone(), &self.links.outside)))
        });
        made.await.map(|cluster| Some(cluster.clone()))
    }

    /// Notes a connection that the configuration of this run has, so that objects whose stored credentials have expired can be reached with it.
    pub(crate) fn note(&self, spec: &ClusterSpec) {
        let mut noted = self.links.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if !noted.contains(spec) {
            noted.push(spec.clone());
        }
    }
}

impl Links {
    /// The way that is written there.
    async fn link(&self, spec: &ClusterSpec) -> Result<Arc<Link>, Trouble> {
        let cell = entry(&self.made, spec);
        let made = cell.get_or_try_init(|| async {
            let settings = settings::settings(spec, &self.outside).await?;
            Ok(Arc::new(Link::new(settings, &self.outside)))
        });
        made.await.cloned()
    }

    /// Other ways to the same server that the configuration has.
    pub(super) async fn others(&self, spec: &ClusterSpec, link: &Link) -> Vec<Arc<Link>> {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let server = settings::server(link.config());
        let mut found = Vec::new();
        // The one that was noted last is the most likely to be right.
        for other in noted.iter().rev().filter(|other| *other != spec) {
            if let Ok(other) = self.link(other).await
                && settings::server(other.config()) == server
            {
                found.push(other);
            }
        }
        found
    }
}

fn entry<T>(map: &Mutex<HashMap<ClusterSpec, Arc<OnceCell<T>>>>, spec: &ClusterSpec) -> Arc<OnceCell<T>> {
    let mut map = map.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cell) = map.get(spec) {
        return cell.clone();
    }
    map.entry(spec.clone()).or_default().clone()
}

fn no_cluster() -> Diagnostic {
    let detail = "Neither the resource nor the provider says how to reach a cluster. Give cluster in one of them: the \
                  provider's is never stored.";
    Diagnostic::error("No cluster is given", detail).at_path(at(CLUSTER))
}

fn missing(why: &str) -> Diagnostic {
    let detail = format!(
        "{why}. If this apply writes it, all is well, but until then nobody can be asked what would become of the objects: they \
         are planned as far as that goes without the server."
    );
    Diagnostic::warning("Kubeconfig does not exist yet", detail).at_path(at(CLUSTER).attr("kubeconfig_path"))
}

fn unusable(why: &str) -> Diagnostic {
    let detail = format!("The cluster cannot be used as it is given: {why}.");
    Diagnostic::error("Invalid cluster", detail).at_path(at(CLUSTER))
}
