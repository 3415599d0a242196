//! Reading what is to be tested: the module, the test files, the modules that those name, and the providers of all of them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_lang::config::test_file::{TestFile, TestRun};
use groma_lang::load::{self, ModuleRequest, ModuleTree, SourceTree};
use groma_lang::walk::InputValue;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;

use super::variables::{Globals, TestValues};
use super::{LoadedFile, Settings, TestSuite, UnderTest};
use crate::inputs::{self, Raw};
use crate::operate::providers::BookProviders;
use crate::providers::requirements::{self, ProviderRequirements};
use crate::providers::{ProviderAccess, Strictness, override_warning};
use crate::provisioners::{Programs, Surroundings};
use crate::session::{Loaded, Session};

/// Reads a module and its tests, and finds the providers.
pub(super) fn open(
    session: &mut Session,
    access: ProviderAccess,
    settings: &Settings,
) -> (Option<TestSuite>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let suite = try_open(session, access, settings, &mut diagnostics);
    diagnostics.sort(session.sources());
    (suite, diagnostics)
}

fn try_open(
    session: &mut Session,
    access: ProviderAccess,
    settings: &Settings,
    diagnostics: &mut Diagnostics,
) -> Option<TestSuite> {
    let start = session.start().clone();
    let (given, found) = inputs::gather(session.sources_mut(), &start, Some(&settings.test_dir));
    diagnostics.extend(found);
    if diagnostics.has_errors() {
        return None;
    }
    let Loaded { tree, diagnostics: found, .. } = session.load();
    diagnostics.extend(found);
    let disk = session.disk().clone();
    let (mut files, found) = files(session, &disk, &settings.test_dir, &given);
    diagnostics.extend(found);
    let tree = tree.filter(|_| !diagnostics.has_errors())?;
    let globals = Globals::of_module(session.sources_mut(), &given, &tree.root.module);
    let main = UnderTest { tree, globals };
    let providers = providers(session, &access, (&main, &files), diagnostics)?;
    diagnostics.extend(chosen(&mut files, &settings.filter));
    let surroundings = Surroundings {
        home_dir: start.home_dir.clone(),
        agent_socket: access.online.variables().get("SSH_AUTH_SOCK").map(PathBuf::from),
        on_terminal: start.on_terminal,
        ..Surroundings::in_directory(start.working_dir)
    };
    let provisioners = Arc::new(Programs::new(surroundings));
    Some(TestSuite { access, main, files, providers, provisioners, verbose: settings.verbose })
}

/// Keeps the files that are asked for.
fn chosen(files: &mut Vec<LoadedFile>, filter: &[PathBuf]) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if filter.is_empty() {
        return diagnostics;
    }
    let asked = |path: &PathBuf| path.strip_prefix(".").unwrap_or(path).display().to_string();
    let names: Vec<String> = filter.iter().map(asked).collect();
    files.retain(|file| names.contains(&file.name));
    if files.is_empty() {
        let detail = "-filter names no test file that exists. Paths are relative to the current working directory.";
        diagnostics.push(Diagnostic::warning("No tests were found", detail));
        return diagnostics;
    }
    for name in names.iter().filter(|name| !files.iter().any(|file| file.name == **name)) {
        let detail = format!("The test file {name:?} that -filter names does not exist.");
        diagnostics.push(Diagnostic::warning("Unknown test file", detail));
    }
    diagnostics
}

/// Reads the test files and the modules that their runs name.
fn files(
    session: &mut Session,
    tree: &dyn SourceTree,
    test_dir: &Path,
    given: &BTreeMap<String, Raw>,
) -> (Vec<LoadedFile>, Diagnostics) {
    let root_dir = session.start().root_dir.clone();
    let (tests, mut diagnostics) = load::load_test_files(session.sources_mut(), tree, &root_dir, test_dir);
    let mut files = Vec::new();
    if diagnostics.has_errors() {
        return (files, diagnostics);
    }
    for (path, file) in tests {
        let name = path.display().to_string();
        let modules = Modules { tree, given, name: &path, file: &file };
        let modules = file.runs.iter().map(|run| modules.of_run(session, run, &mut diagnostics)).collect();
        files.push(LoadedFile { name, file, modules });
    }
    (files, diagnostics)
}

impl Session {
    /// Reads the modules that the runs of test files name, from wherever they come: they may be installed on the way.
    pub(crate) fn load_test_modules(&mut self, tree: &dyn SourceTree, test_dir: &Path) -> Diagnostics {
        files(self, tree, test_dir, &BTreeMap::new()).1
    }

    /// Whether runs of test files name other modules than the one under test.
    pub fn has_test_modules(&mut self, test_dir: &Path) -> bool {
        let (disk, root_dir) = (self.disk().clone(), self.start().root_dir.clone());
        let (files, _) = load::load_test_files(self.sources_mut(), &disk, &root_dir, test_dir);
        files.values().flat_map(|file| &file.runs).any(|run| run.module.is_some())
    }

