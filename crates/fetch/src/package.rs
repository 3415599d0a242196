//! Fetching a whole package, from wherever it is, into a directory that appears whole or not at all.

mod error;
mod meta;
mod select;

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use md5::Digest;
use url::Url;

pub use error::PackageError;
pub use select::select_subdir;

use crate::address::{ArchiveChoice, Checksum, FileSource, GitSource, HashKind, HttpSource, Package, RemoteSource};
use crate::archive::{self, ArchiveError, Format, Limits};
use crate::credentials::Token;
use crate::git::{self, GitSettings};
use crate::http::{Client, Request};
use crate::links;
use crate::netrc::Netrc;
use crate::progress::Progress;
use crate::redact;
use crate::staging::Staging;

/// How often a page may say that the package is elsewhere.
const MAX_HOPS: usize = 10;
/// Pages that say where the package is are small.
const MAX_PAGE: u64 = 4 << 20;

/// Fetches packages.
#[derive(Debug, Clone)]
pub struct Fetcher {
    /// For http(s).
    pub client: Client,
    /// For git.
    pub git: GitSettings,
    /// For what archives unpack to.
    pub limits: Limits,
    /// For how large archives themselves are.
    pub max_download: u64,
    /// Whether directories and archives of this machine may be used.
    pub local_files: bool,
    /// Who one is at hosts that archives come from.
    pub netrc: Netrc,
}

/// What was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The directory that the address selects: the destination, or one inside it.
    pub directory: PathBuf,
    /// The commit, if it came from git.
    pub commit: Option<String>,
}

impl Fetcher {
    /// A fetcher with the usual limits.
    pub fn new(client: Client, git: GitSettings) -> Self {
        Self {
            client,
            git,
            limits: Limits::SOURCE,
            max_download: Limits::SOURCE.bytes,
            local_files: true,
            netrc: Netrc::default(),
        }
    }

    /// Fetches the whole package into `destination`, which must not exist (or be empty), and finds the directory that
    /// the address selects.
    pub async fn fetch(
        &self,
        source: &RemoteSource,
        destination: &Path,
        progress: &dyn Progress,
    ) -> Result<Fetched, PackageError> {
        let commit = self.fetch_package(source, destination, progress).await?;
        let directory = match &source.subdir {
            Some(subdir) => select_subdir(destination, subdir)?,
            None => destination.to_owned(),
        };
        Ok(Fetched { directory, commit })
    }

    /// Fetches an archive whose format shows in its bytes, as registries that host packages themselves offer them.
    pub async fn fetch_archive(
        &self,
        url: &Url,
        token: Option<Token>,
        destination: &Path,
        progress: &dyn Progress,
    ) -> Result<(), PackageError> {
        let request = Request::get(url.clone()).bearer(token).plain_http(url.scheme() == "http");
        let mut file = self.download(&request, None, progress).await?;
        let format = Format::sniff(&mut file).map_err(PackageError::temporary)?;
        let format = format.ok_or_else(|| PackageError::UnknownArchive(redact::url(url)))?;
        self.unpack(file, format, redact::url(url), destination).await
    }

    async fn fetch_package(
        &self,
        source: &RemoteSource,
        destination: &Path,
        progress: &dyn Progress,
    ) -> Result<Option<String>, PackageError> {
        let mut package = source.package()?;
        let mut inner: Vec<String> = Vec::new();
        for _ in 0..=MAX_HOPS {
            let page = match &package {
                Package::Http(page) if page.archive == ArchiveChoice::No => page.clone(),
                _ => return self.fetch_into_place(&package, &inner, destination, progress).await,
            };
            let next = self.follow(&page).await?;
            package = next.package()?;
            check_hop(&page.url, &package)?;
            // A directory that a later page names is inside that of the page before.
            inner.extend(next.subdir);
        }
        Err(PackageError::TooManyHops(source.for_display()))
    }

