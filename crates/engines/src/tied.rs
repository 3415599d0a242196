//! Programs that end with us. What an engine does belongs to whoever holds the state; when that is gone, somebody else may hold it. So an engine
//! can be started through a program of ours, which asks the system to end it with its parent, and becomes it.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// What is to be become: our own number, the program, and its arguments.
const ORDER: &str = "GROMA_BECOMES";

/// Stands between them, and in none of them: arguments are flags, paths and addresses.
const BETWEEN: &str = "\n\u{1}";

/// The order to become a program, for the environment.
pub(crate) fn order(program: &str, arguments: &[String]) -> (&'static str, String) {
    let parts = [std::process::id().to_string(), program.to_owned()];
    let all = parts.into_iter().chain(arguments.iter().cloned());
    (ORDER, all.collect::<Vec<_>>().join(BETWEEN))
}

/// Becomes what the environment orders. Comes back only if that is not possible.
pub fn become_ordered(environment: &BTreeMap<String, String>) -> io::Error {
    let Some(order) = environment.get(ORDER) else { return io::Error::other("nobody says what to become") };
    let mut parts = order.split(BETWEEN);
    let (parent, program) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if let Err(problem) = end_with_parent() {
        return problem;
    }
    // It may have ended just before we asked for that.
    if nix::unistd::getppid().to_string() != parent {
        return io::Error::other("who wanted this is gone");
    }
    Command::new(program).args(parts).env_remove(ORDER).exec()
}

#[cfg(target_os = "linux")]
fn end_with_parent() -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL).map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn end_with_parent() -> io::Result<()> {
    Ok(())
}
