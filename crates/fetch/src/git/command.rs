//! The git commands for one repository, with everything switched off that could run something of the repository's
//! choice: hooks, file system monitors, transports that are commands, submodule update commands, templates.

use std::path::Path;

use tokio::process::Command;

use super::login::Prepared;
use super::process::{self, Output};
use super::way::Way;
use super::{GitError, GitSettings};
use crate::address::GitSource;
use crate::redact;

/// Settings that win over any file.
const HARDENING: [&str; 12] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
];

/// Variables that would make git work on another repository than ours, as it is when we are run by a git hook.
const REDIRECTING: [&str; 12] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_TEMPLATE_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_QUARANTINE_PATH",
];

/// No list of references or files is longer than that.
const MOST_LISTED: usize = 32 << 20;

/// Git for one repository.
pub(super) struct Git<'a> {
    settings: &'a GitSettings,
    source: &'a GitSource,
    pub(super) destination: &'a Path,
    key: Option<&'a Path>,
    /// Who we are there.
    pub(super) login: Option<&'a Prepared>,
    /// The home of an isolated git: there is nothing in it.
    home: tempfile::TempDir,
    /// None if all ways are open.
    way: Option<Way>,
}

impl<'a> Git<'a> {
    pub(super) async fn new(
        settings: &'a GitSettings,
        source: &'a GitSource,
        destination: &'a Path,
        key: Option<&'a Path>,
    ) -> Result<Self, GitError> {
        let home = tempfile::Builder::new().prefix("groma-git-").tempdir();
        let home = home.map_err(|source| GitError::Write { path: "a temporary directory".to_owned(), source })?;
        let is_elsewhere = !source.url.starts_with("file://");
        let way = match settings.networks.as_ref().filter(|_| is_elsewhere) {
            Some(networks) => Some(Way::new(networks, source, settings).await?),
            None => None,
        };
        Ok(Self { settings, source, destination, key, login: None, home, way })
    }

    /// Fetches everything, or the wanted depth, without checking anything out.
    pub(super) async fn clone_repository(&self) -> Result<(), GitError> {
        let mut command = self.command(self.settings.local_repositories);
        command.args(["clone", "--quiet", "--no-checkout", "--template=", "--no-recurse-submodules", "--no-hardlinks"]);
        if let Some(depth) = self.source.depth {
            command.arg(format!("--depth={depth}"));
            if let Some(reference) = &self.source.reference {
                command.arg(format!("--branch={reference}"));
            }
        }
        command.arg("--end-of-options").arg(&self.source.url).arg(self.destination);
        let result = self.run("clone", command).await.map(drop);
        match (result, &self.source.reference) {
            (Err(GitError::Failed { action, url, message }), Some(reference))
                if self.source.depth.is_some() && is_commit_id(reference) =>
            {
                let hint = "note that setting 'depth' requires 'ref' to be a branch or tag name";
                Err(GitError::Failed { action, url, message: format!("{message} ({hint})") })
            }
            (result, _) => result,
        }
    }

    /// The commit that is asked for.
    pub(super) async fn resolve(&self) -> Result<String, GitError> {
        let Some(reference) = &self.source.reference else { return self.required("HEAD").await };
        for candidate in
            [reference.clone(), format!("refs/remotes/origin/{reference}"), format!("refs/tags/{reference}")]
        {
            if let Some(commit) = self.commit_of(&candidate).await? {
                return Ok(commit);
            }
        }
        // A commit that no branch leads to, such as that of a pull request, can still be had from many servers.
        if matches!(reference.len(), 40 | 64)
            && is_commit_id(&reference[..40])
            && self.fetch_commit(reference).await.is_ok()
        {
            return self.required(reference).await;
        }
        Err(GitError::Reference { reference: reference.clone(), url: self.url() })
    }

    pub(super) async fn check_out(&self, commit: &str) -> Result<(), GitError> {
        let mut command = self.inside();
        command.args(["checkout", "--quiet", "--force", "--detach", commit]);
        self.run("checkout", command).await.map(drop)
    }

