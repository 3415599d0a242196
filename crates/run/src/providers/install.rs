//! Installing the providers of a configuration, and recording what was selected.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use groma_model::address::Provider;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_provider::install::{
    Builtins as _, Event, Failure, InstallError, Installer, Locks, Mode, Observer, Platform, SourceError, Trust,
};

use super::{Mirror, ProgramBuiltins, ProviderChoice, override_warning, provider_source};
use crate::lock_file;
use crate::online::Online;
use crate::providers::requirements::{ImplicitUse, ProviderRequirements};
use crate::session::Session;

/// How providers are installed.
#[derive(Debug, Clone, Default)]
pub struct InstallOptions {
    /// Takes the newest versions, whatever is locked.
    pub upgrade: bool,
    /// The lock file stays as it is.
    pub lock_file_readonly: bool,
    /// Directories to look into, instead of anything else.
    pub plugin_dirs: Vec<std::path::PathBuf>,
    /// Which providers are used.
    pub choice: ProviderChoice,
}

/// What became of the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockFileChange {
    /// It says the same.
    None,
    /// It is there for the first time.
    Created,
    /// It says something else now.
    Changed,
}

/// What an installation led to.
#[derive(Debug)]
pub struct ProvidersInstalled {
    /// What was found on the way.
    pub diagnostics: Diagnostics,
    /// What became of the lock file.
    pub lock_file: LockFileChange,
    /// Whether a package came with a signature.
    pub signed: bool,
}

/// A provider is a plugin, and plugins may not be started.
pub(super) fn refused(provider: &Provider, advice: &str) -> Diagnostic {
    let detail = format!("{} is a plugin, and plugins may not be started here. {advice}", provider.for_display());
    Diagnostic::error("Provider may not be started", detail)
}

impl Session {
    /// Reads the lock file. Versions that were selected for Terraform's registry hold for the same providers of the
    /// other one.
    pub fn locks(&mut self) -> (Locks, Diagnostics) {
        let dir = self.start().working_dir.clone();
        let (mut locks, mut diagnostics) = lock_file::load(self.sources_mut(), &dir);
        let adopted = locks.adopt_terraform_selections();
        if !adopted.is_empty() {
            let list: Vec<String> = adopted.iter().map(|(from, to)| format!("  - {from} => {to}")).collect();
            let list = list.join("\n");
            let detail = format!(
                "Some entries in your dependency lock file were rewritten:\n{list}\n\nThe version selections were preserved, \
                 but the hashes were not, because the releases in the two registries are not byte-for-byte identical."
            );
            diagnostics.push(Diagnostic::warning("Dependency lock file entries automatically updated", detail));
        }
        (locks, diagnostics)
    }

    /// Providers that may not be used here, because they are plugins. Known before any of them is fetched.
    pub fn refused_providers(&self, requirements: &ProviderRequirements) -> Diagnostics {
        let Some(advice) = &self.start().bounds.no_plugins else { return Diagnostics::new() };
        let plugins = requirements.all.keys().filter(|provider| ProgramBuiltins.find(provider).is_none());
        plugins.map(|provider| refused(provider, advice)).collect()
    }

    /// Makes sure that all providers are there, and records what was selected.
    pub fn install_providers(
        &mut self,
        online: &Online,
        requirements: &ProviderRequirements,
        options: &InstallOptions,
        observer: Arc<dyn Observer>,
    ) -> ProvidersInstalled {
        let mut outcome =
            ProvidersInstalled { diagnostics: Diagnostics::new(), lock_file: LockFileChange::None, signed: false };
        match self.try_install(online, requirements, options, observer, &mut outcome) {
            Ok(()) => {}
            Err(problems) => outcome.diagnostics.extend(problems),
        }
        outcome
    }

    fn try_install(
        &mut self,
        online: &Online,
        requirements: &ProviderRequirements,
        options: &InstallOptions,
        observer: Arc<dyn Observer>,
        outcome: &mut ProvidersInstalled,
    ) -> Result<(), Diagnostics> {
        let settings = self.provider_settings(online, &options.choice)?;
        let advice = "Skip groma init when using provider development overrides. It is not necessary and may error \
                      unexpectedly.";
        outcome.diagnostics.extend(override_warning(&settings.overrides, advice));
        let problems = requirements.check();
        let failed = problems.has_errors();
        outcome.diagnostics.extend(problems);
        let (previous, problems) = self.locks();
        if failed || problems.has_errors() {
            return Err(problems);
        }
        outcome.diagnostics.extend(problems);
        let working_dir = self.start().working_dir.clone();
        let mirror = (!options.plugin_dirs.is_empty()).then(|| Mirror::Directories(options.plugin_dirs.clone()));
        let source = provider_source(online, &working_dir, mirror.as_ref())?;
        let recorder = Arc::new(Recorder { inner: observer, seen: Mutex::default() });
        let installer = Installer::new(source, online.discovery().client().clone(), settings)
            .with_builtins(Arc::new(ProgramBuiltins))
            .with_observer(Arc::clone(&recorder) as Arc<dyn Observer>);
        let mode = match (options.upgrade, options.lock_file_readonly) {
            (_, true) => Mode::ReadOnly,
            (true, false) => Mode::Upgrade,
            (false, false) => Mode::Normal,
        };
        let installed = online.wait(installer.ensure(&requirements.all, &previous, mode))?;
        let seen = recorder.take();
        outcome.diagnostics.extend(seen.warnings);
        outcome.signed = seen.signed;
        let installed = installed.map_err(|error| failures(&error, requirements))?;
        let same = installed.locks.selects_same(&previous);
        if same {
            return Ok(());
        }
        if options.lock_file_readonly {
            outcome.diagnostics.push(not_updated());
            return Ok(());
        }
        outcome.diagnostics.extend(incomplete(&seen.incomplete));
        outcome.lock_file = if previous.is_empty() { LockFileChange::Created } else { LockFileChange::Changed };
        Ok(lock_file::save(&working_dir, &installed.locks)?)
    }
}

