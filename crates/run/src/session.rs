//! A session: one working directory, one set of inputs, one configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub use groma_backends::Cluster;
use groma_backends::{Account, Limits, Readable};
use groma_kit::confines::Confines;
use groma_lang::config::Module;
use groma_lang::load::{self, ModuleTree, SourceTree};
use groma_lang::oracle::{NothingExists, SchemaSource as _};
use groma_lang::static_eval::StaticScope;
use groma_lang::walk::{InputValue, Purpose, Settings, Walk};
use groma_model::address::ResourceMode;
use groma_model::diag::Diagnostics;
use groma_model::schema::Schema;
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_network::Networks;
use groma_rules::Rules;
use groma_rules::replace::trial::{self, Trial};

use crate::backend::{Network, RemoteEncryption};
use crate::disk::Disk;
use crate::inputs::{self, GivenVariable};
use crate::operate::VariablePrompt;
use crate::outside::Machine;
use crate::providers::requirements;
use crate::providers::{BookOracle, ProviderAccess, ProviderBook, Strictness, override_warning};

/// What backends may do.
fn limits(bounds: &Bounds) -> Limits {
    let files = bounds.files.as_ref().map(Confines::undivided);
    Limits {
        no_programs: bounds.no_programs.clone(),
        readable: files.map(|files| -> Readable { Arc::new(move |path| files.read(path)) }),
        account: bounds.account.clone().map(|OthersAccount { namespace, advice }| Account { namespace, advice }),
        networks: bounds.networks.clone(),
    }
}

/// What a session starts from. All of it was read from the command line and the environment by the caller.
#[derive(Debug, Clone)]
pub struct Start {
    /// Where the user stands, absolute; with `-chdir`, where that leads.
    pub working_dir: PathBuf,
    /// Where the user was before `-chdir`.
    pub invocation_dir: PathBuf,
    /// The directory of the root module, relative to that; usually `.`.
    pub root_dir: PathBuf,
    /// `TF_DATA_DIR`, usually `.terraform`.
    pub data_dir: PathBuf,
    /// `TF_WORKSPACE`, if set.
    pub workspace: Option<String>,
    /// The user's home.
    pub home_dir: Option<PathBuf>,
    /// `TF_TEMPLATE_RECURSION_DEPTH`, if set.
    pub template_recursion_limit: Option<usize>,
    /// Whether somebody sits at the terminal that we were started from, and programs may ask there.
    pub on_terminal: bool,
    /// How large the stack of the thread is that the session runs on, if larger than usual.
    pub stack_bytes: Option<usize>,
    /// All variables, for backends.
    pub environment: BTreeMap<String, String>,
    /// `TF_VAR_…` and what they hold, by name of the variable.
    pub environment_variables: BTreeMap<String, String>,
    /// `-var` and `-var-file`, in order.
    pub variables: Vec<GivenVariable>,
    /// What the configuration may do.
    pub bounds: Bounds,
    /// The cluster that the state is kept in, if somebody is connected to it. Whatever is said about how to reach one does not matter then.
    pub cluster: Option<Cluster>,
    /// How it locks states.
    pub lock: LockManners,
}

/// How states are locked by somebody who is known by a name, and who knows of others like it.
#[derive(Clone, Default)]
pub struct LockManners {
    /// What the ids of its locks begin with. They are random if there is nothing.
    pub holder: Option<String>,
    /// What it says about itself to those who find its lock.
    pub about: String,
    /// Tells which other holders are gone for certain.
    pub is_gone: Option<groma_backends::IsGone>,
}

impl std::fmt::Debug for LockManners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LockManners").field("holder", &self.holder).field("about", &self.about).finish_non_exhaustive()
    }
}

/// What a configuration may do. A user's own may do everything; one that somebody else has handed in may not.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// Starting programs is refused: `local-exec`, `external` and the like. How to allow it, for those who are refused.
    pub no_programs: Option<String>,
    /// Plugins of providers are not started, and how to allow it.
    pub no_plugins: Option<String>,
    /// Where files may be read and written; None for everywhere. What is shared with others is for providers only.
    pub files: Option<Confines>,
    /// The account that this program has in a cluster is not the configuration's. None if it is.
    pub account: Option<OthersAccount>,
    /// Where the state is kept was decided by us, with our account, and not by the configuration.
    pub our_backend: bool,
    /// Providers and programs find the variables of the session in their environment, and none of ours.
    pub own_environment: bool,
    /// Where connections may lead. None for everywhere.
    pub networks: Option<Networks>,
}

/// An account that a configuration does not have itself.
#[derive(Debug, Clone)]
pub struct OthersAccount {
    /// States in this namespace may be read and written with it.
    pub namespace: String,
    /// How to have one's own, for those who are refused.
    pub advice: String,
}

