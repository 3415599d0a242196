//! An API server that can be ended and started again.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use groma_testkit::servers::kube::{Extent, KubeServer, Reach};

use crate::api::{Api, eventually};

/// A server of one test, which can be ended and started again.
pub(crate) struct OwnServer {
    server: KubeServer,
    /// Where it runs, and with which words it was started.
    folder: PathBuf,
    words: Vec<String>,
    process: u32,
    again: Option<Child>,
}

impl OwnServer {
    pub(crate) fn start() -> Self {
        let server = KubeServer::fresh(Extent::Api, Vec::new());
        let (_, process) = *server.reach().processes.iter().find(|(name, _)| *name == "kube-apiserver").unwrap();
        let words = fs::read(format!("/proc/{process}/cmdline")).unwrap();
        let words = words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        let words = words.filter(|word| !word.is_empty()).collect();
        let folder = fs::read_link(format!("/proc/{process}/cwd")).unwrap();
        Self { server, folder, words, process, again: None }
    }

    pub(crate) fn reach(&self) -> &Reach {
        self.server.reach()
    }

    /// Where the server looks for files.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// At once, without a word.
    pub(crate) fn kill(&mut self) {
        let process = self.process.to_string();
        assert!(Command::new("kill").args(["-s", "KILL", &process]).status().unwrap().success());
        if let Some(mut child) = self.again.take() {
            let _ = child.wait();
        }
        let place = self.server.reach().url.trim_start_matches("https://").to_owned();
        assert!(eventually(|| TcpStream::connect(&place).is_err()), "it is still there");
    }

    /// Starts it again, and waits until it answers.
    pub(crate) fn start_again(&mut self, more: &[&str]) {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(more).current_dir(&self.folder);
        let log = fs::File::create(self.folder.join("again.log")).unwrap();
        let child = command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        self.process = child.id();
        self.again = Some(child);
        let api = Api::new(self.server.reach());
        let is_ready = || api.ask("GET", "/readyz", "", None).is_ok_and(|(status, _)| status == 200);
        let log = || fs::read_to_string(self.folder.join("again.log")).unwrap();
        assert!(eventually(is_ready), "{}", log().lines().rev().take(5).collect::<Vec<_>>().join("\n"));
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        if let Some(mut child) = self.again.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
