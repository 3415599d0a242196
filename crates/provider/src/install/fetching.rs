//! Getting a package, wherever it is, into a directory of packages.

use std::path::Path;

use groma_fetch::http::{Client, Request};

use super::cache::PackageDir;
use super::error::PackageError;
use super::events::{DownloadEvents, Observer};
use super::hash::Hash;
use super::package::{Location, PackageMeta};
use super::placing::{Arrived, Placed, io_error, place_archive, place_directory};

/// No provider's archive is larger.
const MAX_ARCHIVE: u64 = 2 << 30;

/// Fetches a package and puts it in its place. The caller holds the lock of that place.
pub(super) async fn fetch(
    client: &Client,
    meta: &PackageMeta,
    into: &PackageDir,
    allowed: &[Hash],
    observer: &dyn Observer,
) -> Result<Placed, PackageError> {
    let destination = into.path_of(&meta.provider, &meta.version);
    let (meta, allowed) = (meta.clone(), allowed.to_vec());
    match meta.location.clone() {
        Location::Directory(source) => blocking(move || place_directory(&meta, &source, &destination, &allowed)).await,
        Location::Archive(_) | Location::Url { .. } => {
            let arrived = arrive(client, &meta, into.root(), observer).await?;
            blocking(move || place_archive(&meta, arrived, &destination, &allowed)).await
        }
    }
}

/// Has an archive at hand: downloaded to a file without a name in a directory, or opened where it is.
async fn arrive(
    client: &Client,
    meta: &PackageMeta,
    directory: &Path,
    observer: &dyn Observer,
) -> Result<Arrived, PackageError> {
    let name = meta.location.to_string();
    match &meta.location {
        Location::Url { .. } => {
            std::fs::create_dir_all(directory).map_err(io_error("cannot create", directory))?;
            let file = tempfile::tempfile_in(directory).map_err(io_error("cannot create a file in", directory))?;
            let (digest, size) = download(client, meta, &file, observer).await?;
            Ok(Arrived { file, name, digest, size })
        }
        Location::Archive(path) | Location::Directory(path) => {
            let path = path.clone();
            blocking(move || {
                let mut file = std::fs::File::open(&path).map_err(io_error("cannot open", &path))?;
                let (digest, size) = groma_fetch::dirhash::sha256(&mut file).map_err(io_error("cannot read", &path))?;
                Ok(Arrived { file, name, digest, size })
            })
            .await
        }
    }
}

/// Downloads an archive into a file, and gives its digest and size.
pub(super) async fn download(
    client: &Client,
    meta: &PackageMeta,
    file: &std::fs::File,
    observer: &dyn Observer,
) -> Result<([u8; 32], u64), PackageError> {
    let Location::Url { url, plain_http } = &meta.location else {
        let reason = "it is not at an address".to_owned();
        return Err(PackageError::Unpack { archive: meta.location.to_string(), reason });
    };
    let request = Request::get(url.clone()).plain_http(*plain_http).label(meta.provider.for_display());
    let progress = DownloadEvents { provider: &meta.provider, observer };
    let downloaded = client.download(&request, file, MAX_ARCHIVE, &progress).await?;
    Ok((downloaded.sha256, downloaded.size))
}

/// Runs work that blocks where that disturbs nobody.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PackageError> + Send + 'static,
) -> Result<T, PackageError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(PackageError::Io {
            action: "interrupted while working on",
            path: std::path::PathBuf::from("a package"),
            reason: error.to_string(),
        }),
    }
}