impl Start {
    /// The module in a directory, with nothing from the environment or the command line.
    pub fn in_directory(working_dir: PathBuf) -> Self {
        Self {
            invocation_dir: working_dir.clone(),
            working_dir,
            root_dir: ".".into(),
            data_dir: ".terraform".into(),
            workspace: None,
            home_dir: None,
            template_recursion_limit: None,
            on_terminal: false,
            stack_bytes: None,
            environment: BTreeMap::new(),
            environment_variables: BTreeMap::new(),
            variables: Vec::new(),
            bounds: Bounds::default(),
            cluster: None,
            lock: LockManners::default(),
        }
    }
}

/// A session.
pub struct Session {
    start: Start,
    machine: Machine,
    disk: Disk,
    sources: SourceMap,
    workspace: String,
    /// Where remote backends are reached; made when that is needed.
    backend_runtime: Arc<OnceLock<Arc<tokio::runtime::Runtime>>>,
    /// How states of other configurations are decrypted, as far as that is known by now.
    pub(crate) remote_encryption: RemoteEncryption,
}

/// Providers that a configuration uses.
pub(crate) struct UsedProviders {
    pub(crate) book: ProviderBook,
    pub(crate) access: Option<ProviderAccess>,
    pub(crate) diagnostics: Diagnostics,
}

/// A loaded configuration.
pub struct Loaded {
    /// The modules. None if the root could not be read at all.
    pub tree: Option<ModuleTree>,
    /// Values for the variables of the root.
    pub inputs: BTreeMap<Str, InputValue>,
    /// What was found on the way.
    pub diagnostics: Diagnostics,
    /// What is wrong with values that no variable is declared for. Matters only where values do.
    pub about_values: Diagnostics,
    /// The rules beside the modules. Empty if there is no tree.
    pub rules: Rules,
    /// What is wrong with the rules. Matters only where they do.
    pub about_rules: Diagnostics,
}

impl Session {
    /// Opens a session. Reads nothing yet.
    pub fn new(start: Start) -> Self {
        let mut machine =
            Machine::new(start.working_dir.clone(), start.home_dir.clone()).invoked_in(start.invocation_dir.clone());
        if let Some(limit) = start.template_recursion_limit {
            machine = machine.with_template_recursion_limit(limit);
        }
        if let Some(bytes) = start.stack_bytes {
            machine = machine.with_stack_bytes(bytes);
        }
        if let Some(files) = &start.bounds.files {
            machine = machine.bound_to(files.undivided());
        }
        let disk = Disk::of(&start);
        let workspace = start.workspace.clone().unwrap_or_else(|| recorded_workspace(&start));
        Self {
            start,
            machine,
            disk,
            sources: SourceMap::new(),
            workspace,
            backend_runtime: Arc::default(),
            remote_encryption: RemoteEncryption::default(),
        }
    }

    /// How the backend is reached where the state is.
    pub(crate) fn network(&self) -> Network {
        if !self.start.bounds.our_backend {
            return self.network_elsewhere();
        }
        // What the configuration has in its environment must not lead our account somewhere else.
        let environment = self.start.environment.iter().filter(|(name, _)| !name.starts_with("KUBE_"));
        let environment = environment.map(|(name, value)| (name.clone(), value.clone())).collect();
        let cluster = self.start.cluster.clone();
        Network { environment, limits: Limits::default(), cluster, ..self.network_elsewhere() }
    }

    /// How backends are reached that the configuration names.
    pub(crate) fn network_elsewhere(&self) -> Network {
        Network {
            environment: self.start.environment.clone(),
            limits: limits(&self.start.bounds),
            machine: self.machine.clone(),
            working_dir: self.start.working_dir.clone(),
            home: self.start.home_dir.clone(),
            spool: self.spare_folders().pop().unwrap_or_else(|| self.data_dir()),
            is_gone: self.start.lock.is_gone.clone(),
            runtime: Arc::clone(&self.backend_runtime),
            cluster: None,
        }
    }

