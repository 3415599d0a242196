//! `groma init`: makes a directory ready for all other commands. Modules and providers are fetched and recorded.

mod options;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use groma_lang::config::Module;
use groma_model::diag::Diagnostics;
use groma_run::backend::{BackendReady, BackendWishes, Confirm};
use groma_run::engine::interrupt::Interrupt;
use groma_run::modules::InstallSettings;
use groma_run::online::Online;
use groma_run::providers::requirements;
use groma_run::providers::{BuiltInUse, InstallOptions, LockFileChange, Observer, ProviderChoice};
use groma_run::session::Session;

use super::Context;
use super::shared::{announcer, online, session};
use crate::announce::Announcer;
use crate::failure::Failure;
use crate::installing::Installing;
use crate::prompt::{Prompt, Question};

pub(crate) use options::Args;

const CONFIG_ERROR: &str = "
groma encountered problems during initialization, including problems
with the configuration, described below.

The configuration must be valid before initialization so that it is clear
which modules and providers need to be installed.";

const SUCCESS_HINT: &str = "
You may now begin working with groma. If you ever set or change modules,
providers or backend configuration, rerun this command to reinitialize your
working directory. If you forget, other commands will detect it and remind you
to do so if necessary.";

const LOCK_FILE_CREATED: &str = "
groma has created a lock file .terraform.lock.hcl to record the provider
selections it made above. Include this file in your version control repository
so that the same selections are made by default when you run \"groma init\" in
the future.";

const LOCK_FILE_CHANGED: &str = "
groma has made some changes to the provider dependency selections recorded
in the .terraform.lock.hcl file. Review those changes and commit them to your
version control system if they represent changes you intended to make.";

const SIGNED: &str = "
Providers are signed by their developers.
If you'd like to know more about provider signing, you can read about it here:
https://opentofu.org/docs/cli/plugins/signing/";

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let announcer = announcer(context, &args.view, &args.json)?;
    let mut session = session(context, PathBuf::from("."), args.variables.clone());
    let Some(online) = online(context, &announcer, &session)? else { return Ok(ExitCode::FAILURE) };
    let mut init = Init { context, args: &args, announcer: &announcer, online: &online, shown: false };
    let mut diagnostics = Diagnostics::new();
    let done = init.run(&mut session, &mut diagnostics)?;
    diagnostics.sort(session.sources());
    let failed = diagnostics.has_errors();
    match done {
        Done::Empty => {}
        Done::Stopped => announcer.diagnostics(&diagnostics, session.sources())?,
        Done::BadConfiguration => {
            announcer.fail(CONFIG_ERROR)?;
            announcer.diagnostics(&diagnostics, session.sources())?;
        }
        Done::Ready => {
            if init.shown {
                announcer.blank()?;
            }
            announcer.diagnostics(&diagnostics, session.sources())?;
            init.success()?;
        }
    }
    Ok(if failed || matches!(done, Done::Stopped | Done::BadConfiguration) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// How far it came.
enum Done {
    /// There is nothing to do.
    Empty,
    /// Something failed.
    Stopped,
    /// The configuration is wrong.
    BadConfiguration,
    /// All of it.
    Ready,
}

struct Init<'a> {
    context: &'a Context,
    args: &'a Args,
    announcer: &'a Arc<Announcer>,
    online: &'a Online,
    /// Whether anything was said yet.
    shown: bool,
}