    /// Fetches what is certain by now. If pages on the way named directories, only the innermost becomes the package.
    async fn fetch_into_place(
        &self,
        package: &Package,
        inner: &[String],
        destination: &Path,
        progress: &dyn Progress,
    ) -> Result<Option<String>, PackageError> {
        if inner.is_empty() {
            return self.fetch_certain(package, destination, progress).await;
        }
        let staging = Staging::beside(destination).map_err(PackageError::write(destination))?;
        let whole = staging.path().join("package");
        let commit = self.fetch_certain(package, &whole, progress).await?;
        let mut selected = whole;
        for subdir in inner.iter().rev() {
            selected = select_subdir(&selected, subdir)?;
        }
        // A link to the directory is not the directory, and links that led elsewhere in the package lead outside now.
        let selected = selected.canonicalize().map_err(PackageError::write(destination))?;
        links::check(&selected, ".git").map_err(PackageError::link)?;
        staging.publish_child(&selected).map_err(PackageError::write(destination))?;
        Ok(commit)
    }

    async fn fetch_certain(
        &self,
        package: &Package,
        destination: &Path,
        progress: &dyn Progress,
    ) -> Result<Option<String>, PackageError> {
        match package {
            Package::Git(source) => self.fetch_git(source, destination, progress).await.map(Some),
            Package::Http(source) => self.fetch_http(source, destination, progress).await.map(|()| None),
            Package::File(source) => self.fetch_file(source, destination).await.map(|()| None),
        }
    }

    async fn fetch_git(
        &self,
        source: &GitSource,
        destination: &Path,
        progress: &dyn Progress,
    ) -> Result<String, PackageError> {
        let staging = Staging::beside(destination).map_err(PackageError::write(destination))?;
        progress.started(&redact::text(&source.url), None);
        let result = git::checkout(source, staging.path(), &self.git).await;
        progress.finished();
        let commit = result?.commit;
        staging.publish().map_err(PackageError::write(destination))?;
        Ok(commit)
    }

    async fn fetch_http(
        &self,
        source: &HttpSource,
        destination: &Path,
        progress: &dyn Progress,
    ) -> Result<(), PackageError> {
        let request = self.request(source.url.clone());
        let file = self.download(&request, source.checksum.as_ref(), progress).await?;
        let ArchiveChoice::Unpack(format) = source.archive else {
            return Err(PackageError::UnknownArchive(redact::url(&source.url)));
        };
        self.unpack(file, format, redact::url(&source.url), destination).await
    }

    async fn fetch_file(&self, source: &FileSource, destination: &Path) -> Result<(), PackageError> {
        let shown = source.path.display().to_string();
        if !self.local_files {
            return Err(PackageError::LocalFile(shown));
        }
        let failed = |error| PackageError::Read { path: shown.clone(), source: error };
        match source.archive {
            ArchiveChoice::Unpack(format) => {
                let mut file = File::open(&source.path).map_err(failed)?;
                check(source.checksum.as_ref(), &mut file, &shown)?;
                self.unpack(file, format, shown, destination).await
            }
            ArchiveChoice::No if !source.path.metadata().map_err(failed)?.is_dir() => {
                Err(PackageError::NotDirectory(shown))
            }
            ArchiveChoice::No => link(&source.path, destination),
        }
    }

    fn request(&self, mut url: Url) -> Request {
        let plain = url.scheme() == "http";
        self.netrc.apply(&mut url);
        Request::get(url).plain_http(plain)
    }

    async fn download(
        &self,
        request: &Request,
        checksum: Option<&Checksum>,
        progress: &dyn Progress,
    ) -> Result<File, PackageError> {
        let mut file = tempfile::tempfile().map_err(PackageError::temporary)?;
        self.client.download(request, &file, self.max_download, progress).await?;
        check(checksum, &mut file, &redact::url(request.url()))?;
        Ok(file)
    }

