//! `providers lock` and `providers mirror`: packages are fetched, but nothing is installed.

use std::path::Path;
use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_provider::install::{LockedPlatform, Observer, Platform, Requirements, lock_for_platforms, mirror};

use super::{Mirror, provider_source, source};
use crate::lock_file;
use crate::online::Online;
use crate::session::Session;

/// Who is told about what happens for a platform.
pub type ObserverOf<'a> = dyn Fn(&Platform) -> Arc<dyn Observer> + 'a;

impl Session {
    /// Adds hashes for platforms to the lock file. Gives what changed, and warnings.
    pub fn lock_providers(
        &mut self,
        online: &Online,
        needed: &Requirements,
        platforms: &[Platform],
        (place, observer): (&Mirror, &ObserverOf<'_>),
    ) -> Result<(Vec<LockedPlatform>, Diagnostics), Diagnostics> {
        let (locks, diagnostics) = self.locks();
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let working_dir = self.start().working_dir.clone();
        let found = provider_source(online, &working_dir, Some(place))?;
        let client = online.discovery().client().clone();
        let signatures = source::signature_policy(online);
        let locked =
            online.wait(lock_for_platforms((found, client), needed, &locks, platforms, signatures, observer))?;
        let locked = locked.map_err(|problem| Diagnostic::error(problem.summary(), format!("{problem}.")))?;
        lock_file::save(&working_dir, &locked.locks)?;
        Ok((locked.changes, diagnostics))
    }

    /// Puts packages for platforms into a directory.
    pub fn mirror_providers(
        &mut self,
        online: &Online,
        needed: &Requirements,
        platforms: &[Platform],
        (directory, observer): (&Path, &dyn Observer),
    ) -> Diagnostics {
        let (locks, mut diagnostics) = self.locks();
        if diagnostics.has_errors() {
            return diagnostics;
        }
        let working_dir = self.start().working_dir.clone();
        let found = match provider_source(online, &working_dir, Some(&Mirror::Registries)) {
            Ok(found) => found,
            Err(problems) => return problems,
        };
        let client = online.discovery().client().clone();
        match online.wait(mirror((found, client), needed, &locks, platforms, directory, observer)) {
            Ok((_, problems)) => diagnostics.extend(problems),
            Err(problem) => diagnostics.push(problem),
        }
        diagnostics
    }
}