    /// All texts that were read so far, for showing diagnostics.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    pub(crate) fn sources_mut(&mut self) -> &mut SourceMap {
        &mut self.sources
    }

    /// The name of the workspace.
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// Takes a text in, such as a line that was typed.
    pub fn add_source(&mut self, name: &str, text: &str) -> groma_model::span::FileId {
        self.sources.add(name, text)
    }

    /// What it started from.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// Whether the directory of the root module has no configuration files.
    pub fn is_empty(&self) -> bool {
        let endings = [".tf", ".tf.json", ".tofu", ".tofu.json"];
        let is_config = |name: &String| !load::is_ignored(name) && endings.iter().any(|ending| name.ends_with(ending));
        self.disk.list_files(&self.start.root_dir).is_ok_and(|names| !names.iter().any(is_config))
    }

    /// Reads the record of installed modules again.
    pub(crate) fn refresh_modules(&mut self) {
        self.disk = Disk::of(&self.start);
    }

    /// Reads the root module alone.
    pub fn load_root(&mut self) -> (Module, Diagnostics) {
        load::load_module(&mut self.sources, &self.disk, &self.start.root_dir)
    }

    /// Reads the modules and the values of variables.
    pub fn load(&mut self) -> Loaded {
        let disk = self.disk.clone();
        self.load_from(&disk)
    }

    /// As [`Session::load`], with modules from elsewhere.
    pub(crate) fn load_from(&mut self, modules: &dyn SourceTree) -> Loaded {
        self.load_with(modules, None)
    }

    /// Values for the variables of a root module. What is wrong with them does not matter here.
    pub(crate) fn root_inputs(&mut self, root: &Module) -> BTreeMap<Str, InputValue> {
        inputs::collect(&mut self.sources, &self.start, &root.variables).values
    }

    /// What early values may be made of.
    pub(crate) fn static_scope<'a>(&'a self, inputs: &'a BTreeMap<Str, InputValue>) -> StaticScope<'a> {
        StaticScope { environment: &self.machine, root_dir: &self.start.root_dir, workspace: &self.workspace, inputs }
    }

    /// The files.
    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Files, clock and randomness.
    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    pub(crate) fn load_with(&mut self, modules: &dyn SourceTree, prompt: Option<&mut VariablePrompt>) -> Loaded {
        let mut diagnostics = Diagnostics::new();
        let (root, found) = load::load_module(&mut self.sources, modules, &self.start.root_dir);
        let failed = found.has_errors();
        diagnostics.extend(found);
        let collected = inputs::collect(&mut self.sources, &self.start, &root.variables);
        diagnostics.extend(collected.diagnostics);
        let mut about_values = collected.about_values;
        let mut inputs = collected.values;
        if let (Some(prompt), false) = (prompt, failed) {
            about_values.extend(inputs::ask(&mut self.sources, &root.variables, &mut inputs, prompt));
        }
        let statics = StaticScope {
            environment: &self.machine,
            root_dir: &self.start.root_dir,
            workspace: &self.workspace,
            inputs: &inputs,
        };
        if failed {
            diagnostics.extend(load::check_statics(&root, modules, &statics));
            let (rules, about_rules) = (Rules::default(), Diagnostics::new());
            return Loaded { tree: None, inputs, diagnostics, about_values, rules, about_rules };
        }
        let (tree, found) = load::load_tree(&mut self.sources, modules, root, &statics);
        diagnostics.extend(found);
        let (rules, about_rules) = groma_rules::load(&mut self.sources, modules, &tree);
        Loaded { tree: Some(tree), inputs, diagnostics, about_values, rules, about_rules }
    }

    /// Checks the configuration for all inputs. Providers are asked if there are any; how to reach them is found out only
    /// then. Test files are checked, too, if it is said where they may be.
    pub fn validate(
        &mut self,
        tests: Option<&Path>,
        access: impl FnOnce() -> (ProviderAccess, Diagnostics),
    ) -> Diagnostics {
        let Loaded { tree, inputs, mut diagnostics, rules, about_rules, .. } = self.load();
        diagnostics.extend(about_rules);
        if let Some(tests) = tests {
            diagnostics.extend(load::check_test_files(&mut self.sources, &self.disk, &self.start.root_dir, tests));
        }
        if let (Some(tree), false) = (tree, diagnostics.has_errors()) {
            let UsedProviders { book, access, diagnostics: found } = self.used_providers(&tree, access);
            let failed = found.has_errors();
            diagnostics.extend(found);
            if !failed {
                let oracle = NothingExists(BookOracle::new(&book, access.as_ref()));
                let settings = self.settings(Purpose::Validate, &oracle);
                diagnostics.extend(groma_rules::check(&rules, &tree, &oracle, &settings));
                let (_, found) = Walk::run(&tree, settings, &inputs);
                diagnostics.extend(found);
                diagnostics.extend(oracle.0.finish());
            }
        }
        diagnostics.sort(&self.sources);
        diagnostics
    }

    /// What is wrong with the rules beside the configuration, and hints about those that are correct.
    pub fn lint_rules(&mut self, access: impl FnOnce() -> (ProviderAccess, Diagnostics)) -> Diagnostics {
        let Loaded { tree, mut diagnostics, rules, about_rules, .. } = self.load();
        diagnostics.extend(about_rules);
        if let (Some(tree), false) = (tree, diagnostics.has_errors()) {
            let UsedProviders { book, access, diagnostics: found } = self.used_providers(&tree, access);
            let failed = found.has_errors();
            diagnostics.extend(found);
            if !failed {
                let oracle = NothingExists(BookOracle::new(&book, access.as_ref()));
                let settings = self.settings(Purpose::Validate, &oracle);
                diagnostics.extend(groma_rules::check(&rules, &tree, &oracle, &settings));
                diagnostics.extend(groma_rules::lint(&rules, &tree, &oracle));
                diagnostics.extend(oracle.0.finish());
            }
        }
        diagnostics.sort(&self.sources);
        diagnostics
    }

    /// Reads cases to try rules on, from files of them.
    pub fn read_trials(&mut self, files: &[PathBuf]) -> (Vec<Trial>, Diagnostics) {
        let (mut trials, mut diagnostics) = (Vec::new(), Diagnostics::new());
        for file in files {
            let (body, found) =
                load::read_body(&mut self.sources, &self.disk, Path::new(""), &file.display().to_string());
            let is_sound = !found.has_errors();
            diagnostics.extend(found);
            if let Some(body) = body.filter(|_| is_sound) {
                let (read, found) = trial::read(&self.sources, &body);
                trials.extend(read);
                diagnostics.extend(found);
            }
        }
        (trials, diagnostics)
    }

    /// The schemas of the resource types that a configuration declares.
    pub fn resource_schemas(
        &mut self,
        loaded: &Loaded,
        access: impl FnOnce() -> (ProviderAccess, Diagnostics),
    ) -> (BTreeMap<String, Arc<Schema>>, Diagnostics) {
        let Some(tree) = &loaded.tree else { return (BTreeMap::new(), Diagnostics::new()) };
        let UsedProviders { book, access, diagnostics } = self.used_providers(tree, access);
        let oracle = BookOracle::new(&book, access.as_ref());
        let mut schemas = BTreeMap::new();
        let mut modules = vec![&tree.root];
        while let Some(node) = modules.pop() {
            for resource in node.module.resources_of(ResourceMode::Managed) {
                let schema = oracle.resource(&resource.provider, ResourceMode::Managed, &resource.key.ty);
                schemas.extend(schema.map(|schema| (resource.key.ty.to_string(), schema)));
            }
            modules.extend(node.children.values());
        }
        let mut diagnostics = diagnostics;
        diagnostics.extend(oracle.finish());
        (schemas, diagnostics)
    }

    /// The providers of a configuration, as far as they are there.
    pub(crate) fn used_providers(
        &mut self,
        tree: &ModuleTree,
        access: impl FnOnce() -> (ProviderAccess, Diagnostics),
    ) -> UsedProviders {
        let (mut needed, diagnostics) = requirements::of_tree(tree);
        // What is part of the language needs nothing from outside, but for its functions, which must be asked for by name.
        needed.all.retain(|provider, _| !provider.is_builtin() || needed.explicit.contains(provider));
        let mut used = UsedProviders { book: ProviderBook::default(), access: None, diagnostics };
        if needed.all.is_empty() || used.diagnostics.has_errors() {
            return used;
        }
        let (access, found) = access();
        used.diagnostics.extend(found);
        if !used.diagnostics.has_errors() {
            let (book, found) = self.provider_book(&access, &needed.all, Strictness::WhatIsThere);
            used.book = book;
            used.diagnostics.extend(found);
            let overrides = access.online.config().installation.as_ref().map(|found| &found.dev_overrides);
            let consequence = "The behavior may therefore not match any released version of the provider and applying \
                               changes may cause the state to become incompatible with published releases.";
            used.diagnostics.extend(overrides.and_then(|overrides| override_warning(overrides, consequence)));
        }
        used.access = Some(access);
        used
    }

    /// What a walk needs to know.
    pub fn settings<'a>(
        &'a self,
        purpose: Purpose,
        oracle: &'a dyn groma_lang::oracle::ResourceOracle,
    ) -> Settings<'a> {
        Settings {
            purpose,
            environment: &self.machine,
            root_dir: &self.start.root_dir,
            workspace: &self.workspace,
            plan_time: None,
            pure_only: purpose == Purpose::Validate,
            lenient: false,
            oracle,
            sources: &self.sources,
        }
    }
}

/// The workspace that was selected last, recorded beside the configuration.
fn recorded_workspace(start: &Start) -> String {
    let record: &Path = &start.working_dir.join(&start.data_dir).join("environment");
    let name = std::fs::read_to_string(record).unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "default".to_owned() } else { name.to_owned() }
}