    /// Fetches the repositories inside, from other machines only.
    pub(super) async fn update_submodules(&self) -> Result<(), GitError> {
        if self.way.as_ref().is_some_and(|way| !way.leads_elsewhere()) {
            let reason = "the repository has others inside, and where they are cannot be checked through a proxy";
            return Err(GitError::Unsafe(reason.to_owned()));
        }
        let mut command = self.command(false);
        command.arg("-C").arg(self.destination);
        // Saying how to update overrules what the repository says about it, which could be a command.
        command.args(["submodule", "--quiet", "update", "--init", "--recursive", "--checkout", "--force"]);
        if let Some(depth) = self.source.depth {
            command.arg(format!("--depth={depth}"));
        }
        self.run("submodule update", command).await.map(drop)
    }

    /// Asks what there is at the other side, by names. The answer is whole.
    pub(super) async fn list_remote(&self, names: &[&str]) -> Result<String, GitError> {
        let mut command = self.command(self.settings.local_repositories);
        command.args(["ls-remote", "--quiet", "--symref", "--end-of-options"]).arg(&self.source.url).args(names);
        self.run_whole("ls-remote", command).await
    }

    /// An empty repository.
    pub(super) async fn begin(&self) -> Result<(), GitError> {
        let mut command = self.command(self.settings.local_repositories);
        command.args(["init", "--quiet", "--template="]).arg(self.destination);
        self.run("init", command).await.map(drop)
    }

    /// Fetches a commit or a reference, without its history where the other side knows how.
    pub(super) async fn fetch_shallow(&self, what: &str) -> Result<(), GitError> {
        let fetch = |depth: bool| {
            let mut command = self.inside();
            command.args(["-c", "fetch.unpackLimit=1", "fetch", "--quiet", "--no-tags", "--no-write-commit-graph"]);
            command.args(depth.then_some("--depth=1")).args(["--end-of-options", &self.source.url, what]);
            command
        };
        match self.run("fetch", fetch(true)).await {
            Err(GitError::Failed { message, .. }) if message.contains("dumb http") => {
                self.run("fetch", fetch(false)).await.map(drop)
            }
            fetched => fetched.map(drop),
        }
    }

    /// How many files a commit has, and how large they are together.
    pub(super) async fn measure(&self, commit: &str) -> Result<(u64, u64), GitError> {
        let mut command = self.inside();
        command.args(["ls-tree", "-r", "-l", "-z", "--full-tree", commit]);
        let listed = self.run_whole("ls-tree", command).await?;
        // `mode type name size<tab>path`
        let size = |entry: &str| entry.split('\t').next()?.split_whitespace().nth(3)?.parse::<u64>().ok();
        let entries = listed.split('\0').filter(|entry| !entry.is_empty());
        Ok(entries.fold((0, 0), |(files, bytes), entry| (files + 1, size(entry).unwrap_or(0).saturating_add(bytes))))
    }

    async fn fetch_commit(&self, commit: &str) -> Result<(), GitError> {
        let mut command = self.inside();
        command.args(["fetch", "--quiet", "--no-tags", "--end-of-options", "origin", commit]);
        self.run("fetch", command).await.map(drop)
    }

    pub(super) async fn required(&self, name: &str) -> Result<String, GitError> {
        let missing = || GitError::Reference { reference: name.to_owned(), url: self.url() };
        self.commit_of(name).await?.ok_or_else(missing)
    }

