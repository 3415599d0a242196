//! What backends ask of the outside, made when the first of them is needed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use groma_backends::{Cluster, IsGone, Limits, Surroundings};
use groma_lang::environment::Environment as _;
use groma_model::diag::Diagnostic;
use tokio::runtime::{Handle, Runtime};

use crate::outside::Machine;

/// What backends ask of the outside. Clones share the runtime, which must not end before the backends.
#[derive(Clone)]
pub(crate) struct Network {
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) machine: Machine,
    pub(crate) working_dir: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) spool: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) is_gone: Option<IsGone>,
    pub(crate) runtime: Arc<OnceLock<Arc<Runtime>>>,
    /// The cluster that the session's own state is kept in, if somebody is connected to it.
    pub(crate) cluster: Option<Cluster>,
}

impl Network {
    /// Where network calls run that need a runtime of ours.
    pub(crate) fn runtime(&self) -> Result<Arc<Runtime>, Diagnostic> {
        if let Some(made) = self.runtime.get() {
            return Ok(Arc::clone(made));
        }
        let made = crate::online::new_runtime()?;
        Ok(Arc::clone(self.runtime.get_or_init(|| Arc::new(made))))
    }

    fn handle(&self) -> Result<Handle, Diagnostic> {
        match &self.cluster {
            Some(cluster) => Ok(cluster.runtime().clone()),
            None => Ok(self.runtime()?.handle().clone()),
        }
    }

    /// As backends take it.
    pub(crate) fn surroundings(&self) -> Result<Surroundings, Diagnostic> {
        let (environment, machine) = (self.environment.clone(), self.machine.clone());
        Ok(Surroundings {
            variable: Arc::new(move |name| environment.get(name).cloned()),
            working_dir: self.working_dir.clone(),
            home: self.home.clone(),
            runtime: self.handle()?,
            random: Arc::new(move || {
                let mut bytes = [0; 16];
                machine.random(&mut bytes);
                bytes
            }),
            spool: self.spool.clone(),
            cluster: self.cluster.clone(),
            limits: self.limits.clone(),
            is_gone: self.is_gone.clone(),
        })
    }
}
