//! Providers of a working directory: where they come from, which are used, and installing them.

mod builtins;
mod install;
mod source;

use std::collections::BTreeMap;
use std::path::PathBuf;

use groma_model::address::Provider;
use groma_model::diag::Diagnostic;
use groma_provider::install::{BuiltInUse, Settings};

use crate::online::Online;
use crate::session::Session;
pub use builtins::ProgramBuiltins;
pub use install::{InstallOptions, LockFileChange, ProvidersInstalled};
pub use source::{Mirror, provider_source};

/// What is said outside the configuration about which providers are used.
#[derive(Debug, Clone, Default)]
pub struct ProviderChoice {
    /// Providers that run already (`TF_REATTACH_PROVIDERS`), as its text says.
    pub reattach: Option<String>,
    /// When providers that are part of the program are used.
    pub built_in_use: BuiltInUse,
}

impl Session {
    /// Where packages of providers are, and what is used instead of them.
    pub(crate) fn provider_settings(&self, online: &Online, choice: &ProviderChoice) -> Result<Settings, Diagnostic> {
        let target = self.start().working_dir.join(&self.start().data_dir).join("providers");
        let config = online.config();
        let overrides = config.installation.as_ref().map(|installation| installation.dev_overrides.clone());
        Ok(Settings {
            cache: config.plugin_cache_dir.clone(),
            cache_may_break_lock_file: config.may_break_lock_file,
            overrides: overrides.unwrap_or_default().into_iter().map(|(provider, dir)| self.absolute(provider, dir)).collect(),
            unmanaged: source::reattached(choice.reattach.as_deref())?,
            built_in_use: choice.built_in_use,
            signatures: source::signature_policy(online),
            ..Settings::new(target)
        })
    }

    fn absolute(&self, provider: Provider, dir: PathBuf) -> (Provider, PathBuf) {
        (provider, self.start().working_dir.join(dir))
    }
}

/// What to say when providers are taken from directories, whatever the lock file says.
pub fn override_warning(overrides: &BTreeMap<Provider, PathBuf>, consequence: &str) -> Option<Diagnostic> {
    if overrides.is_empty() {
        return None;
    }
    let list: String =
        overrides.iter().map(|(provider, dir)| format!(" - {} in {}\n", provider.for_display(), dir.display())).collect();
    let detail = format!(
        "The following provider development overrides are set in the CLI configuration:\n{list}\n{consequence}"
    );
    Some(Diagnostic::warning("Provider development overrides are in effect", detail))
}
