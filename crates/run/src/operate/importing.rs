//! Taking one object into the state without a plan.

use std::sync::Arc;

use groma_engine::import::{self, NOT_THERE, Named, Request};
use groma_engine::providers::Providers;
use groma_lang::oracle::NothingExists;
use groma_model::address::AbsInstance;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::State;

use super::{Operation, Watch, add_new};
use crate::providers::BookOracle;
use crate::session::Session;

impl Operation {
    /// Takes an object that exists already into the state, and stores that. On any error the state stays as it is. What is given
    /// are warnings, unless they are errors.
    pub fn import(&mut self, session: &Session, address: &AbsInstance, id: &str, watch: &Watch) -> Diagnostics {
        let (state, mut diagnostics) = self.imported(session, address, Named::Id(id), watch);
        if let Some(mut state) = state.filter(|_| !diagnostics.has_errors()) {
            self.hosts.name(&mut state);
            // What an earlier run may have made is this.
            self.storage.settle_object(&address.object(None));
            match self.storage.save(&mut state) {
                Ok(_) => self.state = Arc::new(state),
                Err(problems) => diagnostics.extend(problems),
            }
        }
        diagnostics.sort(session.sources());
        diagnostics
    }

    /// Looks for what earlier runs have asked providers to create without an answer, by name where that is known, else among
    /// those that the provider lists. What is
    /// there is taken into the state, in memory: it is stored with whatever is stored next.
    pub(super) fn look_for_doubtful(&mut self, session: &Session, watch: &Watch) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        for intent in self.storage.in_doubt() {
            let named = match (&intent.identity, &intent.import_id) {
                (Some(identity), _) => Named::Identity(identity),
                (None, Some(id)) => Named::Id(id),
                // What else there is may be it.
                (None, None) => Named::Listed,
            };
            let address = &intent.object.instance;
            let (state, found) = self.imported(session, address, named, watch);
            let is_not_there = found.iter().any(|found| found.summary == NOT_THERE);
            if let Some(state) = state.filter(|_| !found.has_errors()) {
                self.state = Arc::new(state);
                let detail = format!("{address}, which an earlier run may have created, exists and was taken in.");
                diagnostics.push(Diagnostic::warning("Object was found again", detail).of(address.to_string()));
            } else if !is_not_there {
                continue;
            }
            self.storage.settle(intent.operation);
        }
        diagnostics
    }

    fn imported(
        &self,
        session: &Session,
        address: &AbsInstance,
        named: Named<'_>,
        watch: &Watch,
    ) -> (Option<State>, Diagnostics) {
        let oracle = NothingExists(BookOracle::new(self.providers.book(), Some(&self.access)));
        let request = Request {
            tree: &self.tree,
            inputs: &self.inputs,
            settings: self.settings(session, &oracle),
            schemas: &oracle.0,
            providers: Arc::clone(&self.providers) as Arc<dyn Providers>,
            state: &self.state,
            address,
            named,
            events: Arc::clone(&watch.events),
        };
        let (state, mut diagnostics) = match self.access.online.wait(import::import(request)) {
            Ok(imported) => imported,
            Err(problem) => (None, problem.into()),
        };
        add_new(&mut diagnostics, oracle.0.take_problems());
        (state, diagnostics)
    }
}
