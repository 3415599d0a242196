//! Repositories for tests, made by the real git, with a file that must never appear.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{CheckedOut, GitError, GitSettings, checkout};
use crate::address::GitSource;
use crate::http::testing::{Reply, Server};

/// A directory with repositories, and a place where commands would leave a trace.
pub(crate) struct Lab {
    pub(crate) root: tempfile::TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("home")).unwrap();
        Self { root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The file that appears if something of the repository's choice is run.
    pub(crate) fn canary(&self) -> PathBuf {
        self.path("canary")
    }

    /// A program that leaves the trace.
    pub(crate) fn trap(&self, path: &Path) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("#!/bin/sh\ntouch '{}'\n", self.canary().display())).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs git as the owner of the repositories.
    pub(crate) fn git(&self, repository: &str, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "protocol.file.allow=always", "-c", "core.protectNTFS=false", "-C"])
            .arg(self.path(repository))
            .args(arguments)
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(
                ["AUTHOR", "COMMITTER"]
                    .iter()
                    .flat_map(|who| [(format!("GIT_{who}_NAME"), "t"), (format!("GIT_{who}_EMAIL"), "t@example.test")]),
            )
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// A repository with one commit of these files.
    pub(crate) fn repository(&self, name: &str, files: &[(&str, &str)]) {
        std::fs::create_dir_all(self.path(name)).unwrap();
        self.git(name, &["init", "--quiet", "--initial-branch=main"]);
        self.commit(name, files);
    }

    pub(crate) fn commit(&self, name: &str, files: &[(&str, &str)]) -> String {
        for (path, content) in files {
            let path = self.path(name).join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        self.git(name, &["add", "--all", "--force"]);
        self.git(name, &["commit", "--quiet", "--allow-empty", "--message=x"]);
        self.git(name, &["rev-parse", "HEAD"])
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    /// Serves the repositories over http, as plain files.
    pub(crate) fn serve(&self) -> Server {
        let root = self.root.path().to_owned();
        Server::start(move |asked, _| {
            let path = asked.path.split('?').next().unwrap_or_default().trim_start_matches('/');
            std::fs::read(root.join(path)).map_or_else(|_| Reply::new(404, ""), |body| Reply::new(200, body))
        })
    }

    /// Makes a repository fit to be served as plain files, and says where it is below the server.
    pub(crate) fn publish(&self, name: &str) -> String {
        self.git(name, &["repack", "-adq"]);
        self.git(name, &["update-server-info"]);
        format!("/{name}/.git")
    }

    pub(crate) fn destination(&self) -> PathBuf {
        self.path("destination")
    }

    /// Checks out into a fresh destination, and makes sure that nothing was run.
    pub(crate) async fn check_out(&self, source: &GitSource, settings: &GitSettings) -> Result<CheckedOut, GitError> {
        let _ = std::fs::remove_dir_all(self.destination());
        let result = checkout(source, &self.destination(), settings).await;
        assert!(!self.canary().exists(), "something was executed: {source:?} {result:?}");
        result
    }

    /// Settings as they are for users, with a home of our own.
    pub(crate) fn settings(&self) -> GitSettings {
        let home = self.path("home").display().to_string();
        let environment = vec![("HOME".to_owned(), home.clone()), ("XDG_CONFIG_HOME".to_owned(), home)];
        GitSettings { environment, ..GitSettings::default() }
    }
}

pub(crate) fn source(url: impl Into<String>) -> GitSource {
    GitSource { url: url.into(), reference: None, depth: None, ssh_key: None }
}

pub(crate) fn at(url: impl Into<String>, reference: &str) -> GitSource {
    GitSource { reference: Some(reference.to_owned()), ..source(url) }
}
