//! Points at which a debug build can be told to die, so that tests see what is left behind. Release builds have none.

/// The variable that says where: the name of a point, and which time it is passed, as in `journal.synced#3`.
#[cfg(debug_assertions)]
const VARIABLE: &str = "GROMA_DIE_AT";

/// The names of all points, in the order in which a write passes them.
pub const POINTS: [&str; 16] = [
    "journal.begun",
    "intent.safe",
    "outcome.taken",
    "journal.appended",
    "journal.synced",
    "outcome.safe",
    "snapshot.announced",
    "state.backup",
    "state.stage",
    "state.rename",
    "state.sync",
    "state.retire",
    "snapshot.stored",
    "file.written",
    "file.renamed",
    "journal.removed",
];

/// Dies here if it is told to: at once, and as if somebody else had killed the process.
#[cfg(debug_assertions)]
pub fn point(name: &'static str) {
    use std::collections::BTreeMap;
    use std::sync::{LazyLock, Mutex, PoisonError};

    #[expect(clippy::disallowed_methods, reason = "what a test tells its victim cannot be passed in")]
    static TOLD: LazyLock<Option<(String, u64)>> = LazyLock::new(|| {
        let told = std::env::var(VARIABLE).ok()?;
        let (name, time) = told.split_once('#')?;
        Some((name.to_owned(), time.parse().ok()?))
    });
    static PASSED: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

    debug_assert!(POINTS.contains(&name), "{name} is not in the list");
    let Some((wanted, time)) = TOLD.as_ref() else { return };
    if wanted != name {
        return;
    }
    let mut passed = PASSED.lock().unwrap_or_else(PoisonError::into_inner);
    let count = passed.entry(name).or_default();
    *count += 1;
    if *count == *time {
        die();
    }
}

/// Nothing happens here.
#[cfg(not(debug_assertions))]
pub fn point(_: &'static str) {}

#[cfg(all(debug_assertions, unix))]
fn die() {
    let _ = nix::sys::signal::kill(nix::unistd::Pid::this(), nix::sys::signal::Signal::SIGKILL);
}

#[cfg(all(debug_assertions, not(unix)))]
fn die() {
    std::process::abort();
}
