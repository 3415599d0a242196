//! The hash of a program, or of another file of a package. Programs have a hundred megabytes, so the hash is kept beside what
//! the file system says about the file, and computed again when any of that has changed.
//!
//! That is safe as far as the file system tells of every change: the time of the last change of the inode cannot be set
//! back by any program. A file that changed a moment before it was hashed might change again within the same tick, so its
//! hash is not kept.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Younger files are hashed each time, in nanoseconds. Coarse file systems count in two seconds.
const SETTLED: i128 = 3_000_000_000;

/// The hash of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fingerprint([u8; 32]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl Fingerprint {
    /// Of a file, with what is kept in `dir`.
    pub(crate) fn of(file: &Path, dir: &Path) -> io::Result<Self> {
        let path = file.canonicalize()?;
        let memo = memo_path(&path, dir);
        let metadata = fs::metadata(&path)?;
        if !metadata.is_file() {
            // Opening a pipe would wait for somebody to write to it.
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
        }
        if let Some(known) = remembered(&memo, &seen(&metadata)) {
            return Ok(known);
        }
        let mut file = File::open(&path)?;
        let before = seen(&file.metadata()?);
        let hash = hash(&mut file)?;
        // It must not have changed under our eyes.
        if seen(&file.metadata()?) == before {
            remember(&memo, &before, &hash);
        }
        Ok(hash)
    }

    /// SHA-256 of all its bytes.
    #[cfg(feature = "install")]
    pub(crate) fn digest(self) -> [u8; 32] {
        self.0
    }
}

fn hash(file: &mut File) -> io::Result<Fingerprint> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Fingerprint(hash.finalize().into())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// What the file system says about a file.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    text: String,
    changed: i128,
}

fn seen(metadata: &Metadata) -> Seen {
    let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let modified = nanos(metadata.mtime(), metadata.mtime_nsec());
    let changed = nanos(metadata.ctime(), metadata.ctime_nsec());
    let text = format!("{} {} {} {modified} {changed}", metadata.dev(), metadata.ino(), metadata.size());
    Seen { text, changed: changed.max(modified) }
}

fn memo_path(program: &Path, dir: &Path) -> PathBuf {
    let name = Sha256::digest(program.as_os_str().as_encoded_bytes());
    dir.join(format!("{}.hash", hex::encode(name)))
}

/// `SEEN HASH\n`
fn remembered(memo: &Path, seen: &Seen) -> Option<Fingerprint> {
    let text = fs::read_to_string(memo).ok()?;
    let hash = text.strip_prefix(&seen.text)?.strip_prefix(' ')?.strip_suffix('\n')?;
    let mut bytes = [0; 32];
    hex::decode_to_slice(hash, &mut bytes).ok()?;
    Some(Fingerprint(bytes))
}

fn remember(memo: &Path, seen: &Seen, hash: &Fingerprint) {
    let text = format!("{} {hash}\n", seen.text);
    // What fails here costs time only.
    let _ = write_settled(memo, seen, &text);
}

fn write_settled(memo: &Path, then: &Seen, text: &str) -> io::Result<()> {
    use io::Write as _;

    let dir = memo.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(text.as_bytes())?;
    // The time of a file just written is the present, by the clock that counts here.
    let now = seen(&file.as_file().metadata()?).changed;
    if now - then.changed < SETTLED {
        return Ok(());
    }
    file.persist(memo).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    fn aged(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
    }

    #[test]
    fn it_is_the_hash_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        fs::write(&program, "abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let cache = dir.path().join("cache");
        assert_eq!(Fingerprint::of(&program, &cache).unwrap().to_string(), expected);
        assert!(Fingerprint::of(&dir.path().join("absent"), &cache).is_err());
    }

    #[test]
    fn a_changed_file_is_hashed_again_though_its_time_was_set_back() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        aged(&program, "abc");
        let program = program.canonicalize().unwrap();
        let first = Fingerprint::of(&program, dir.path()).unwrap();
        let then = seen(&fs::metadata(&program).unwrap());
        fs::write(memo_path(&program, dir.path()), format!("{} {first}\n", then.text)).unwrap();
        assert_eq!(Fingerprint::of(&program, dir.path()).unwrap(), first);
        // The same size, inode and time of modification: only the inode's own time tells.
        aged(&program, "abd");
        assert_ne!(Fingerprint::of(&program, dir.path()).unwrap(), first);
    }

    #[test]
    fn what_is_remembered_is_used_for_the_same_file_only() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        fs::write(&program, "abc").unwrap();
        let program = program.canonicalize().unwrap();
        let memo = memo_path(&program, dir.path());
        let now = seen(&fs::metadata(&program).unwrap());
        let made_up = Fingerprint([7; 32]);
        fs::write(&memo, format!("{} {made_up}\n", now.text)).unwrap();
        assert_eq!(Fingerprint::of(&program, dir.path()).unwrap(), made_up);
        fs::write(&memo, format!("{} {made_up}\n", now.text.replace(' ', "  "))).unwrap();
        assert_ne!(Fingerprint::of(&program, dir.path()).unwrap(), made_up);
        fs::write(&memo, "nonsense").unwrap();
        assert_ne!(Fingerprint::of(&program, dir.path()).unwrap(), made_up);
    }

    #[test]
    fn the_hash_of_a_file_that_has_just_changed_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        fs::write(&program, "abc").unwrap();
        Fingerprint::of(&program, dir.path()).unwrap();
        assert!(!memo_path(&program.canonicalize().unwrap(), dir.path()).exists());
    }
}
