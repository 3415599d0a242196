//! What a plugin prints to its standard error: structured lines (hclog JSON), text, and panics. Each becomes an event of
//! ours at its own level; the last lines are kept for the error in case it dies.

mod line;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

use crate::api::KnownSecrets;
pub(super) use line::Level;
use line::{Line, parse};

/// So many lines are kept.
const KEPT_LINES: usize = 50;

/// A line that never ends must not fill the memory.
const LONGEST_LINE: u64 = 256 << 10;

/// The last output of one plugin.
#[derive(Debug, Clone, Default)]
pub(super) struct Output(Arc<Mutex<Kept>>, KnownSecrets);

#[derive(Debug, Default)]
struct Kept {
    /// The last lines that say more than what it is just doing.
    notable: VecDeque<String>,
    /// The last lines of any kind.
    any: VecDeque<String>,
    /// A panic from its first line on: what matters is at the top.
    panic: Vec<String>,
    in_panic: bool,
}

impl Output {
    /// What it never has in it.
    pub(super) fn secrets(&self) -> KnownSecrets {
        self.1.clone()
    }

    /// What was printed last: a panic if there was one, else what is worth telling.
    pub(super) fn last_lines(&self) -> Vec<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.panic.is_empty() {
            kept.panic.clone()
        } else if kept.notable.is_empty() {
            kept.any.iter().cloned().collect()
        } else {
            kept.notable.iter().cloned().collect()
        }
    }

    /// Takes one line; tells how it is to be logged.
    fn take(&self, text: &str) -> Line {
        let mut line = parse(text);
        line.message = self.1.hidden(line.message);
        line.fields = line.fields.map(|fields| self.1.hidden(fields));
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.in_panic = line.starts_panic || (kept.in_panic && !line.structured);
        if kept.in_panic {
            line.level = Level::Error;
        }
        let shown = line.shown();
        if kept.in_panic && kept.panic.len() < KEPT_LINES {
            kept.panic.push(shown.clone());
        }
        if line.level >= Level::Info || !line.structured {
            keep(&mut kept.notable, shown.clone());
        }
        keep(&mut kept.any, shown);
        line
    }
}

fn keep(lines: &mut VecDeque<String>, line: String) {
    if lines.len() == KEPT_LINES {
        lines.pop_front();
    }
    lines.push_back(line);
}

/// Reads until the end. Every line becomes an event.
pub(super) async fn relay(provider: String, stderr: impl AsyncRead + Unpin, output: Output) {
    let mut stderr = BufReader::new(stderr);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match (&mut stderr).take(LONGEST_LINE).read_until(b'\n', &mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end_matches(['\n', '\r']);
        if !text.is_empty() {
            emit(&provider, &output.take(text));
        }
    }
}

fn emit(provider: &str, line: &Line) {
    macro_rules! event {
        ($level:ident) => {
            tracing::event!(
                target: "groma::plugin",
                tracing::Level::$level,
                provider,
                module = line.module.as_deref(),
                fields = line.fields.as_deref(),
                "{}",
                line.message
            )
        };
    }
    match line.level {
        Level::Trace => event!(TRACE),
        Level::Debug => event!(DEBUG),
        Level::Info => event!(INFO),
        Level::Warn => event!(WARN),
        Level::Error => event!(ERROR),
    }
}