/// Remembers what is to be said at the end.
struct Recorder {
    inner: Arc<dyn Observer>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    incomplete: BTreeSet<Provider>,
    warnings: Diagnostics,
    signed: bool,
}

impl Recorder {
    fn take(&self) -> Seen {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for Recorder {
    fn observe(&self, event: Event) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match &event {
            // Hashes of this platform alone do not help on another one.
            Event::LockUpdated { provider, local, signed, prior, .. }
                if signed.is_empty() && (prior.is_empty() || prior == local) =>
            {
                seen.incomplete.insert(provider.clone());
            }
            Event::QueryWarnings { provider, warnings } => {
                let list: Vec<String> = warnings.iter().map(|warning| format!("- {warning}")).collect();
                let detail = format!("The remote registry returned warnings for {provider}:\n{}", list.join("\n"));
                seen.warnings.push(Diagnostic::warning("Additional provider information from registry", detail));
            }
            Event::FetchSuccess { provider, version, authentication: Some(result), .. } => {
                seen.signed |= matches!(result.trust(), Trust::Signed(_));
                if result.key_expired {
                    let detail = format!(
                        "The key that signed {} v{version} has expired. Set OPENTOFU_ENFORCE_GPG_EXPIRATION=true to refuse \
                         such packages.",
                        provider.for_display()
                    );
                    seen.warnings.push(Diagnostic::warning("Provider signing key has expired", detail));
                }
            }
            _ => {}
        }
        drop(seen);
        self.inner.observe(event);
    }
}

fn not_updated() -> Diagnostic {
    let detail = "Changes to the provider selections were detected, but not saved in the .terraform.lock.hcl file. To \
                  record these selections, run \"groma init\" without the \"-lockfile=readonly\" flag.";
    Diagnostic::warning("Provider lock file not updated", detail)
}

fn incomplete(providers: &BTreeSet<Provider>) -> Option<Diagnostic> {
    if providers.is_empty() {
        return None;
    }
    let names: Vec<String> = providers.iter().map(Provider::for_display).collect();
    let detail = format!(
        "Due to your customized provider installation methods, lock file checksums had to be calculated locally for the \
         following providers:\n  - {}\n\nThe current .terraform.lock.hcl file only includes checksums for {}, so these \
         providers cannot be installed on another platform.\n\nTo calculate additional checksums for another platform, \
         run:\n  groma providers lock -platform=linux_amd64\n(where linux_amd64 is the platform to generate)",
        names.join("\n  - "),
        Platform::current()
    );
    Some(Diagnostic::warning("Incomplete lock file information for providers", detail))
}

/// All failures, with a word about providers that nobody asked for by name.
fn failures(error: &InstallError, requirements: &ProviderRequirements) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if let InstallError::Providers(failures) = error {
        for (provider, (failure, _)) in failures {
            let unknown = matches!(failure, Failure::Query(error) if matches!(**error, SourceError::NotInRegistry(_)));
            let implicit = requirements.implicit.get(provider).and_then(|uses| uses.first());
            if let Some(first) = implicit.filter(|first| !first.names_provider)
                && unknown
                && !requirements.explicit.contains(provider)
            {
                diagnostics.push(guessed(provider, first));
            }
        }
    }
    diagnostics.extend(error.diagnostics());
    diagnostics
}

fn guessed(provider: &Provider, first: &ImplicitUse) -> Diagnostic {
    let (name, address) = (&provider.ty, &first.address);
    let detail = format!(
        "Because of the prefix of its resource type, {address} belongs to a provider with the local name {name:?}, which is \
         not declared in this module's required_providers block. So {} was looked for, but that provider does not \
         exist.\n\nMake at least one of the following changes to say which provider to use:\n\n- Add a declaration for \
         local name {name:?} to this module's required_providers block, with the full source address of the provider.\n- \
         Verify that {:?} is the correct resource type name.\n- Use a \"provider\" argument within this resource block.\n",
        provider.for_display(),
        first.resource_type.as_str()
    );
    Diagnostic::warning("Automatically-inferred provider dependency", detail).at(first.span)
}
