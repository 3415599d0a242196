//! Where the state is and how it is locked.

use std::path::PathBuf;
use std::time::Duration;

use groma_run::state_access::LockWish;

/// How the state is locked.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LockArgs {
    /// Whether the state is locked meanwhile. Without a lock, others can change it at the same time.
    #[arg(long, value_name = "BOOL", default_value = "true", default_missing_value = "true", num_args = 0..=1,
          require_equals = true, action = clap::ArgAction::Set, value_parser = super::go_bool)]
    pub(crate) lock: bool,

    /// How long to wait for the lock of somebody else, such as 30s or 5m.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration, allow_hyphen_values = true)]
    pub(crate) lock_timeout: Duration,

    /// Change it although somebody else looks after it: an operator, as a file .groma/owner or the state itself says.
    #[arg(long)]
    pub(crate) i_know: bool,
}

impl LockArgs {
    /// What is wished for.
    pub(crate) fn wish(&self) -> LockWish {
        LockWish { wanted: self.lock, timeout: self.lock_timeout, regardless: self.i_know }
    }
}

/// Where the state is, for the local backend only.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct PathArgs {
    /// Read the state from this file, and write it there unless -state-out is given. Only for the local backend.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

    /// Write the state to this file. Only for the local backend.
    #[arg(long, value_name = "FILE")]
    pub(crate) state_out: Option<PathBuf>,

    /// Where the previous state is kept; "-" keeps none. Only for the local backend.
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub(crate) backup: Option<PathBuf>,
}

/// What is minded about remote backends.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BackendArgs {
    /// Do not mind the version of a remote backend.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
}

/// Reads durations such as `1h30m`, `1.5s` or `300ms`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no duration; write a number with a unit, such as 30s or 5m");
    let unsigned = text.strip_prefix('+').or_else(|| text.strip_prefix('-')).unwrap_or(text);
    if unsigned == "0" {
        return Ok(Duration::ZERO);
    }
    let mut seconds = 0.0;
    let mut rest = unsigned;
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit() && character != '.').ok_or_else(wrong)?;
        let amount: f64 = rest[..digits].parse().map_err(|_| wrong())?;
        let after = &rest[digits..];
        let unit_end =
            after.find(|character: char| character.is_ascii_digit() || character == '.').unwrap_or(after.len());
        seconds += amount * unit(&after[..unit_end]).ok_or_else(wrong)?;
        rest = &after[unit_end..];
    }
    if unsigned.is_empty() {
        return Err(wrong());
    }
    // A time in the past is over already.
    let seconds = if text.starts_with('-') { 0.0 } else { seconds };
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

/// How many seconds a unit has.
fn unit(name: &str) -> Option<f64> {
    Some(match name {
        "h" => 3600.0,
        "m" => 60.0,
        "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" | "μs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        let millis = |text: &str| duration(text).map(|duration| duration.as_millis());
        assert_eq!(millis("0"), Ok(0));
        assert_eq!(millis("1h2m3.5s"), Ok(3_723_500));
        assert_eq!(millis("300ms"), Ok(300));
        assert_eq!(millis("-3s"), Ok(0));
        assert!(millis("").is_err());
        assert!(millis("5").is_err());
        assert!(millis("five").is_err());
        assert!(millis("5 s").is_err());
        assert!(millis("9999999999999999999h").is_err());
    }
}
