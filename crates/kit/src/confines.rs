//! Where files may be read and written when a configuration is somebody else's: below its own directories, and in directories that
//! several share, where everybody has what they have written themselves and nothing else.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};

/// Where files may be read and written.
#[derive(Debug, Clone)]
pub struct Confines {
    own: Vec<PathBuf>,
    shared: Vec<PathBuf>,
    /// Who has what in the shared directories. None if all of it belongs to the same.
    ledger: Option<Ledger>,
    /// Where nothing is to be had, even if it is in a shared directory.
    never: Vec<PathBuf>,
    advice: String,
}

/// Says who has written a file in a directory that several share.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// Where it is written down. Nobody else gets there.
    pub directory: PathBuf,
    /// Who asks.
    pub owner: String,
}

/// A file that may be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writable {
    /// Where it is, without links on the way.
    pub path: PathBuf,
    /// Whether it must not be there yet.
    pub is_new: bool,
}

impl Confines {
    /// Everything below these directories, and nothing else. The advice is for those who are refused.
    pub fn new(own: &[PathBuf], advice: impl Into<String>) -> Self {
        Self { own: real(own), shared: Vec::new(), ledger: None, never: Vec::new(), advice: advice.into() }
    }

    /// Files below these directories, too: those that the same owner has written, if there is a ledger. Nothing below `never`.
    pub fn sharing(mut self, shared: &[PathBuf], ledger: Option<Ledger>, never: &[PathBuf]) -> Self {
        let ledgers = ledger.iter().map(|ledger| ledger.directory.clone());
        self.never = real(&never.iter().cloned().chain(ledgers).collect::<Vec<_>>());
        self.shared = real(shared);
        self.ledger = ledger;
        self
    }

    /// The same without directories in which others have files, too.
    pub fn undivided(&self) -> Self {
        match &self.ledger {
            None => self.clone(),
            Some(_) => Self { shared: Vec::new(), ledger: None, ..self.clone() },
        }
    }

    /// Where a file or a directory really is, if it may be read.
    pub fn read(&self, path: &Path) -> io::Result<PathBuf> {
        // What is not there is told only of places that may be looked at.
        let place = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(problem) => {
                self.to_be(path)?;
                return Err(problem);
            }
        };
        let allowed = match self.standing(&place) {
            Standing::Own => true,
            Standing::Shared => place.is_dir() || self.is_claimed(&place),
            Standing::Outside => false,
        };
        if allowed { Ok(place) } else { Err(self.refused(path)) }
    }

    /// Where a file really is, if it may be written. It belongs to who asks from now on.
    pub fn write(&self, path: &Path) -> io::Result<Writable> {
        let place = self.to_be(path)?;
        let is_there = place.symlink_metadata().is_ok();
        if self.standing(&place) == Standing::Own {
            return Ok(Writable { path: place, is_new: false });
        }
        let Some(ledger) = &self.ledger else { return Ok(Writable { path: place, is_new: false }) };
        match ledger.owner_of(&place)? {
            Some(owner) if owner == ledger.owner => Ok(Writable { path: place, is_new: false }),
            None if !is_there => {
                ledger.claim(&place)?;
                Ok(Writable { path: place, is_new: true })
            }
            _ => Err(self.refused(path)),
        }
    }

    /// A file that was written is gone, or was never made.
    pub fn let_go(&self, place: &Path) {
        if let Some(ledger) = self.ledger.as_ref().filter(|ledger| ledger.owns(place)) {
            // Who comes next claims it again, which is no harm.
            let _ = fs::remove_file(ledger.page(place));
        }
    }

    /// Where something is or would be, if that is a place that may be looked at.
    fn to_be(&self, path: &Path) -> io::Result<PathBuf> {
        let place = landing(path).ok_or_else(|| self.refused(path))?;
        if self.standing(&place) == Standing::Outside { Err(self.refused(path)) } else { Ok(place) }
    }

    fn is_claimed(&self, place: &Path) -> bool {
        self.ledger.as_ref().is_none_or(|ledger| ledger.owns(place))
    }

    fn standing(&self, place: &Path) -> Standing {
        let below = |directories: &[PathBuf]| directories.iter().any(|directory| place.starts_with(directory));
        if below(&self.own) {
            Standing::Own
        } else if below(&self.shared) && !below(&self.never) {
            Standing::Shared
        } else {
            Standing::Outside
        }
    }

    fn refused(&self, path: &Path) -> io::Error {
        let problem = format!(
            "{} is outside of the directories that this configuration may use. {}",
            path.display(),
            self.advice
        );
        io::Error::new(ErrorKind::PermissionDenied, problem)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Own,
    Shared,
    Outside,
}

impl Ledger {
    /// Where it is written down who has a file. No path of a file is part of it, so that no two are in each other's way.
    fn page(&self, place: &Path) -> PathBuf {
        use sha2::Digest as _;
        let digest = sha2::Sha256::digest(place.as_os_str().as_encoded_bytes());
        let name = digest.iter().fold(String::new(), |mut name, byte| {
            let _ = write!(name, "{byte:02x}");
            name
        });
        self.directory.join(name)
    }

