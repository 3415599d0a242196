//! An operator from its beginning to its end, on a cluster ([`standalone`] has one without): it waits until it leads, works, and ends in an orderly way. What it works with
//! is given; where that comes from is the command line's business.

mod endpoints;
pub mod leader;
pub mod standalone;

use std::net::SocketAddr;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use tokio::sync::watch;

use crate::api::shared::Moment;
use crate::metrics::Metrics;
use crate::objects::Store;
use crate::objects::cluster::{Cluster, NoCluster, Reach};
use crate::objects::spare::WithSpare;
use crate::operator::{Operator, Options};
use crate::runs::in_process::{Clock, Room};
use crate::runs::job::{self, Executing, execute};
use crate::serve::leader::Leader;
use crate::stack::reconcile::Settings;
use crate::terraform;
use crate::territory::Account;
use crate::voices::notifications::announcing::Announcing;
use crate::voices::webhooks::call::allowed_url;
use crate::voices::{self, Voices};
use crate::work::Workshop;

/// Who tells of events, and whose Lease it is.
const COMPONENT: &str = "groma-operator";

/// How an operator works.
pub struct Serving {
    /// On which cluster.
    pub reach: Reach,
    /// What is the same for all Stacks.
    pub settings: Settings,
    /// How objects of tofu-controller are looked after. None if they are not.
    pub terraform: Option<terraform::reconcile::Settings>,
    /// What is the same for all runs.
    pub workshop: Workshop,
    /// How many runs at once.
    pub room: Room,
    /// What is the same for all Jobs.
    pub jobs: job::Settings,
    /// Who we are, if we need rights where there are Stacks.
    pub account: Option<Account>,
    /// How many objects are looked at at once.
    pub workers: usize,
    /// Which namespaces; all of them if none is named.
    pub namespaces: Vec<String>,
    /// Where figures are told, if anywhere.
    pub metrics_address: Option<SocketAddr>,
    /// Where the Lease is that says who leads. None if there is no other operator.
    pub lease_namespace: Option<String>,
    /// Who we are.
    pub identity: String,
    /// Whom it speaks with besides.
    pub voices: voices::Settings,
}

/// Why an operator did not begin, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There is no cluster, or not as whom.
    #[error("no cluster can be reached: {0}")]
    Cluster(#[from] NoCluster),
    /// What was done could not be written down.
    #[error("the run was left: {0}")]
    Work(String),
    /// What was said about where events are told is no address.
    #[error("-events-addr: {0}")]
    EventsAddress(String),
    /// Somebody else leads.
    #[error("the lease was lost: another operator leads now")]
    Deposed,
}

/// Works until it is told to stop.
pub async fn serve(serving: Serving, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServeError> {
    let (client, _) = serving.reach.client().await?;
    let metrics = Arc::new(Metrics::default());
    let objects = WithSpare::new(Cluster::new(client, COMPONENT), system_clock());
    let store: Arc<dyn Store> = match &serving.voices.events_address {
        Some(to) => {
            allowed_url(to, None).map_err(ServeError::EventsAddress)?;
            Arc::new(Announcing::new(objects, to.clone(), system_clock(), Arc::clone(&metrics)))
        }
        None => Arc::new(objects),
    };
    if let Some(address) = serving.metrics_address {
        let metrics = Arc::clone(&metrics);
        tokio::spawn(async move {
            if let Err(problem) = endpoints::answer(address, metrics).await {
                tracing::error!(%address, %problem, "nobody is told figures, nor whether the operator is well");
            }
        });
    }
    let leader = serving
        .lease_namespace
        .as_ref()
        .map(|namespace| Leader::new(Arc::clone(&store), namespace, COMPONENT, &serving.identity));
    let (stopping, mut stopped) = watch::channel(false);
    tokio::spawn(async move {
        stop.await;
        let _ = stopping.send(true);
    });
    let mut told = stopped.clone();
    if let Some(leader) = &leader {
        tokio::select! {
            () = leader.elected() => {}
            _ = told.wait_for(|stop| *stop) => return Ok(()),
        }
    }
    metrics.leads(true);
    tracing::info!(identity = serving.identity, "this operator works");
    let cluster = Some(serving.reach.states().await?);
    let voices = Voices::new(Arc::clone(&store), &system_clock(), Arc::clone(&metrics), &serving.voices);
    let operator = Operator::new(
        store,
        Options {
            settings: serving.settings,
            terraform: serving.terraform,
            workshop: Workshop { cluster, ..serving.workshop },
            room: serving.room,
            jobs: serving.jobs,
            metrics: Arc::clone(&metrics),
            account: serving.account,
            workers: serving.workers,
            namespaces: serving.namespaces,
            holder: serving.identity,
            clock: system_clock(),
        },
    );
    operator.speaks_through(voices);
    let (ending, mut ended) = watch::channel(false);
    let working = tokio::spawn(operator.run(async move {
        let _ = ended.wait_for(|end| *end).await;
    }));
    let lost = async {
        match &leader {
            Some(leader) => leader.until_lost().await,
            None => std::future::pending().await,
        }
    };
    let was_deposed = tokio::select! {
        () = lost => true,
        _ = stopped.wait_for(|stop| *stop) => false,
    };
    let _ = ending.send(true);
    metrics.leads(false);
    // Whatever went wrong there has been told.
    let _ = working.await;
    if was_deposed {
        return Err(ServeError::Deposed);
    }
    if let Some(leader) = &leader {
        leader.resign().await;
    }
    Ok(())
}

/// In the pod of a Job: works on one Run of a cluster.
pub async fn execute_one(
    reach: &Reach,
    (namespace, run): (String, String),
    (identity, job): (String, Option<String>),
    workshop: Workshop,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let store: Arc<dyn Store> = Arc::new(Cluster::new(reach.client().await?.0, COMPONENT));
    let workshop = Workshop { cluster: Some(reach.states().await?), ..workshop };
    let executing = Executing { run: (namespace, run), identity, job, workshop, clock: system_clock() };
    execute(store, executing, stop).await.map_err(|problem| ServeError::Work(problem.to_string()))
}

fn system_clock() -> Clock {
    Arc::new(|| Moment(Timestamp::now()))
}
