//! Being asked to stop: once to finish what is under way and begin nothing else, twice to let go of everything.

use std::sync::Arc;

use tokio::sync::watch;

/// How urgently to stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Not at all.
    #[default]
    None,
    /// Finish what is under way, begin nothing else.
    Soon,
    /// Now.
    Now,
}

/// Asked to stop by whoever holds the other end. Clones are the same.
#[derive(Debug, Clone)]
pub struct Interrupt {
    urgency: Arc<watch::Sender<Urgency>>,
}

impl Default for Interrupt {
    fn default() -> Self {
        Self { urgency: Arc::new(watch::Sender::new(Urgency::None)) }
    }
}

impl Interrupt {
    /// How urgent it is now.
    pub fn urgency(&self) -> Urgency {
        *self.urgency.borrow()
    }

    /// Asks to stop; a second time, more urgently.
    pub fn ask(&self) {
        self.urgency.send_modify(|urgency| {
            *urgency = if *urgency == Urgency::None { Urgency::Soon } else { Urgency::Now };
        });
    }

    /// Waits until it is at least that urgent.
    pub async fn reaches(&self, least: Urgency) {
        let mut receiver = self.urgency.subscribe();
        // The sender lives as long as we do.
        let _ = receiver.wait_for(|urgency| *urgency >= least).await;
    }
}