    fn owner_of(&self, place: &Path) -> io::Result<Option<String>> {
        match fs::read_to_string(self.page(place)) {
            Ok(owner) => Ok(Some(owner)),
            Err(problem) if problem.kind() == ErrorKind::NotFound => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    fn owns(&self, place: &Path) -> bool {
        self.owner_of(place).is_ok_and(|owner| owner.as_deref() == Some(&*self.owner))
    }

    /// Only one of several who try at once succeeds.
    fn claim(&self, place: &Path) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let mut page = fs::OpenOptions::new().write(true).create_new(true).open(self.page(place))?;
        page.write_all(self.owner.as_bytes())
    }
}

/// Those that are there, as the system knows them.
fn real(directories: &[PathBuf]) -> Vec<PathBuf> {
    directories.iter().map(|dir| fs::canonicalize(dir).unwrap_or_else(|_| dir.clone())).collect()
}

/// Where a path leads that need not be there: as much of it as there is, without links, and the rest. None if that cannot be told:
/// with `..` after something that is not there, or with a link that leads nowhere.
fn landing(path: &Path) -> Option<PathBuf> {
    let mut rest: Vec<Component<'_>> = Vec::new();
    let mut known = path;
    loop {
        if let Ok(real) = fs::canonicalize(known) {
            return Some(rest.iter().rev().fold(real, |place, part| place.join(part)));
        }
        // A link that leads nowhere would be followed by who writes there.
        if known.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            return None;
        }
        let last = known.components().next_back()?;
        if !matches!(last, Component::Normal(_)) {
            return None;
        }
        rest.push(last);
        known = known.parent()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confines(root: &Path, owner: &str) -> Confines {
        let own = root.join(owner);
        for directory in [&own, &root.join("shared"), &root.join("shared/runs")] {
            fs::create_dir_all(directory).unwrap();
        }
        let ledger = Ledger { directory: root.join("ledger"), owner: owner.to_owned() };
        Confines::new(&[own], "Ask ana.").sharing(&[root.join("shared")], Some(ledger), &[root.join("shared/runs")])
    }

    fn write(confines: &Confines, path: &Path) -> io::Result<()> {
        let place = confines.write(path)?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).create_new(place.is_new).open(&place.path).map(drop)
    }

    #[test]
    fn own_files_are_read_and_written() {
        let root = tempfile::tempdir().unwrap();
        let confines = confines(root.path(), "a");
        let path = root.path().join("a/x");
        assert_eq!(confines.read(&path).unwrap_err().kind(), ErrorKind::NotFound);
        write(&confines, &path).unwrap();
        write(&confines, &path).unwrap();
        assert!(confines.read(&path).is_ok());
        assert!(confines.write(&root.path().join("a/new/deep/x")).is_ok());
    }

    #[test]
    fn what_is_elsewhere_is_refused_by_whatever_way() {
        let root = tempfile::tempdir().unwrap();
        let confines = confines(root.path(), "a");
        let own = root.path().join("a");
        fs::write(root.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink(root.path().join("secret"), own.join("link")).unwrap();
        std::os::unix::fs::symlink(root.path(), own.join("up")).unwrap();
        std::os::unix::fs::symlink(root.path().join("not-there"), own.join("nowhere")).unwrap();
        for path in ["../secret", "link", "up/secret", "./x/../../secret", "/etc/passwd", "/proc/self/environ"] {
            let said = confines.read(&own.join(path)).unwrap_err();
            assert_eq!(said.kind(), ErrorKind::PermissionDenied, "{path}: {said}");
            assert!(said.to_string().contains(path) && said.to_string().ends_with("Ask ana."), "{said}");
        }
        for path in ["../secret", "../other", "link", "up/other", "nowhere", "new/../../other", "/etc/other"] {
            let said = confines.write(&own.join(path)).unwrap_err();
            assert_eq!(said.kind(), ErrorKind::PermissionDenied, "{path}: {said}");
        }
        // Whether something is there is not told either.
        let said = confines.read(&own.join("../other")).unwrap_err();
        assert_eq!(said.kind(), ErrorKind::PermissionDenied, "{said}");
    }

    #[test]
    fn in_shared_directories_everybody_has_their_own_files() {
        let root = tempfile::tempdir().unwrap();
        let (ana, ben) = (confines(root.path(), "a"), confines(root.path(), "b"));
        let path = root.path().join("shared/x");
        write(&ana, &path).unwrap();
        write(&ana, &path).unwrap();
        assert!(ana.read(&path).is_ok());
        assert_eq!(ben.read(&path).unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!(write(&ben, &path).unwrap_err().kind(), ErrorKind::PermissionDenied);
        ben.let_go(&path);
        assert!(ana.read(&path).is_ok(), "nobody lets go of what others have");
        fs::remove_file(&path).unwrap();
        ana.let_go(&path);
        write(&ben, &path).unwrap();
        assert!(ana.read(&path).is_err());
        // What somebody else has put there is nobody's.
        fs::write(root.path().join("shared/config"), "s").unwrap();
        assert!(ana.read(&root.path().join("shared/config")).is_err());
        assert!(ana.write(&root.path().join("shared/config")).is_err());
        assert!(ana.write(&root.path().join("shared/runs/x")).is_err());
        assert!(ana.undivided().write(&root.path().join("shared/y")).is_err());
    }

    #[test]
    fn without_a_ledger_all_of_a_shared_directory_is_ours() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("x"), "s").unwrap();
        let confines = Confines::new(&[], "").sharing(&[root.path().to_owned()], None, &[]);
        assert!(confines.read(&root.path().join("x")).is_ok() && confines.write(&root.path().join("x")).is_ok());
    }
}