impl Init<'_> {
    fn run(&mut self, session: &mut Session, diagnostics: &mut Diagnostics) -> Result<Done, Failure> {
        if let Err(problem) = session.record_plugin_dirs(&self.args.plugin_dir) {
            diagnostics.push(problem);
            return Ok(Done::Stopped);
        }
        if let Some(source) = &self.args.from_module {
            let said = format!("{} from {source:?}...", self.bold("Copying configuration"));
            self.announcer.say_both(&said, &format!("Copying configuration from {source:?}..."))?;
            let installing = Installing::new(Arc::clone(self.announcer), false);
            let problems = session.copy_from_module(self.online, source, &installing);
            installing.finish()?;
            let failed = problems.has_errors();
            diagnostics.extend(problems);
            if failed {
                return Ok(Done::Stopped);
            }
            self.announcer.blank()?;
        }
        if session.is_empty() {
            let empty = self.bold("groma initialized in an empty directory!");
            let rest = "\n\nThe directory has no configuration files. You may begin working with groma\nimmediately by \
                        creating configuration files.";
            self.announcer.say(&format!("{empty}{rest}"))?;
            return Ok(Done::Empty);
        }
        let (root, problems) = session.load_root();
        if problems.has_errors() {
            diagnostics.extend(problems);
            return Ok(Done::BadConfiguration);
        }
        if self.args.backend && self.args.cloud {
            self.shown = true;
            let title = "Initializing the backend...";
            self.announcer.say_both(&format!("\n{}", self.bold(title)), title)?;
            if !self.backend(session, &root, diagnostics)? {
                return Ok(Done::Stopped);
            }
        }
        let calls = !root.module_calls.is_empty() || session.has_test_modules(&self.args.test_directory);
        if self.args.get && calls && !self.modules(session, diagnostics)? {
            return Ok(Done::Stopped);
        }
        self.providers(session, diagnostics)
    }

    fn bold(&self, text: &str) -> String {
        self.announcer.ui().bold(text)
    }

    /// False if the state cannot be kept as the configuration says.
    fn backend(&self, session: &mut Session, root: &Module, diagnostics: &mut Diagnostics) -> Result<bool, Failure> {
        let wishes = BackendWishes {
            config: &self.args.backend_config,
            reconfigure: self.args.reconfigure,
            migrate_state: self.args.migrate_state,
            force_copy: self.args.force_copy,
        };
        let ui = self.announcer.ui();
        let prompt = Prompt::new(*ui, Interrupt::default());
        let mut ask = |query: &str, description: &str| {
            prompt.ask(&Question { query, description, secret: false }).is_ok_and(|answer| answer == "yes")
        };
        let may_ask = self.args.input && !self.args.json.json && io::stdin().is_terminal();
        let confirm: Confirm<'_> = if may_ask { Some(&mut ask) } else { None };
        let (ready, found) = session.init_backend(root, wishes, confirm);
        diagnostics.extend(found);
        let said = match &ready {
            None | Some(BackendReady::Unchanged) => return Ok(ready.is_some()),
            Some(BackendReady::Configured(kind)) => format!(
                "Successfully configured the backend {kind:?}! groma will automatically\nuse this backend unless the backend \
                 configuration changes."
            ),
            Some(BackendReady::Unset(kind)) => {
                format!("Successfully unset the backend {kind:?}. groma will now operate locally.")
            }
        };
        self.announcer.say_both(&format!("\n{}", ui.good(&said)), &said.replace('\n', " "))?;
        Ok(true)
    }

    /// False if modules could not be installed.
    fn modules(&mut self, session: &mut Session, diagnostics: &mut Diagnostics) -> Result<bool, Failure> {
        self.shown = true;
        let title = if self.args.upgrade { "Upgrading modules..." } else { "Initializing modules..." };
        self.announcer.say_both(&self.bold(title), title)?;
        let installing = Installing::new(Arc::clone(self.announcer), true);
        let test_dir = Some(self.args.test_directory.as_path());
        let settings = InstallSettings { upgrade: self.args.upgrade, only_installation_matters: false, test_dir };
        let problems = session.install_modules(self.online, settings, &installing);
        installing.finish()?;
        let failed = problems.has_errors();
        // The rest is found once more when the configuration is loaded.
        if failed {
            diagnostics.extend(problems);
        }
        Ok(!failed)
    }

    fn providers(&mut self, session: &mut Session, diagnostics: &mut Diagnostics) -> Result<Done, Failure> {
        let loaded = session.load();
        let failed = loaded.diagnostics.has_errors();
        diagnostics.extend(loaded.diagnostics);
        let (Some(tree), false) = (loaded.tree, failed) else { return Ok(Done::BadConfiguration) };
        let (mut needed, problems) = requirements::of_tree(&tree);
        diagnostics.extend(problems);
        let problems = session.add_test_requirements(&mut needed, &tree, &self.args.test_directory);
        let failed = problems.has_errors();
        diagnostics.extend(problems);
        if failed {
            return Ok(Done::BadConfiguration);
        }
        match session.state_providers() {
            Ok(providers) => needed.add_state(&providers),
            Err(problem) => diagnostics.extend(problem),
        }
        if self.args.upgrade && self.args.is_readonly() {
            self.announcer.fail("The -upgrade flag conflicts with -lockfile=readonly.")?;
            return Ok(Done::Stopped);
        }
        if diagnostics.has_errors() {
            return Ok(Done::Stopped);
        }
        self.shown = true;
        let installing = Arc::new(Installing::new(Arc::clone(self.announcer), true));
        let observer = Arc::clone(&installing) as Arc<dyn Observer>;
        let outcome = session.install_providers(self.online, &needed, &self.install_options(), observer);
        installing.finish()?;
        let failed = outcome.diagnostics.has_errors();
        diagnostics.extend(outcome.diagnostics);
        if failed {
            return Ok(Done::Stopped);
        }
        if outcome.signed {
            self.announcer.say(SIGNED)?;
        }
        match outcome.lock_file {
            LockFileChange::None => {}
            LockFileChange::Created => self.announcer.say(LOCK_FILE_CREATED)?,
            LockFileChange::Changed => self.announcer.say(LOCK_FILE_CHANGED)?,
        }
        Ok(Done::Ready)
    }

    fn install_options(&self) -> InstallOptions {
        let built_in_use = match self.args.builtin {
            None => self.context.environment.built_in_use,
            Some(true) => BuiltInUse::Always,
            Some(false) => BuiltInUse::Never,
        };
        InstallOptions {
            upgrade: self.args.upgrade,
            lock_file_readonly: self.args.is_readonly(),
            plugin_dirs: self.args.plugin_dir.clone(),
            choice: ProviderChoice { reattach: self.context.environment.reattach.clone(), built_in_use },
        }
    }

    fn success(&self) -> Result<(), Failure> {
        let success = "groma has been successfully initialized!";
        self.announcer.say_both(&self.announcer.ui().good(success), success)?;
        if self.context.environment.in_automation {
            return Ok(());
        }
        let hint = SUCCESS_HINT.trim().replace('\n', " ");
        self.announcer.say_both(SUCCESS_HINT, &hint)
    }
}