    /// Adds what the test files of a module need besides what it needs itself.
    pub fn add_test_requirements(
        &mut self,
        needed: &mut ProviderRequirements,
        main: &ModuleTree,
        test_dir: &Path,
    ) -> Diagnostics {
        let disk = self.disk().clone();
        let (files, mut diagnostics) = files(self, &disk, test_dir, &BTreeMap::new());
        if !diagnostics.has_errors() {
            diagnostics.extend(add_requirements(needed, main, &files));
        }
        diagnostics
    }
}

fn add_requirements(needed: &mut ProviderRequirements, main: &ModuleTree, files: &[LoadedFile]) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for module in files.iter().flat_map(|file| file.modules.iter().flatten()) {
        let (more, found) = requirements::of_tree(&module.tree);
        diagnostics.extend(found);
        for (provider, constraints) in more.all {
            needed.all.entry(provider).or_default().and(&constraints);
        }
        needed.explicit.extend(more.explicit);
        for (provider, uses) in more.implicit {
            needed.implicit.entry(provider).or_default().extend(uses);
        }
    }
    for file in files {
        for key in file.file.providers.keys().chain(file.file.mocks.keys()) {
            needed.all.entry(main.root.module.provider_of(&key.name)).or_default();
        }
    }
    diagnostics
}

/// The providers of all modules and of the test files.
fn providers(
    session: &mut Session,
    access: &ProviderAccess,
    (main, files): (&UnderTest, &[LoadedFile]),
    diagnostics: &mut Diagnostics,
) -> Option<Arc<BookProviders>> {
    let (mut needed, found) = requirements::of_tree(&main.tree);
    diagnostics.extend(found);
    diagnostics.extend(add_requirements(&mut needed, &main.tree, files));
    if diagnostics.has_errors() {
        return None;
    }
    let (book, found) = session.provider_book(access, &needed.all, Strictness::Consistent);
    diagnostics.extend(found);
    let overrides = access.online.config().installation.as_ref().map(|found| &found.dev_overrides);
    let consequence = "The behavior may therefore not match any released version of the provider.";
    diagnostics.extend(overrides.and_then(|overrides| override_warning(overrides, consequence)));
    if diagnostics.has_errors() {
        book.close(&access.online);
        return None;
    }
    Some(Arc::new(BookProviders::new(Arc::new(book))))
}

/// Finds the modules that runs name.
struct Modules<'a> {
    tree: &'a dyn SourceTree,
    given: &'a BTreeMap<String, Raw>,
    name: &'a Path,
    file: &'a TestFile,
}

impl Modules<'_> {
    fn of_run(&self, session: &mut Session, run: &TestRun, diagnostics: &mut Diagnostics) -> Option<Arc<UnderTest>> {
        let module = run.module.as_ref()?;
        let path = self.installed_as(run);
        let root_dir = session.start().root_dir.clone();
        let dir = diagnostics.take(load::locate_test_module(self.tree, &root_dir, &path, module))?;
        if self.tree.list_files(&dir).is_err() {
            let detail = format!("The directory {} of this module cannot be read.", dir.display());
            diagnostics.push(Diagnostic::error("Module not installed", detail).at(module.header));
            return None;
        }
        let (root, found) = load::load_module(session.sources_mut(), self.tree, &dir);
        let failed = found.has_errors();
        diagnostics.extend(found);
        if failed {
            return None;
        }
        let globals = Globals::of_module(session.sources_mut(), self.given, &root);
        let known = self.known(session, run, (&root, &globals));
        let tree = Below { tree: self.tree, path: &path };
        let (mut sources, statics) = (session.sources().clone(), session.static_scope(&known));
        let (tree, found) = load::load_tree(&mut sources, &tree, root, &statics);
        *session.sources_mut() = sources;
        diagnostics.extend(found);
        Some(Arc::new(UnderTest { tree, globals }))
    }

    /// The values of variables as far as they are known before anything runs.
    fn known(
        &self,
        session: &Session,
        run: &TestRun,
        (module, globals): (&groma_lang::config::Module, &Globals),
    ) -> BTreeMap<Str, InputValue> {
        let values = TestValues::of_run(session.machine(), (module, globals), self.file, &BTreeMap::new());
        super::variables::inputs(&values, (module, globals), self.file, run).0
    }

    /// How the module of a run is recorded where modules are installed: `test.tests.main.setup`.
    fn installed_as(&self, run: &TestRun) -> Vec<Str> {
        let mut path = vec![Str::from("test")];
        let dir = self.name.parent().into_iter().flat_map(Path::components);
        path.extend(dir.map(|part| Str::from(part.as_os_str().to_string_lossy().as_ref())));
        let base = self.name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        path.push(Str::from(base.strip_suffix(".tftest.hcl").unwrap_or(&base)));
        path.push(run.name.clone());
        path
    }
}

/// Modules that are called by a module that a run names.
struct Below<'a> {
    tree: &'a dyn SourceTree,
    path: &'a [Str],
}

impl SourceTree for Below<'_> {
    fn list_files(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.tree.list_files(dir)
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.tree.read_file(path)
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        let path: Vec<Str> = self.path.iter().chain(request.path).cloned().collect();
        self.tree.locate(&ModuleRequest { path: &path, ..*request })
    }
}
