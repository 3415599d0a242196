//! Installing modules while the tree of modules is read: every call is looked at right before the module is.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groma_fetch::address::RemoteSource;
use groma_fetch::registry::modules::{ModuleAddress, ModuleLocation, ModuleRegistry, ModuleRegistryError};
use groma_lang::load::{ModuleRequest, SourceTree};
use groma_model::address::DEFAULT_HOST;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_model::version::{Constraints, Version};

use super::manifest::{Manifest, Record};
use super::source::Source;
use super::{ModuleObserver, fetching};
use crate::disk::Disk;
use crate::online::Online;

/// A tree of sources that installs what is called.
pub(super) struct Installing<'a> {
    pub(super) disk: &'a Disk,
    pub(super) online: &'a Online,
    pub(super) observer: &'a dyn ModuleObserver,
    /// Where modules are installed, relative to the working directory.
    pub(super) modules_dir: PathBuf,
    /// Whether what is installed already is fetched again.
    pub(super) upgrade: bool,
    pub(super) state: RefCell<State>,
}

/// What changes on the way.
#[derive(Default)]
pub(super) struct State {
    pub(super) manifest: Manifest,
    /// What was fetched in this run, and where to: the same package is fetched once.
    fetched: BTreeMap<String, PathBuf>,
    /// Versions of modules of registries.
    versions: BTreeMap<ModuleAddress, Vec<String>>,
    /// Warnings. Errors go to the caller.
    pub(super) warnings: Diagnostics,
    /// Whether a module could not be installed.
    pub(super) failed: bool,
}

impl State {
    pub(super) fn starting_with(manifest: Manifest) -> Self {
        Self { manifest, ..Self::default() }
    }
}

impl SourceTree for Installing<'_> {
    fn list_files(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.disk.list_files(dir)
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.disk.read_file(path)
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        self.install(request).map_err(|problem| {
            self.state.borrow_mut().failed = true;
            problem.into()
        })
    }
}

