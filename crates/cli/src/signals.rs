//! Being interrupted: the first time, what is under way is finished; the second time, nothing is.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use groma_run::engine::interrupt::Interrupt;

const FIRST: &str =
    "\nInterrupt received.\nPlease wait for groma to exit or data loss may occur.\nGracefully shutting down...\n";
const SECOND: &str = "\nTwo interrupts received. Exiting immediately. Note that data loss may have occurred.\n";

/// How long a run may take to end once nothing is finished any more. What it knows is still written down, if that is possible.
const GRACE: Duration = Duration::from_secs(5);

/// Says a message about an interrupt.
pub(crate) type Say = Arc<dyn Fn(Interruption) + Send + Sync>;

/// Which interrupt it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// The first.
    First,
    /// The second, and last.
    Second,
}

impl Interruption {
    /// What people are told.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::First => FIRST,
            Self::Second => SECOND,
        }
    }
}

/// Tells people.
pub(crate) fn say_to_people(which: Interruption) {
    // Nobody is left to tell if this fails.
    let _ = match which {
        Interruption::First => writeln!(io::stdout().lock(), "{}", which.message().trim_end_matches('\n')),
        Interruption::Second => writeln!(io::stderr().lock(), "{}", which.message().trim_end_matches('\n')),
    };
}

/// Listens until the program ends. Where signals cannot be had, they do what they always do: end it.
pub(crate) fn listen(interrupt: Interrupt, say: Say) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    // The handlers are there before anything is begun.
    let Ok(mut signals) = runtime.block_on(async { system::Signals::new() }) else { return };
    let listener = move || {
        runtime.block_on(async move {
            signals.next().await;
            interrupt.ask();
            say(Interruption::First);
            signals.next().await;
            interrupt.ask();
            say(Interruption::Second);
            tokio::select! {
                _ = signals.next() => {}
                () = tokio::time::sleep(GRACE) => {}
            }
            #[expect(clippy::exit, clippy::disallowed_methods, reason = "what still runs does not listen")]
            std::process::exit(1);
        });
    };
    // Without a thread, nobody listens; the handlers stay away then, too.
    let _ = std::thread::Builder::new().name("signals".into()).spawn(listener);
}

/// Which signal came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Somebody at the terminal, or whoever acts as if.
    Interrupt,
    /// Whoever started us.
    Terminate,
}

/// Listens until the program ends, for a program that we run: every signal is told. Nothing of ours ends because of it.
pub(crate) fn overhear(tell: impl Fn(Heard) + Send + 'static) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let Ok(mut signals) = runtime.block_on(async { system::Signals::new() }) else { return };
    let listener = move || {
        runtime.block_on(async move {
            loop {
                tell(signals.next().await);
            }
        });
    };
    let _ = std::thread::Builder::new().name("signals".into()).spawn(listener);
}

#[cfg(unix)]
mod system {
    //! SIGINT and SIGTERM.

    use std::io;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    use super::Heard;

    pub(super) struct Signals {
        interrupt: Signal,
        terminate: Signal,
    }

    impl Signals {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
        }

        pub(super) async fn next(&mut self) -> Heard {
            tokio::select! {
                _ = self.interrupt.recv() => Heard::Interrupt,
                _ = self.terminate.recv() => Heard::Terminate,
            }
        }
    }
}

#[cfg(not(unix))]
mod system {
    //! Ctrl-C.

    use std::io;

    use super::Heard;

    pub(super) struct Signals;

    impl Signals {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub(super) async fn next(&mut self) -> Heard {
            let _ = tokio::signal::ctrl_c().await;
            Heard::Interrupt
        }
    }
}
