//! Git over HTTP: repositories on loopback, served by git itself, with helpers that write commits into them. Neither knows anything of the
//! settings of whoever runs the tests.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use tempfile::TempDir;

use super::artifacts::files_below;
use super::web::{Answer, Body, Request, WebServer};

/// When the first commit was made, in seconds since 1970. Each further one is a second later.
const BEGINNING: u64 = 1_767_225_600;

#[derive(Default)]
struct Inner {
    /// The text of the only `Authorization` that is let in.
    authorization: Option<String>,
    asked: Vec<String>,
    failures: (usize, u16),
    latency: Duration,
    commits: u64,
}

/// A server of repositories.
pub struct GitServer {
    web: WebServer,
    root: TempDir,
    inner: Arc<Mutex<Inner>>,
}

impl GitServer {
    /// Starts one that has no repositories and lets everybody in.
    #[expect(clippy::new_without_default, reason = "it starts a server")]
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let inner = Arc::new(Mutex::new(Inner::default()));
        let (shared, folder) = (Arc::clone(&inner), root.path().to_owned());
        let web = WebServer::start(move |request| answer(request, &folder, &shared));
        Self { web, root, inner }
    }

    /// Makes an empty repository whose branch is `main`.
    pub fn repository(&self, name: &str) -> GitRepository {
        let path = self.root.path().join(format!("{name}.git"));
        let made = git(self.root.path(), &["init", "--quiet", "--bare", "-b", "main", path.to_str().unwrap()], b"");
        assert!(made.is_ok(), "{made:?}");
        let repository = GitRepository { path, url: self.url(name), inner: Arc::clone(&self.inner) };
        // As hosts have it: single commits can be asked for, parts can be left out, and whoever is let in may push.
        for setting in ["uploadpack.allowAnySHA1InWant", "uploadpack.allowFilter", "http.receivepack"] {
            repository.git(&["config", setting, "true"]);
        }
        repository
    }

    /// Where a repository is.
    pub fn url(&self, name: &str) -> String {
        format!("{}/{name}.git", self.web.url())
    }

    /// From now on lets only those in who say this.
    pub fn demand_password(&self, username: &str, password: &str) {
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{username}:{password}"));
        guard(&self.inner).authorization = Some(format!("Basic {pair}"));
    }

    /// From now on lets only those in who have this token.
    pub fn demand_token(&self, token: &str) {
        guard(&self.inner).authorization = Some(format!("Bearer {token}"));
    }

    /// The next requests fail, and then one does not.
    pub fn fail(&self, times: usize, status: u16) {
        guard(&self.inner).failures = (times, status);
    }

    /// Every answer takes so long from now on.
    pub fn delay(&self, latency: Duration) {
        guard(&self.inner).latency = latency;
    }

    /// What was asked for, in order: method, path and query.
    pub fn asked(&self) -> Vec<String> {
        guard(&self.inner).asked.clone()
    }

    /// How often somebody looked at a repository, by asking for its references.
    pub fn looks(&self, name: &str) -> usize {
        let start = format!("GET /{name}.git/info/refs");
        guard(&self.inner).asked.iter().filter(|line| line.starts_with(&start)).count()
    }

    /// How often something was fetched from a repository.
    pub fn fetches(&self, name: &str) -> usize {
        // Looking is a POST, too, in the newer protocol: a fetch is what is not answered with references alone.
        let line = format!("FETCH /{name}.git");
        guard(&self.inner).asked.iter().filter(|known| **known == line).count()
    }
}

