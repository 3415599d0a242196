//! What Flux's source-controller offers: archives of trees over HTTP, with the digest of each.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::web::{Answer, Request, WebServer};

/// An archive that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Where it is.
    pub url: String,
    /// What it is, as `sha256:…`.
    pub digest: String,
    /// How many bytes it has.
    pub size: usize,
}

impl Artifact {
    /// As a source of Flux has it in `status.artifact`.
    pub fn as_status(&self, revision: &str) -> Value {
        json!({
            "url": self.url, "path": self.url.split('/').skip(3).collect::<Vec<_>>().join("/"), "revision": revision,
            "digest": self.digest, "size": self.size, "lastUpdateTime": "2026-01-01T00:00:00Z",
        })
    }
}

#[derive(Default)]
struct Inner {
    files: BTreeMap<String, Vec<u8>>,
    asked: Vec<String>,
    failures: (usize, u16),
}

/// A server of archives.
pub struct ArtifactServer {
    web: WebServer,
    inner: Arc<Mutex<Inner>>,
}

impl ArtifactServer {
    /// Starts one that has nothing.
    #[expect(clippy::new_without_default, reason = "it starts a server")]
    pub fn new() -> Self {
        let inner = Arc::new(Mutex::new(Inner::default()));
        let shared = Arc::clone(&inner);
        let web = WebServer::start(move |request| answer(request, &mut guard(&shared)));
        Self { web, inner }
    }

    /// Serves a tree as `<name>.tar.gz`, in the place of what was there.
    pub fn publish(&self, name: &str, files: &[(&str, &str)]) -> Artifact {
        self.publish_bytes(name, archive(files))
    }

    /// Serves the folder that is there with everything in it.
    pub fn publish_folder(&self, name: &str, folder: &Path) -> Artifact {
        let files = files_below(folder);
        let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        self.publish(name, &files)
    }

    /// Serves bytes that somebody calls an archive.
    pub fn publish_bytes(&self, name: &str, bytes: Vec<u8>) -> Artifact {
        let path = format!("/{name}.tar.gz");
        let artifact = Artifact {
            url: format!("{}{path}", self.web.url()),
            digest: format!("sha256:{}", hex::encode(Sha256::digest(&bytes))),
            size: bytes.len(),
        };
        guard(&self.inner).files.insert(path, bytes);
        artifact
    }

    /// Has an archive no more.
    pub fn withdraw(&self, name: &str) {
        guard(&self.inner).files.remove(&format!("/{name}.tar.gz"));
    }

    /// The next requests fail, and then one does not.
    pub fn fail(&self, times: usize, status: u16) {
        guard(&self.inner).failures = (times, status);
    }

    /// What was asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        guard(&self.inner).asked.clone()
    }
}

fn guard(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(request: &Request, inner: &mut Inner) -> Answer {
    inner.asked.push(request.path.clone());
    if inner.failures.0 > 0 {
        inner.failures.0 -= 1;
        return Answer::status(inner.failures.1);
    }
    match inner.files.get(&request.path) {
        Some(bytes) => Answer::bytes(200, "application/gzip", bytes.clone()),
        None => Answer::status(404),
    }
}

/// A tree as a `tar.gz`, always the same for the same tree.
pub fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        builder.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    let tar = builder.into_inner().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&tar).unwrap();
    gzip.finish().unwrap()
}

/// The files below a folder, by their paths in it, in order.
pub fn files_below(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_served_with_its_digest() {
        let server = ArtifactServer::new();
        let first = server.publish("lake", &[("a/main.tf", "one")]);
        let second = server.publish("lake", &[("a/main.tf", "two")]);
        assert_eq!(first.url, second.url);
        assert_ne!(first.digest, second.digest);
        let again = server.publish("lake", &[("a/main.tf", "two")]);
        assert_eq!(again, second, "equal trees are equal archives");
        assert_eq!(again.as_status("main@sha1:b")["path"], "lake.tar.gz");
    }
}