    async fn unpack(&self, mut file: File, format: Format, from: String, to: &Path) -> Result<(), PackageError> {
        let (limits, destination) = (self.limits, to.to_owned());
        let work = move || archive::unpack(&mut file, format, &destination, &limits);
        let result = tokio::task::spawn_blocking(work).await;
        let result = result.unwrap_or_else(|error| Err(ArchiveError::Damaged(error.to_string())));
        result.map(drop).map_err(|source| PackageError::Archive { from, source })
    }

    /// Asks a page where the package is: by a header, or by a `meta` tag.
    async fn follow(&self, page: &HttpSource) -> Result<RemoteSource, PackageError> {
        if page.checksum.is_some() {
            return Err(PackageError::ChecksumOfDirectory);
        }
        let mut url = page.url.clone();
        url.query_pairs_mut().append_pair("terraform-get", "1");
        let request = self.request(url);
        let response = self.client.get(&request, MAX_PAGE).await?.into_success()?;
        let header = response.header("X-Terraform-Get").filter(|value| !value.is_empty()).map(str::to_owned);
        let found = header.or_else(|| meta::terraform_get(&response.body));
        let found = found.ok_or_else(|| PackageError::NoSource(redact::url(&page.url)))?;
        let absolute = if found.starts_with('/') || found.starts_with("./") || found.starts_with("../") {
            response.url.join(&found).map_or(found, |url| url.to_string())
        } else {
            found
        };
        Ok(RemoteSource::parse(&absolute)?)
    }
}

/// A page of somebody else may lead neither to files of this machine nor off https.
fn check_hop(page: &Url, next: &Package) -> Result<(), PackageError> {
    let from = || redact::url(page);
    let is_local_git = |git: &GitSource| git.url.to_ascii_lowercase().starts_with("file:");
    match next {
        Package::File(_) => Err(PackageError::Hop { from: from(), reason: "to a file of this machine" }),
        Package::Git(git) if is_local_git(git) => {
            Err(PackageError::Hop { from: from(), reason: "to a repository of this machine" })
        }
        Package::Http(http) if page.scheme() == "https" && http.url.scheme() != "https" => {
            Err(PackageError::Hop { from: from(), reason: "from https to an unprotected address" })
        }
        _ => Ok(()),
    }
}

fn check(checksum: Option<&Checksum>, file: &mut File, shown: &str) -> Result<(), PackageError> {
    let Some(checksum) = checksum else { return Ok(()) };
    file.rewind().map_err(PackageError::temporary)?;
    let actual = match checksum.kind {
        HashKind::Md5 => digest::<md5::Md5>(file),
        HashKind::Sha1 => digest::<sha1::Sha1>(file),
        HashKind::Sha256 => digest::<sha2::Sha256>(file),
        HashKind::Sha512 => digest::<sha2::Sha512>(file),
    };
    let actual = actual.map_err(PackageError::temporary)?;
    if actual == checksum.digest {
        return Ok(());
    }
    Err(PackageError::Checksum {
        from: shown.to_owned(),
        expected: hex::encode(&checksum.digest),
        actual: hex::encode(actual),
    })
}

fn digest<D: Digest>(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut digest = D::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(digest.finalize().to_vec()),
            count => digest.update(&buffer[..count]),
        }
    }
}

/// A directory of this machine is not copied: changes in it are to be seen, as ever.
fn link(path: &Path, destination: &Path) -> Result<(), PackageError> {
    if let Some(parent) = destination.parent() {
        std::fs::create_dir_all(parent).map_err(PackageError::write(destination))?;
    }
    // An empty directory may wait at the place.
    let _ = std::fs::remove_dir(destination);
    make_link(path, destination).map_err(PackageError::write(destination))
}

#[cfg(unix)]
fn make_link(path: &Path, destination: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(path, destination)
}

#[cfg(windows)]
fn make_link(path: &Path, destination: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_dir(path, destination)
}

#[cfg(test)]
mod tests;