/// What a commit does with one path.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// A file has these contents.
    File(&'a [u8]),
    /// A file has these contents, and can be run.
    Program(&'a [u8]),
    /// A symbolic link to somewhere.
    Link(&'a str),
    /// A submodule at a commit.
    Submodule(&'a str),
    /// There is nothing any more.
    Gone,
}

/// A repository.
pub struct GitRepository {
    path: PathBuf,
    url: String,
    inner: Arc<Mutex<Inner>>,
}

impl GitRepository {
    /// Where it is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes files over what a branch has, and makes the branch if there is none: the hash of the commit.
    #[track_caller]
    pub fn commit(&self, branch: &str, message: &str, files: &[(&str, &str)]) -> String {
        let changes: Vec<_> = files.iter().map(|(path, text)| (*path, Change::File(text.as_bytes()))).collect();
        self.change(branch, message, &changes)
    }

    /// The same with everything in a folder.
    #[track_caller]
    pub fn commit_folder(&self, branch: &str, message: &str, folder: &Path) -> String {
        let files = files_below(folder);
        let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        self.commit(branch, message, &files)
    }

    /// Any changes of what a branch has.
    #[track_caller]
    pub fn change(&self, branch: &str, message: &str, changes: &[(&str, Change<'_>)]) -> String {
        let parent = self.tip(branch);
        self.commit_on(branch, parent.as_deref(), message, changes)
    }

    /// A branch becomes one commit on another one, or on nothing, whatever it was before: a push by force.
    #[track_caller]
    pub fn rewrite(&self, branch: &str, parent: Option<&str>, message: &str, files: &[(&str, &str)]) -> String {
        let changes: Vec<_> = files.iter().map(|(path, text)| (*path, Change::File(text.as_bytes()))).collect();
        self.commit_on(branch, parent, message, &changes)
    }

    /// A branch is at a commit from now on, whatever it was before.
    #[track_caller]
    pub fn set_branch(&self, branch: &str, commit: &str) {
        self.git(&["update-ref", &format!("refs/heads/{branch}"), commit]);
    }

    /// A branch is no more.
    #[track_caller]
    pub fn delete_branch(&self, branch: &str) {
        self.git(&["update-ref", "-d", &format!("refs/heads/{branch}")]);
    }

    /// A tag is at a commit from now on.
    #[track_caller]
    pub fn tag(&self, name: &str, commit: &str) {
        self.git(&["tag", "--force", name, commit]);
    }

    /// The same with a message, which is an object of its own.
    #[track_caller]
    pub fn annotated_tag(&self, name: &str, commit: &str, message: &str) {
        self.git(&["tag", "--force", "--annotate", "-m", message, name, commit]);
    }

    /// A tag is no more.
    #[track_caller]
    pub fn delete_tag(&self, name: &str) {
        self.git(&["update-ref", "-d", &format!("refs/tags/{name}")]);
    }

    /// Any reference is at a commit, such as those that hosts have for pull requests.
    #[track_caller]
    pub fn set_reference(&self, name: &str, commit: &str) {
        self.git(&["update-ref", name, commit]);
    }

    /// The commit that a branch is at.
    pub fn tip(&self, branch: &str) -> Option<String> {
        let reference = format!("refs/heads/{branch}");
        let said = git(&self.path, &["rev-parse", "--verify", "--quiet", &reference], b"").ok()?;
        Some(said.trim().to_owned())
    }

    #[track_caller]
    fn commit_on(&self, branch: &str, parent: Option<&str>, message: &str, changes: &[(&str, Change<'_>)]) -> String {
        let when = {
            let mut inner = guard(&self.inner);
            inner.commits += 1;
            BEGINNING + inner.commits
        };
        let reference = format!("refs/heads/{branch}");
        let mut stream = format!("commit {reference}\ncommitter Test <test@example.com> {when} +0000\n").into_bytes();
        stream.extend(format!("data {}\n{message}\n", message.len()).bytes());
        stream.extend(parent.map(|parent| format!("from {parent}\n")).unwrap_or_default().bytes());
        for (path, change) in changes {
            let mut file = |mode: &str, bytes: &[u8]| {
                stream.extend(format!("M {mode} inline {path}\ndata {}\n", bytes.len()).bytes());
                stream.extend(bytes);
                stream.push(b'\n');
            };
            match change {
                Change::File(bytes) => file("100644", bytes),
                Change::Program(bytes) => file("100755", bytes),
                Change::Link(to) => file("120000", to.as_bytes()),
                Change::Submodule(commit) => stream.extend(format!("M 160000 {commit} {path}\n").bytes()),
                Change::Gone => stream.extend(format!("D {path}\n").bytes()),
            }
        }
        // Without a parent it would go on from what the branch has.
        if parent.is_none() {
            let _ = git(&self.path, &["update-ref", "-d", &reference], b"");
        }
        let done = git(&self.path, &["fast-import", "--quiet", "--force"], &stream);
        assert!(done.is_ok(), "{done:?}");
        self.tip(branch).expect("the commit was made")
    }

    #[track_caller]
    fn git(&self, words: &[&str]) -> String {
        let done = git(&self.path, words, b"");
        assert!(done.is_ok(), "git {words:?}: {done:?}");
        done.unwrap_or_default()
    }
}

fn guard(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

/// git without anybody's settings.
fn command(folder: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "programs are found as everywhere")]
    let programs = std::env::var_os("PATH").unwrap_or_default();
    let mut command = Command::new("git");
    command.current_dir(folder).env_clear().env("PATH", programs).env("HOME", folder);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_TERMINAL_PROMPT", "0");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Test").env(format!("GIT_{role}_EMAIL"), "test@example.com");
        command.env(format!("GIT_{role}_DATE"), format!("{BEGINNING} +0000"));
    }
    command
}

/// What git says, or what it complains about.
fn git(folder: &Path, words: &[&str], input: &[u8]) -> Result<String, String> {
    let mut command = command(folder);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let written = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() && written.is_ok() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn answer(request: &Request, root: &Path, inner: &Mutex<Inner>) -> Answer {
    let latency = {
        let mut inner = guard(inner);
        inner.asked.push(format!("{} {}", request.method, request.target()));
        if inner.authorization.is_some() && inner.authorization.as_deref() != request.header("authorization") {
            return Answer::unauthorized();
        }
        if inner.failures.0 > 0 {
            inner.failures.0 -= 1;
            return Answer::status(inner.failures.1);
        }
        if let Some(repository) = request.path.strip_suffix("/git-upload-pack")
            && is_fetch(&request.body)
        {
            inner.asked.push(format!("FETCH {repository}"));
        }
        inner.latency
    };
    std::thread::sleep(latency);
    served_by_git(request, root).unwrap_or_else(|error| Answer::bytes(500, "text/plain", error.to_string().into()))
}

/// Whether objects are wanted: in the older protocol everything that is posted is that, in the newer one it says so.
fn is_fetch(body: &[u8]) -> bool {
    let starts = |line: &[u8]| body.get(4..).is_some_and(|rest| rest.starts_with(line));
    // Long requests come compressed, and only those with many wishes are long.
    starts(b"command=fetch") || starts(b"want ") || body.starts_with(&[0x1f, 0x8b])
}

/// git speaks to web servers as programs did from the beginning.
fn served_by_git(request: &Request, root: &Path) -> io::Result<Answer> {
    let mut command = command(root);
    command.arg("http-backend").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1").env("REMOTE_ADDR", "127.0.0.1");
    command.env("REMOTE_USER", "test").env("REQUEST_METHOD", &request.method);
    command.env("PATH_INFO", &request.path).env("QUERY_STRING", &request.query);
    command.env("CONTENT_LENGTH", request.body.len().to_string());
    let headers = [
        ("content-type", "CONTENT_TYPE"),
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "GIT_PROTOCOL"),
    ];
    for (header, variable) in headers {
        command.envs(request.header(header).map(|value| (variable, value)));
    }
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().ok_or_else(|| io::Error::other("no input"))?;
    let body = request.body.clone();
    // It may answer before it has read everything.
    std::thread::spawn(move || {
        let _ = stdin.write_all(&body);
    });
    let mut output = Output { reader: BufReader::new(child.stdout.take().expect("it is piped")), child };
    let (mut status, mut headers) = (200, Vec::new());
    loop {
        let mut line = String::new();
        output.reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        if name.eq_ignore_ascii_case("status") {
            status = value.split(' ').next().and_then(|code| code.parse().ok()).unwrap_or(500);
        } else {
            headers.push((name.to_owned(), value.to_owned()));
        }
    }
    Ok(Answer { status, headers, body: Body::Stream(Box::new(output)) })
}

/// What a program still says. It has ended when this is dropped.
struct Output {
    reader: BufReader<ChildStdout>,
    child: Child,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clone(url: &str, words: &[&str]) -> Result<Vec<(String, String)>, String> {
        let dir = tempfile::tempdir().unwrap();
        let mut all = vec!["clone", "--quiet"];
        all.extend(words);
        git(dir.path(), &[&all[..], &[url, "copy"]].concat(), b"")?;
        std::fs::remove_dir_all(dir.path().join("copy/.git")).unwrap();
        Ok(files_below(&dir.path().join("copy")))
    }

    fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn what_is_committed_can_be_cloned() {
        let server = GitServer::new();
        let repository = server.repository("lake");
        let first = repository.commit("main", "one", &[("a/main.tf", "a"), ("b.tf", "b")]);
        assert_eq!(clone(repository.url(), &[]).unwrap(), owned(&[("a/main.tf", "a"), ("b.tf", "b")]));
        let second = repository.change("main", "two", &[("b.tf", Change::Gone), ("c.tf", Change::File(b"c"))]);
        assert_ne!(first, second);
        assert_eq!(clone(repository.url(), &["--depth", "1"]).unwrap(), owned(&[("a/main.tf", "a"), ("c.tf", "c")]));
        assert_eq!((server.looks("lake"), server.fetches("lake")), (2, 2));
        repository.tag("v1", &first);
        repository.annotated_tag("v2", &second, "the second");
        assert_eq!(clone(repository.url(), &["-b", "v1"]).unwrap(), owned(&[("a/main.tf", "a"), ("b.tf", "b")]));
    }

    #[test]
    fn branches_are_rewritten_and_deleted() {
        let server = GitServer::new();
        let repository = server.repository("lake");
        let first = repository.commit("main", "one", &[("a.tf", "1")]);
        repository.commit("main", "two", &[("a.tf", "2")]);
        let rewritten = repository.rewrite("main", Some(&first), "other two", &[("b.tf", "b")]);
        assert_eq!(repository.tip("main"), Some(rewritten));
        assert_eq!(clone(repository.url(), &[]).unwrap(), owned(&[("a.tf", "1"), ("b.tf", "b")]));
        repository.rewrite("main", None, "anew", &[("c.tf", "c")]);
        assert_eq!(clone(repository.url(), &[]).unwrap(), owned(&[("c.tf", "c")]));
        repository.set_branch("old", &first);
        repository.delete_branch("main");
        assert_eq!(repository.tip("main"), None);
        assert!(clone(repository.url(), &["-b", "main"]).is_err());
        assert_eq!(clone(repository.url(), &["-b", "old"]).unwrap(), owned(&[("a.tf", "1")]));
    }

    #[test]
    fn only_those_who_are_known_are_let_in() {
        let server = GitServer::new();
        let repository = server.repository("lake");
        repository.commit("main", "one", &[("a.tf", "1")]);
        server.demand_password("ada", "engine");
        assert!(clone(repository.url(), &[]).is_err());
        let with_password = repository.url().replace("http://", "http://ada:engine@");
        assert!(clone(&with_password, &[]).is_ok());
        server.demand_token("token");
        assert!(clone(&with_password, &[]).is_err());
        let with_token = ["-c", "http.extraHeader=Authorization: Bearer token"];
        assert!(clone(repository.url(), &with_token).is_ok());
        server.fail(1, 503);
        assert!(clone(repository.url(), &with_token).is_err());
        assert!(clone(repository.url(), &with_token).is_ok());
    }
}
