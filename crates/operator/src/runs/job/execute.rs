//! In the pod of a Job: works on one Run, and ends.

use std::sync::Arc;
use std::time::Duration;

use crate::api::run::Run;
use crate::objects::{Store, StoreError, find};
use crate::runs::in_process::{Clock, InProcess, Key};
use crate::work::Workshop;

/// How often it is looked whether somebody wants it to end.
const PAUSE: Duration = Duration::from_secs(1);

/// What a pod works on.
pub struct Executing {
    /// The Run.
    pub run: Key,
    /// Who we are.
    pub identity: String,
    /// The Job that we belong to.
    pub job: Option<String>,
    /// What to work with.
    pub workshop: Workshop,
    /// What time it is.
    pub clock: Clock,
}

/// Works on the Run until it is over, waits for somebody, or we are told to stop.
pub async fn execute(
    store: Arc<dyn Store>,
    executing: Executing,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), StoreError> {
    let Executing { run: key, identity, job, workshop, clock } = executing;
    let executor = InProcess::in_job(Arc::clone(&store), workshop, identity, clock, job);
    let stopping = {
        let executor = Arc::clone(&executor);
        tokio::spawn(async move {
            stop.await;
            executor.close();
        })
    };
    let looking = {
        let (executor, key) = (Arc::clone(&executor), key.clone());
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(PAUSE).await;
                match find::<Run>(&*store, &key.0, &key.1).await {
                    Ok(Some(run)) if !run.spec.cancel => {}
                    Ok(_) => {
                        executor.interrupt(&key);
                        return;
                    }
                    Err(problem) => tracing::warn!(%problem, "it is not known whether the run is still wanted"),
                }
            }
        })
    };
    let done = executor.carry_out(&key).await;
    stopping.abort();
    looking.abort();
    done
}
