//! How far transfers are: bars where a person watches, nothing anywhere else.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, PoisonError};

use groma_run::progress::Progress;
use indicatif::{HumanBytes, MultiProgress, ProgressBar, ProgressStyle};

/// All bars on the screen.
pub(crate) struct Bars {
    screen: Option<MultiProgress>,
    /// Bars by what they are for, and how many bytes have arrived.
    running: Mutex<BTreeMap<String, Transfer>>,
}

struct Transfer {
    bar: Option<ProgressBar>,
    bytes: u64,
}

impl Bars {
    /// Bars, if a person watches and wants to see them.
    pub(crate) fn new(wanted: bool) -> Self {
        let screen = (wanted && io::stderr().is_terminal()).then(MultiProgress::new);
        Self { screen, running: Mutex::default() }
    }

    /// Runs something that prints, with the bars out of the way.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.screen {
            Some(screen) => screen.suspend(print),
            None => print(),
        }
    }

    /// A transfer begins, perhaps again.
    pub(crate) fn begin(&self, what: &str, total: Option<u64>) {
        let bar = self.screen.as_ref().map(|screen| screen.add(styled(what, total)));
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Transfer { bar: Some(old), .. }) = running.insert(what.to_owned(), Transfer { bar, bytes: 0 }) {
            old.finish_and_clear();
        }
    }

    /// So many more bytes have arrived.
    pub(crate) fn advance(&self, what: &str, bytes: u64) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(transfer) = running.get_mut(what) {
            transfer.bytes += bytes;
            if let Some(bar) = &transfer.bar {
                bar.inc(bytes);
            }
        }
    }

    /// The transfer has ended.
    pub(crate) fn end(&self, what: &str) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Transfer { bar: Some(bar), .. }) = running.get(what) {
            bar.finish_and_clear();
        }
    }

    /// How much was transferred, for people.
    pub(crate) fn size(&self, what: &str) -> Option<String> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(what).filter(|transfer| transfer.bytes > 0).map(|transfer| HumanBytes(transfer.bytes).to_string())
    }
}

fn styled(what: &str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "  {msg} [{bar:24}] {bytes}/{total_bytes} {bytes_per_sec} {eta}"),
        None => (ProgressBar::new_spinner(), "  {msg} {spinner} {bytes} {bytes_per_sec}"),
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar.set_message(what.to_owned());
    bar
}

/// The bar of the one package of modules that is fetched at a time.
impl Progress for Bars {
    fn started(&self, _what: &str, total: Option<u64>) {
        self.begin("module", total);
    }

    fn advanced(&self, bytes: u64) {
        self.advance("module", bytes);
    }

    fn finished(&self) {
        self.end("module");
    }
}