impl Installing<'_> {
    fn install(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostic> {
        let key = key_of(request.path);
        let source = Source::parse(request.source, request.kind).map_err(|problem| {
            let detail = format!("Failed to parse module source address: {problem}.");
            Diagnostic::error("Invalid module source address", detail).at(request.source_span)
        })?;
        if let Some(dir) = self.reusable(&key, &source, request) {
            return Ok(dir);
        }
        let target = self.modules_dir.join(&key);
        remove(&self.disk.resolve(&target))?;
        let (dir, version) = match &source {
            Source::Local(_) => (self.local(request)?, None),
            Source::Registry(module, subdir) => self.registry(request, &key, (module, subdir.as_deref()), &target)?,
            Source::Remote(remote) => (self.remote(request, &key, remote, &target)?, None),
        };
        self.observer.installed(&key, &dir);
        let record = Record { source: source.normal(), version, dir: dir.clone() };
        self.state.borrow_mut().manifest.0.insert(key, record);
        Ok(dir)
    }

    /// What was installed before, if it still fits. What does not is forgotten, with everything below it.
    fn reusable(&self, key: &str, source: &Source, request: &ModuleRequest<'_>) -> Option<PathBuf> {
        let mut state = self.state.borrow_mut();
        let fits = state.manifest.0.get(key).is_some_and(|record| {
            let admitted = match (&record.version, request.version) {
                (Some(version), Some(wanted)) => wanted.admits(version),
                _ => true,
            };
            !self.upgrade && admitted && record.source == source.normal()
        });
        if !fits {
            state.manifest.forget(key);
        }
        let record = state.manifest.0.get(key)?;
        self.disk.resolve(&record.dir).is_dir().then(|| record.dir.clone())
    }

    fn local(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostic> {
        let dir = request.local_dir().unwrap_or_default();
        if self.disk.resolve(&dir).is_dir() {
            return Ok(dir);
        }
        if let Some(problem) = self.escape(request) {
            return Err(problem);
        }
        let name = request.path.last().map_or("", Str::as_str);
        let detail = format!("The directory {} could not be read for module {name:?}.", dir.display());
        Err(Diagnostic::error("Unreadable module directory", detail).at(request.call_span))
    }

    /// Whether a path leads out of the package that the calling module came in.
    fn escape(&self, request: &ModuleRequest<'_>) -> Option<Diagnostic> {
        let state = self.state.borrow();
        let records = (1..request.path.len()).rev().map(|length| key_of(&request.path[..length]));
        let (key, package) = records
            .filter_map(|key| Some((key.clone(), state.manifest.0.get(&key)?)))
            .find(|(_, record)| !record.source.starts_with("./") && !record.source.starts_with("../"))?;
        if request.local_dir()?.starts_with(self.modules_dir.join(key)) {
            return None;
        }
        let names: Vec<String> = request.path.iter().map(|name| format!("module.{name}")).collect();
        let detail = format!(
            "The given source directory for {} would be outside of its containing package {:?}. Local source addresses \
             starting with \"../\" must stay within the same package that the calling module belongs to.",
            names.join("."),
            groma_fetch::redact::text(&package.source)
        );
        Some(Diagnostic::error("Local module path escapes module package", detail).at(request.call_span))
    }

    fn remote(
        &self,
        request: &ModuleRequest<'_>,
        key: &str,
        remote: &RemoteSource,
        target: &Path,
    ) -> Result<PathBuf, Diagnostic> {
        self.observer.downloading(key, &groma_fetch::redact::text(&remote.address), None);
        self.fetch(request, remote, target)?;
        self.inside(request, target, remote.subdir.as_deref())
    }

    fn fetch(&self, request: &ModuleRequest<'_>, remote: &RemoteSource, target: &Path) -> Result<(), Diagnostic> {
        let name = request.path.last().map_or("", Str::as_str);
        let failed = |problem: String| {
            let detail = format!(
                "Could not download module {name:?} source code from {:?}: {problem}",
                groma_fetch::redact::text(&remote.address)
            );
            Diagnostic::error("Failed to download module", detail).at(request.call_span)
        };
        let destination = self.disk.resolve(target);
        let known = self.state.borrow().fetched.get(&remote.address).cloned();
        if let Some(known) = known {
            return fetching::copy(&known, &destination).map_err(|problem| failed(problem.to_string()));
        }
        fetching::fetch(self.online, remote, (&destination, !self.disk.is_confined()), self.observer.progress())
            .map_err(|problem| problem.into_diagnostic(failed))?;
        self.state.borrow_mut().fetched.insert(remote.address.clone(), destination);
        Ok(())
    }

    /// The directory inside a package. Patterns are allowed if they mean exactly one.
    fn inside(&self, request: &ModuleRequest<'_>, target: &Path, subdir: Option<&str>) -> Result<PathBuf, Diagnostic> {
        let Some(subdir) = subdir else { return Ok(target.to_owned()) };
        let selected = fetching::select(&self.disk.resolve(target), subdir).map_err(|problem| {
            let detail = format!(
                "Cannot use the directory {subdir:?} of the module package in {:?}: {problem}.",
                target.display().to_string()
            );
            Diagnostic::error("Module subdirectory not found", detail).at(request.call_span)
        })?;
        Ok(target.join(selected))
    }

    fn registry(
        &self,
        request: &ModuleRequest<'_>,
        key: &str,
        (module, subdir): (&ModuleAddress, Option<&str>),
        target: &Path,
    ) -> Result<(PathBuf, Option<Version>), Diagnostic> {
        let registry = ModuleRegistry::new(self.online.discovery().clone());
        let version = self.select(request, &registry, module)?;
        self.observer.downloading(key, &module.to_string(), Some(&version));
        let location = self.online.wait(registry.location(module, &version.to_string()))?.map_err(|problem| {
            let detail =
                format!("Failed to retrieve a download URL for {module} {version} from {}: {problem}", module.host);
            Diagnostic::error("Error accessing remote module registry", detail).at(request.call_span)
        })?;
        let inner = match location {
            ModuleLocation::Indirect(remote) => {
                self.fetch(request, &remote, target)?;
                match (remote.subdir, subdir) {
                    (Some(outer), Some(inner)) => Some(groma_fetch::address::join_paths(&outer, inner)),
                    (outer, inner) => outer.or(inner.map(str::to_owned)),
                }
            }
            ModuleLocation::Direct { url, token } => {
                let destination = self.disk.resolve(target);
                let name = request.path.last().map_or("", Str::as_str);
                fetching::fetch_direct(self.online, (&url, token), &destination, self.observer.progress()).map_err(
                    |problem| {
                        problem.into_diagnostic(|problem| {
                            let detail = format!("Could not download module {name:?} source code: {problem}");
                            Diagnostic::error("Failed to download module", detail).at(request.call_span)
                        })
                    },
                )?;
                subdir.map(str::to_owned)
            }
        };
        Ok((self.inside(request, target, inner.as_deref())?, Some(version)))
    }

    /// The newest version that the call admits.
    fn select(
        &self,
        request: &ModuleRequest<'_>,
        registry: &ModuleRegistry,
        module: &ModuleAddress,
    ) -> Result<Version, Diagnostic> {
        let texts = self.versions(request, registry, module)?;
        let wanted = request.version;
        // A prerelease must be asked for by its exact name.
        let exact = wanted.and_then(|wanted| Constraints::parse_provider(&wanted.text).ok()).unwrap_or_default();
        let mut versions = Vec::new();
        for text in texts {
            if let Some(version) = Version::parse(&text) {
                versions.push(version);
                continue;
            }
            let detail = format!(
                "The registry at {} returned an invalid version string {text:?} for module {module}, which was ignored.",
                module.host
            );
            let warning = Diagnostic::warning("Invalid response from remote module registry", detail);
            self.state.borrow_mut().warnings.push(warning.at(request.call_span));
        }
        versions.retain(|version| version.prerelease.is_empty() || exact.admits_release(version));
        versions.sort_by(Version::precedence);
        let Some(newest) = versions.last() else {
            let detail = format!("Module {:?} has no versions available on {}.", module.to_string(), module.host);
            return Err(Diagnostic::error("Module has no versions", detail).at(request.call_span));
        };
        let admitted = versions.iter().rev().find(|version| wanted.is_none_or(|wanted| wanted.admits(version)));
        admitted.cloned().ok_or_else(|| {
            let detail = format!(
                "There is no available version of module {:?} which matches the given version constraint. The newest \
                 available version is {newest}.",
                module.to_string()
            );
            Diagnostic::error("Unresolvable module version constraint", detail).at(request.call_span)
        })
    }

    fn versions(
        &self,
        request: &ModuleRequest<'_>,
        registry: &ModuleRegistry,
        module: &ModuleAddress,
    ) -> Result<Vec<String>, Diagnostic> {
        if let Some(known) = self.state.borrow().versions.get(module) {
            return Ok(known.clone());
        }
        let name = request.path.last().map_or("", Str::as_str);
        let found = self.online.wait(registry.versions(module))?.map_err(|problem| {
            let diagnostic = match problem {
                ModuleRegistryError::ModuleNotFound(_) => {
                    let hint = if module.host.as_str() == DEFAULT_HOST {
                        "\n\nIf you believe this module is missing from the registry, please tell the OpenTofu Registry."
                    } else {
                        ""
                    };
                    let detail = format!(
                        "Module {}/{}/{} ({name:?}) cannot be found in the module registry at {}.{hint}",
                        module.namespace, module.name, module.system, module.host
                    );
                    Diagnostic::error("Module not found", detail)
                }
                problem => {
                    let detail = format!(
                        "Failed to retrieve available versions for module {name:?} from {}: {problem}.",
                        module.host
                    );
                    Diagnostic::error("Error accessing remote module registry", detail)
                }
            };
            diagnostic.at(request.call_span)
        })?;
        self.state.borrow_mut().versions.insert(module.clone(), found.clone());
        Ok(found)
    }
}

fn key_of(path: &[Str]) -> String {
    let names: Vec<&str> = path.iter().map(Str::as_str).collect();
    names.join(".")
}

fn remove(dir: &Path) -> Result<(), Diagnostic> {
    match fs::remove_dir_all(dir) {
        Err(problem) if problem.kind() != io::ErrorKind::NotFound => {
            let detail = format!(
                "{} was to be removed in order to reinstall this module, but that failed: {problem}",
                dir.display()
            );
            Err(Diagnostic::error("Failed to remove local module cache", detail))
        }
        _ => Ok(()),
    }
}