    async fn commit_of(&self, name: &str) -> Result<Option<String>, GitError> {
        let mut command = self.inside();
        command.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]).arg(format!("{name}^{{commit}}"));
        let output = process::run(command).await.map_err(|error| GitError::NotAvailable(error.to_string()))?;
        let commit = output.stdout.trim().to_owned();
        Ok(Some(commit).filter(|commit| output.status.success() && commit.len() >= 40 && is_hex(commit)))
    }

    fn inside(&self) -> Command {
        let mut command = self.command(self.settings.local_repositories);
        command.arg("-C").arg(self.destination);
        command
    }

    /// Git with its settings, before the subcommand.
    fn command(&self, local: bool) -> Command {
        let mut command = Command::new(&self.settings.program);
        for setting in HARDENING {
            command.args(["-c", setting]);
        }
        let protocols: &[&str] = match &self.way {
            Some(way) => way.protocols(),
            None if local => &["https", "http", "ssh", "git", "file"],
            None => &["https", "http", "ssh", "git"],
        };
        for protocol in protocols {
            command.arg("-c").arg(format!("protocol.{protocol}.allow=always"));
        }
        for setting in self.login.iter().flat_map(|login| &login.settings) {
            command.arg("-c").arg(setting);
        }
        self.set_environment(&mut command, protocols);
        if let Some(way) = &self.way {
            way.set(&mut command);
        }
        command
    }

    fn set_environment(&self, command: &mut Command, protocols: &[&str]) {
        if self.settings.user_config {
            for name in REDIRECTING {
                command.env_remove(name);
            }
        } else {
            // `PATH` is found by the system when the program is started by name; git needs it for its own programs.
            command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
            command.env("HOME", self.home.path()).env("XDG_CONFIG_HOME", self.home.path());
            command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        }
        command.envs(self.settings.environment.iter().map(|(name, value)| (name, value)));
        if !self.settings.system_config {
            command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_ATTR_NOSYSTEM", "1");
        }
        // This wins over all configuration about protocols.
        command.env("GIT_ALLOW_PROTOCOL", protocols.join(":"));
        // Nobody is there to answer: a question must be an error and not a hang.
        command.env("GIT_TERMINAL_PROMPT", "0").env("SSH_ASKPASS_REQUIRE", "force").env("SSH_ASKPASS", "false");
        command.env("LC_ALL", "C");
        for (name, value) in self.login.iter().flat_map(|login| &login.environment) {
            command.env(name, value);
        }
        if let Some(ssh) = self.ssh_command() {
            command.env("GIT_SSH_COMMAND", ssh);
        }
    }

    /// Set only where there is something to say: it overrules `core.sshCommand` of the user.
    fn ssh_command(&self) -> Option<String> {
        let of_login = self.login.and_then(|login| login.ssh.as_deref());
        let given = of_login.or(self.settings.ssh_command.as_deref());
        let given = match self.key {
            Some(key) => Some(format!("{} -i {}", given.unwrap_or("ssh"), shell_quoted(&key.display().to_string()))),
            None => given.map(str::to_owned),
        };
        match &self.way {
            Some(way) => way.ssh_command(given),
            None => given,
        }
    }

    async fn run(&self, action: &'static str, command: Command) -> Result<Output, GitError> {
        self.run_keeping(action, command, process::MAX_OUTPUT).await
    }

    async fn run_keeping(&self, action: &'static str, command: Command, most: usize) -> Result<Output, GitError> {
        let output =
            process::run_keeping(command, most).await.map_err(|error| GitError::NotAvailable(error.to_string()))?;
        if output.status.success() {
            return Ok(output);
        }
        if let Some(refused) = self.way.as_ref().and_then(Way::refused) {
            return Err(GitError::Refused { url: self.url(), refused });
        }
        let said = redact::text(output.stderr.trim());
        let message = if said.is_empty() { output.status.to_string() } else { said };
        Err(GitError::Failed { action, url: self.url(), message })
    }

    /// The same for answers that must be whole.
    async fn run_whole(&self, action: &'static str, command: Command) -> Result<String, GitError> {
        let output = self.run_keeping(action, command, MOST_LISTED).await?;
        if output.stdout.len() < MOST_LISTED {
            return Ok(output.stdout);
        }
        let message = format!("there is more to list than {MOST_LISTED} bytes");
        Err(GitError::Failed { action, url: self.url(), message })
    }

    pub(super) fn url(&self) -> String {
        redact::text(&self.source.url)
    }
}

/// What could be the beginning of a commit's name.
fn is_commit_id(reference: &str) -> bool {
    (7..=40).contains(&reference.len()) && is_hex(reference)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The command is given to a shell.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
