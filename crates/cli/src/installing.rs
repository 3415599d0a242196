//! What an installation says while it runs, in the words that people know.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use groma_model::version::Version;
use groma_run::modules::ModuleObserver;
use groma_run::progress::Progress;
use groma_run::providers::{AuthenticationResult, Event, Observer, Trust};

use crate::announce::Announcer;
use crate::failure::Failure;
use crate::progress::Bars;

/// Tells about modules and providers that are being installed.
pub(crate) struct Installing {
    announcer: Arc<Announcer>,
    bars: Bars,
    /// Directories of modules are shown, too.
    show_dirs: bool,
    /// That nobody listens any more is told at the end.
    broken: Mutex<Option<Failure>>,
}

impl Installing {
    pub(crate) fn new(announcer: Arc<Announcer>, show_dirs: bool) -> Self {
        let bars = Bars::new(announcer.is_human());
        Self { announcer, bars, show_dirs, broken: Mutex::default() }
    }

    /// What kept it from telling, if anything did.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    fn say(&self, text: &str) {
        let said = self.bars.aside(|| self.announcer.say(text));
        self.note(said);
    }

    fn note(&self, said: Result<(), Failure>) {
        if let Err(failure) = said {
            self.broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        }
    }
}

impl ModuleObserver for Installing {
    fn downloading(&self, key: &str, package: &str, version: Option<&Version>) {
        let version = version.map_or(String::new(), |version| format!(" {version}"));
        self.say(&format!("Downloading {package}{version} for {key}..."));
    }

    fn installed(&self, key: &str, dir: &Path) {
        let place = if self.show_dirs { format!(" in {}", dir.display()) } else { String::new() };
        let said = self
            .bars
            .aside(|| self.announcer.say_both(&format!("- {key}{place}"), &format!("installing {key}{place}")));
        self.note(said);
    }

    fn progress(&self) -> &dyn Progress {
        &self.bars
    }
}

impl Observer for Installing {
    fn observe(&self, event: Event) {
        match &event {
            Event::DownloadBegin { provider, total } => self.bars.begin(&provider.for_display(), *total),
            Event::DownloadProgress { provider, bytes } => self.bars.advance(&provider.for_display(), *bytes),
            Event::DownloadEnd { provider } => self.bars.end(&provider.for_display()),
            Event::Pending(_) => {
                let title = format!("\n{}", self.announcer.ui().bold("Initializing provider plugins..."));
                let said = self.announcer.say_both(&title, "Initializing provider plugins...");
                self.note(said);
            }
            Event::FetchSuccess { provider, version, authentication, .. } => {
                let shown = provider.for_display();
                let size = self.bars.size(&shown).map_or(String::new(), |size| format!(", {size}"));
                let line = installed_line(&shown, version, authentication.as_ref());
                self.say(&format!("{line}{size}"));
            }
            other => {
                if let Some(line) = line(other) {
                    self.say(&line);
                }
            }
        }
    }
}

fn installed_line(provider: &str, version: &Version, authentication: Option<&AuthenticationResult>) -> String {
    let trust = authentication.map_or(Trust::Unauthenticated, AuthenticationResult::trust);
    match &trust {
        Trust::SigningSkipped => format!(
            "- Installed {provider} v{version}. Signature validation was skipped due to the registry not containing GPG \
             keys for this provider"
        ),
        Trust::Signed(keys) => format!("- Installed {provider} v{version} (signed, key ID {})", keys.join(", ")),
        other => format!("- Installed {provider} v{version} ({other})"),
    }
}

/// What to say about an event; most are not worth a line.
fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::BuiltIn { provider, mirrors: None } => {
            format!("- {} is built in to groma", provider.for_display())
        }
        Event::BuiltIn { provider, mirrors: Some(version) } => {
            format!("- Using built-in {} v{version} (in-process)", provider.for_display())
        }
        Event::BuiltInNotAdmitted { provider, mirrors, constraints } => format!(
            "- Not using built-in {} v{mirrors}, which does not match {:?}",
            provider.for_display(),
            constraints.canonical()
        ),
        Event::Overridden { provider, directory } => {
            format!("- Using {} from {} (development override)", provider.for_display(), directory.display())
        }
        Event::Unmanaged(provider) => {
            format!("- Using {}, which runs already (TF_REATTACH_PROVIDERS)", provider.for_display())
        }
        Event::QueryBegin { provider, locked: true, .. } => {
            format!("- Reusing previous version of {} from the dependency lock file", provider.for_display())
        }
        Event::QueryBegin { provider, constraints, .. } if constraints.is_empty() => {
            format!("- Finding latest version of {}...", provider.for_display())
        }
        Event::QueryBegin { provider, constraints, .. } => {
            format!("- Finding {} versions matching {:?}...", provider.for_display(), constraints.canonical())
        }
        Event::AlreadyInstalled { provider, version, in_cache: true } => format!(
            "- Detected previously-installed {} v{version} in the shared cache directory",
            provider.for_display()
        ),
        Event::AlreadyInstalled { provider, version, in_cache: false } => {
            format!("- Using previously-installed {} v{version}", provider.for_display())
        }
        Event::FetchBegin { provider, version, in_cache, .. } => {
            let place = if *in_cache { " to the shared cache directory" } else { "" };
            format!("- Installing {} v{version}{place}...", provider.for_display())
        }
        Event::LinkBegin { provider, version, .. } => {
            format!("- Using {} v{version} from the shared cache directory", provider.for_display())
        }
        Event::CacheBusy { directory } => format!("- Waiting for lock on cache directory {}", directory.display()),
        _ => return None,
    })
}
