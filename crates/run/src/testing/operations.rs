//! What runs do with a module: check it, plan it, apply the plan. States are kept by whoever asks.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use groma_engine::apply::{self, Applied, NoLogbook};
use groma_engine::events::Silence;
use groma_engine::interrupt::{Interrupt, Urgency};
use groma_engine::plan::{self, Options, Plan};
use groma_engine::providers::Providers;
use groma_lang::environment::Environment as _;
use groma_lang::oracle::NothingExists;
use groma_lang::walk::{InputValue, Purpose, Settings, Walk};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_state::State;

use super::TestSuite;
use super::mock::MockedProviders;
use super::prepare::Prepared;
use crate::operate::add_new;
use crate::providers::BookOracle;
use crate::session::Session;

/// A configuration with everything that it is worked with.
pub(super) struct Work<'a> {
    pub(super) suite: &'a TestSuite,
    pub(super) session: &'a Session,
    pub(super) prepared: &'a Prepared,
    pub(super) inputs: &'a BTreeMap<Str, InputValue>,
    /// Says that everything must be let go of.
    pub(super) interrupt: &'a Interrupt,
    /// When it is planned.
    pub(super) time: (i64, u32),
}

impl<'a> Work<'a> {
    pub(super) fn new(
        suite: &'a TestSuite,
        session: &'a Session,
        prepared: &'a Prepared,
        inputs: &'a BTreeMap<Str, InputValue>,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self { suite, session, prepared, inputs, interrupt, time: session.machine().now() }
    }

    fn oracle(&self) -> NothingExists<BookOracle<'a>> {
        NothingExists(BookOracle::new(self.suite.providers.book(), Some(&self.suite.access)))
    }

    fn providers(&self) -> Arc<dyn Providers> {
        let real = Arc::clone(&self.suite.providers) as Arc<dyn Providers>;
        Arc::new(MockedProviders::new(real, self.prepared.mocks.clone()))
    }

    /// Checks the configuration, whatever the values.
    pub(super) fn validate(&self) -> Diagnostics {
        let oracle = self.oracle();
        let settings = self.session.settings(Purpose::Validate, &oracle);
        let (_, mut diagnostics) = Walk::run(&self.prepared.tree, settings, self.inputs);
        diagnostics.extend(oracle.0.take_problems());
        diagnostics
    }

    /// Makes a plan.
    pub(super) fn plan(
        &self,
        state: &State,
        options: &Options,
        abandoned: &mut dyn FnMut(),
    ) -> (Option<Plan>, Diagnostics) {
        let oracle = self.oracle();
        let own = Interrupt::default();
        let request = plan::Request {
            rules: &groma_rules::Rules::default(),
            tree: &self.prepared.tree,
            inputs: self.inputs,
            settings: self.settings(&oracle),
            schemas: &oracle.0,
            providers: self.providers(),
            state,
            options,
            events: Arc::new(Silence),
            interrupt: own.clone(),
            provider_versions: &BTreeMap::new(),
            listing: None,
        };
        let (plan, mut diagnostics) = match self.wait(plan::plan(request), &own, abandoned) {
            Ok(planned) => planned,
            Err(problem) => (None, problem.into()),
        };
        add_new(&mut diagnostics, oracle.0.take_problems());
        (plan, diagnostics)
    }

    /// Carries a plan out.
    pub(super) fn apply(&self, plan: &Plan, abandoned: &mut dyn FnMut()) -> Applied {
        let oracle = self.oracle();
        let own = Interrupt::default();
        let request = apply::Request {
            plan,
            rules: &groma_rules::Rules::default(),
            tree: &self.prepared.tree,
            inputs: self.inputs,
            settings: self.settings(&oracle),
            schemas: &oracle.0,
            providers: self.providers(),
            parallelism: plan.options.parallelism,
            events: Arc::new(Silence),
            provisioners: Arc::clone(&self.suite.provisioners),
            interrupt: own.clone(),
            logbook: Arc::new(NoLogbook),
        };
        let applied = self.wait(apply::apply(request), &own, abandoned);
        let mut applied = applied.unwrap_or_else(|problem| Applied {
            state: plan.prior_state.clone(),
            diagnostics: problem.into(),
            skipped: Vec::new(),
        });
        add_new(&mut applied.diagnostics, oracle.0.take_problems());
        applied
    }

    /// What a walk needs to know.
    pub(super) fn settings<'s>(&'s self, oracle: &'s dyn groma_lang::oracle::ResourceOracle) -> Settings<'s> {
        Settings { plan_time: Some(self.time), ..self.session.settings(Purpose::Evaluate, oracle) }
    }

    /// Waits for something. The first interrupt lets it be finished; the second one does not.
    fn wait<T>(
        &self,
        work: impl Future<Output = T>,
        own: &Interrupt,
        abandoned: &mut dyn FnMut(),
    ) -> Result<T, Diagnostic> {
        self.suite.access.online.wait(async {
            let mut work = pin!(work);
            tokio::select! {
                done = &mut work => return done,
                () = self.interrupt.reaches(Urgency::Now) => {}
            }
            abandoned();
            own.ask();
            own.ask();
            work.await
        })
    }
}
