//! Artifacts: archives that somebody else has fetched and serves, with the digest that they must have.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;

use groma_fetch::archive::{self, Format};
use groma_fetch::http::{Client, ClientSettings, Request};
use groma_fetch::progress::Silent;
use groma_fetch::redact;
use groma_network::Networks;
use sha2::{Digest, Sha256, Sha384, Sha512};
use url::Url;

use super::tree::{Tree, directory_in};
use super::{Limits, SourceError, Trouble};

/// An artifact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Artifact {
    /// Where it is.
    pub url: String,
    /// What people know it by.
    pub revision: String,
    /// What its bytes must hash to: `sha256:…`.
    pub digest: String,
}

impl Artifact {
    /// Fetches it into a directory that is made in `folder`.
    pub async fn fetch(
        &self,
        folder: &Path,
        networks: Option<&Networks>,
        limits: &Limits,
    ) -> Result<Tree, SourceError> {
        let work = self.fetch_within(folder, networks, limits);
        let elapsed = |_| {
            let seconds = limits.time.as_secs();
            SourceError::new(Trouble::Passing, format!("{} did not come within {seconds} seconds", self.shown()))
        };
        tokio::time::timeout(limits.time, work).await.map_err(elapsed)?
    }

    fn shown(&self) -> String {
        redact::text(&self.url)
    }

    async fn fetch_within(
        &self,
        folder: &Path,
        networks: Option<&Networks>,
        limits: &Limits,
    ) -> Result<Tree, SourceError> {
        let url = Url::parse(&self.url).map_err(|problem| {
            SourceError::new(Trouble::Invalid, format!("the artifact has no address: {}: {problem}", self.shown()))
        })?;
        let wanted = Wanted::parse(&self.digest)?;
        let directory = directory_in(folder)?;
        let written =
            |source: std::io::Error| SourceError::new(Trouble::Passing, format!("cannot write the artifact: {source}"));
        let mut file = tempfile::tempfile_in(directory.path()).map_err(written)?;
        let request = Request::get(url.clone()).plain_http(url.scheme() == "http");
        let client = Client::new(ClientSettings {
            download_retries: 1,
            networks: networks.cloned(),
            ..ClientSettings::default()
        });
        client.download(&request, &file, limits.bytes, &Silent).await?;
        let (place, limits, shown) = (directory.path().join("tree"), *limits, self.shown());
        let to = place.clone();
        let unpacked = tokio::task::spawn_blocking(move || {
            wanted.check(&mut file, &shown)?;
            let unpacked = archive::Limits { bytes: limits.bytes, files: limits.files, ..archive::Limits::SOURCE };
            archive::unpack(&mut file, Format::TarGz, &to, &unpacked).map_err(SourceError::from)
        });
        unpacked.await.map_err(|problem| SourceError::new(Trouble::Passing, problem.to_string()))??;
        Tree::take_in(directory, place, self.revision.clone(), Some(self.digest.clone()), limits).await
    }
}

/// What bytes must hash to.
enum Wanted {
    Sha256(Vec<u8>),
    Sha384(Vec<u8>),
    Sha512(Vec<u8>),
}

impl Wanted {
    fn parse(text: &str) -> Result<Self, SourceError> {
        let invalid = |message: String| SourceError::new(Trouble::Damaged, message);
        let (name, hex) = text.split_once(':').ok_or_else(|| {
            invalid("the artifact has no digest, so nobody can tell whether it is the right one".to_owned())
        })?;
        let digest = decoded(hex).ok_or_else(|| invalid(format!("{text:?} is no digest")))?;
        match name {
            "sha256" => Ok(Self::Sha256(digest)),
            "sha384" => Ok(Self::Sha384(digest)),
            "sha512" => Ok(Self::Sha512(digest)),
            other => Err(invalid(format!("digests by {other:?} are not known here; sha256, sha384 and sha512 are"))),
        }
    }

    fn check(&self, file: &mut File, shown: &str) -> Result<(), SourceError> {
        let read =
            |source: std::io::Error| SourceError::new(Trouble::Passing, format!("cannot read the artifact: {source}"));
        let (actual, expected) = match self {
            Self::Sha256(expected) => (hashed::<Sha256>(file).map_err(read)?, expected),
            Self::Sha384(expected) => (hashed::<Sha384>(file).map_err(read)?, expected),
            Self::Sha512(expected) => (hashed::<Sha512>(file).map_err(read)?, expected),
        };
        if actual == *expected {
            return Ok(());
        }
        let message = format!("{shown} has the digest {}, and should have {}", encoded(&actual), encoded(expected));
        Err(SourceError::new(Trouble::Damaged, message))
    }
}

pub(super) fn hashed<D: Digest>(file: &mut File) -> std::io::Result<Vec<u8>> {
    file.rewind()?;
    let (mut hash, mut buffer) = (D::new(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().to_vec()),
            count => hash.update(&buffer[..count]),
        }
    }
}

pub(super) fn encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

fn decoded(hex: &str) -> Option<Vec<u8>> {
    let is_hex = !hex.is_empty() && hex.len().is_multiple_of(2) && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    let pairs = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok());
    is_hex.then(|| pairs.collect()).flatten()
}

#[cfg(test)]
mod tests;
