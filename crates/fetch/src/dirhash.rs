//! Hashes of packages: `h1:` over the files of a directory or zip archive, `zh:` over the archive's bytes.

use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use base64::Engine;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Deeper than this is no package.
const MAX_DEPTH: usize = 128;

/// Why there is no hash.
#[derive(Debug, Error)]
pub enum HashError {
    /// Something cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// What.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The archive is damaged.
    #[error("cannot read the archive: {0}")]
    Archive(String),
    /// A name that the scheme cannot express.
    #[error("cannot hash a file with the name {0:?}")]
    Name(String),
}

/// `h1:` of what is in a directory. Links are followed where they lead to files, as Go does it.
pub fn h1_directory(root: &Path) -> Result<String, HashError> {
    h1_directory_with(root, |path| Ok(sha256(&mut open(path)?)?.0))
}

/// The same, with somebody else's way to the SHA-256 of a file.
pub fn h1_directory_with(root: &Path, sha256: impl Fn(&Path) -> io::Result<[u8; 32]>) -> Result<String, HashError> {
    // The package itself may be a link into a cache.
    let root = root.canonicalize().map_err(|source| read_error(root, source))?;
    let mut files = Vec::new();
    list(&root, String::new(), &mut files, 0)?;
    let mut lines = Vec::with_capacity(files.len());
    for (name, path) in files {
        lines.push((name, sha256(&path).map_err(|source| read_error(&path, source))?));
    }
    Ok(h1(lines))
}

/// `h1:` of what is in a zip archive, without unpacking it.
pub fn h1_zip(archive: impl Read + Seek) -> Result<String, HashError> {
    let broken = |error: zip::result::ZipError| HashError::Archive(error.to_string());
    let mut archive = zip::ZipArchive::new(archive).map_err(broken)?;
    if archive.has_duplicate_names() {
        return Err(HashError::Archive("a name occurs twice".to_owned()));
    }
    let mut lines = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(broken)?;
        let name = String::from_utf8(file.name_raw().to_vec())
            .map_err(|error| HashError::Name(String::from_utf8_lossy(error.as_bytes()).into_owned()))?;
        check_name(&name)?;
        let (digest, _) = sha256(&mut file).map_err(|error| HashError::Archive(format!("{name}: {error}")))?;
        lines.push((name, digest));
    }
    Ok(h1(lines))
}

/// `zh:` of an archive's bytes.
pub fn zh(archive: &mut impl Read) -> io::Result<String> {
    Ok(zh_of_digest(&sha256(archive)?.0))
}

/// `zh:` from a digest that is known already.
pub fn zh_of_digest(digest: &[u8; 32]) -> String {
    format!("zh:{}", hex::encode(digest))
}

/// The digest of everything that can be read, and how much that was.
pub fn sha256(reader: &mut impl Read) -> io::Result<([u8; 32], u64)> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut size = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok((digest.finalize().into(), size)),
            Ok(count) => {
                digest.update(&buffer[..count]);
                size += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The digest of the sorted list of digests and names.
fn h1(mut lines: Vec<(String, [u8; 32])>) -> String {
    lines.sort_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
    let mut digest = Sha256::new();
    for (name, file) in lines {
        digest.update(format!("{}  {name}\n", hex::encode(file)));
    }
    format!("h1:{}", base64::engine::general_purpose::STANDARD.encode(digest.finalize()))
}

/// Opens a plain file. Opening a pipe would wait for somebody to write to it.
fn open(path: &Path) -> io::Result<std::fs::File> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    std::fs::File::open(path)
}

fn list(dir: &Path, prefix: String, files: &mut Vec<(String, PathBuf)>, depth: usize) -> Result<(), HashError> {
    if depth > MAX_DEPTH {
        return Err(HashError::Name(prefix));
    }
    for entry in std::fs::read_dir(dir).map_err(|source| read_error(dir, source))? {
        let entry = entry.map_err(|source| read_error(dir, source))?;
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| HashError::Name(name.to_string_lossy().into_owned()))?;
        check_name(name)?;
        let name = format!("{prefix}{name}");
        let kind = entry.file_type().map_err(|source| read_error(&entry.path(), source))?;
        if kind.is_dir() {
            list(&entry.path(), format!("{name}/"), files, depth + 1)?;
        } else {
            files.push((name, entry.path()));
        }
    }
    Ok(())
}

/// A line break in a name would let one list of files look like another.
fn check_name(name: &str) -> Result<(), HashError> {
    if name.contains('\n') { Err(HashError::Name(name.to_owned())) } else { Ok(()) }
}

fn read_error(path: &Path, source: io::Error) -> HashError {
    HashError::Read { path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};

    /// What Go's `dirhash` says about these files.
    const EXPECTED: &str = "h1:fNd8YWBZBOCNHO0816KSCJjhSXHFtew4KtibGff2gSc=";
    const FILES: [(&str, &str); 6] =
        [("main.tf", "resource {}\n"), ("a/b/c", "x"), ("a b/é", "y"), ("a/zero", ""), ("a-1", "z"), ("B", "q")];

    fn zip(entries: &[(&str, &str)]) -> Cursor<Vec<u8>> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in entries {
            writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(content.as_bytes()).unwrap();
        }
        writer.finish().unwrap()
    }

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, content) in FILES {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        std::fs::create_dir(root.path().join("empty")).unwrap();
        root
    }

    #[test]
    fn a_directory_and_its_archive_have_the_hash_that_go_gives_them() {
        assert_eq!(h1_directory(tree().path()).unwrap(), EXPECTED);
        assert_eq!(h1_zip(zip(&FILES)).unwrap(), EXPECTED);
        let mut reversed = FILES;
        reversed.reverse();
        assert_eq!(h1_zip(zip(&reversed)).unwrap(), EXPECTED);
    }

    #[test]
    fn directories_in_an_archive_count_as_go_counts_them() {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        writer.add_directory("dir/", zip::write::SimpleFileOptions::default()).unwrap();
        writer.start_file("dir/x", zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(b"x").unwrap();
        let hash = h1_zip(writer.finish().unwrap()).unwrap();
        assert_eq!(hash, "h1:ZEOkVDNfKvwx92VmquiRHuir6KP09jTzZqa9Lf2h10w=");
    }

    #[test]
    fn an_archive_has_the_hash_of_its_bytes() {
        let expected = "zh:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(zh(&mut b"abc".as_slice()).unwrap(), expected);
        assert_eq!(zh_of_digest(&sha256(&mut b"abc".as_slice()).unwrap().0), expected);
    }

    #[test]
    fn names_with_line_breaks_have_no_hash() {
        assert!(matches!(h1_zip(zip(&[("a\nb", "")])), Err(HashError::Name(_))));
        assert!(h1_zip(Cursor::new(b"no archive".to_vec())).is_err());
        assert!(h1_directory(Path::new("/nonexistent/package")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_to_files_are_followed_and_others_are_refused() {
        let root = tree();
        std::fs::rename(root.path().join("B"), root.path().join("empty/B")).unwrap();
        std::os::unix::fs::symlink("empty/B", root.path().join("B")).unwrap();
        assert!(h1_directory(root.path()).is_ok());
        // The whole package as a link, as plugin caches have it.
        let cache = tempfile::tempdir().unwrap();
        let plain = tree();
        std::os::unix::fs::symlink(plain.path(), cache.path().join("linked")).unwrap();
        assert_eq!(h1_directory(&cache.path().join("linked")).unwrap(), EXPECTED);
        std::os::unix::fs::symlink("a", root.path().join("to-directory")).unwrap();
        assert!(h1_directory(root.path()).is_err());
    }
}
