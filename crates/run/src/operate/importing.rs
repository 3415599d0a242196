//! Taking one object into the state without a plan.

use std::sync::Arc;

use groma_engine::import::{self, Request};
use groma_engine::providers::Providers;
use groma_lang::oracle::NothingExists;
use groma_model::address::AbsInstance;
use groma_model::diag::Diagnostics;

use super::{Operation, Watch, add_new};
use crate::providers::BookOracle;
use crate::session::Session;

impl Operation {
    /// Takes an object that exists already into the state, and stores that. On any error the state stays as it is. What is given
    /// are warnings, unless they are errors.
    pub fn import(&mut self, session: &Session, address: &AbsInstance, id: &str, watch: &Watch) -> Diagnostics {
        let oracle = NothingExists(BookOracle::new(self.providers.book(), Some(&self.access)));
        let request = Request {
            tree: &self.tree,
            inputs: &self.inputs,
            settings: self.settings(session, &oracle),
            schemas: &oracle.0,
            providers: Arc::clone(&self.providers) as Arc<dyn Providers>,
            state: &self.state,
            address,
            id,
            events: Arc::clone(&watch.events),
        };
        let (state, mut diagnostics) = match self.access.online.wait(import::import(request)) {
            Ok(imported) => imported,
            Err(problem) => (None, problem.into()),
        };
        add_new(&mut diagnostics, oracle.0.take_problems());
        if let Some(mut state) = state.filter(|_| !diagnostics.has_errors()) {
            self.hosts.name(&mut state);
            match self.storage.save(&mut state) {
                Ok(_) => self.state = Arc::new(state),
                Err(problems) => diagnostics.extend(problems),
            }
        }
        diagnostics.sort(session.sources());
        diagnostics
    }
}
