//! What providers list besides a plan: objects that are there already, and objects that no state knows.

use std::sync::Arc;

use groma_engine::plan::Plan;
use groma_engine::plan::listing::{Listing, Orphan, Wishes};
use groma_model::diag::Diagnostics;

use super::Operation;

impl Operation {
    /// With what is to be found out when the next plan is made.
    pub fn look_around(&mut self, wishes: Wishes) {
        let wanted = wishes != Wishes::default();
        self.listing = wanted.then(|| Arc::new(Listing::new(wishes, Arc::clone(&self.state))));
    }

    /// Objects that are there, and that neither the state nor the plan knows. Nothing, unless that was to be found out.
    pub fn orphans(&self, plan: &Plan) -> (Vec<Orphan>, Diagnostics) {
        let Some(listing) = &self.listing else { return (Vec::new(), Diagnostics::new()) };
        match self.access.online.wait(listing.orphans(&plan.prior_state)) {
            Ok(found) => found,
            Err(problem) => (Vec::new(), problem.into()),
        }
    }

    /// Deletes such an object, by its provider. What is given are warnings, unless they are errors.
    pub fn delete_orphan(&self, orphan: &Orphan) -> Diagnostics {
        match self.access.online.wait(orphan.delete()) {
            Ok(Ok(found) | Err(found)) => found,
            Err(problem) => problem.into(),
        }
    }
}
