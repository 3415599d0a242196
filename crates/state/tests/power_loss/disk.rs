//! A disk that loses power: what was not synced is there in part, or not at all, and names lag behind.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use groma_state::{Disk, DiskFile};

use super::Dice;

/// As much as a disk writes at once.
const SECTOR: usize = 32;

#[derive(Default)]
struct Content {
    /// What is seen.
    bytes: Vec<u8>,
    /// How much of it is there whatever happens.
    durable: usize,
}

/// One change of names, whole or not at all.
type Renaming = Vec<(PathBuf, Option<usize>)>;

#[derive(Default)]
struct Inner {
    contents: Vec<Content>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    /// What happened to names since they were last synced, by folder.
    renamings: BTreeMap<PathBuf, Vec<Renaming>>,
    /// How many steps are left until the power goes.
    left: Option<u64>,
    /// How often the power went; who opened a file before cannot write to it.
    losses: u64,
    steps: u64,
    full: Option<PathBuf>,
    syncs_fail: bool,
    /// The step that fails, once.
    failing: Option<u64>,
}

/// The disk.
#[derive(Clone, Default)]
pub(crate) struct Simulated(Arc<Mutex<Inner>>);

struct Open {
    disk: Simulated,
    path: PathBuf,
    content: usize,
    losses: u64,
}

fn power() -> io::Error {
    io::Error::other("the power is gone")
}

fn folder(path: &Path) -> PathBuf {
    path.parent().unwrap().to_owned()
}

impl Inner {
    fn step(&mut self) -> io::Result<()> {
        self.steps += 1;
        if self.failing == Some(self.steps) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        match &mut self.left {
            None => Ok(()),
            Some(0) => Err(power()),
            Some(left) => {
                *left -= 1;
                if *left == 0 { Err(power()) } else { Ok(()) }
            }
        }
    }

    fn rename(&mut self, folder: PathBuf, renaming: Renaming) {
        apply(&mut self.names, &renaming);
        self.renamings.entry(folder).or_default().push(renaming);
    }
}

fn apply(names: &mut BTreeMap<PathBuf, usize>, renaming: &Renaming) {
    for (path, content) in renaming {
        match content {
            Some(content) => names.insert(path.clone(), *content),
            None => names.remove(path),
        };
    }
}

impl Simulated {
    /// The power goes after that many steps.
    pub(crate) fn lose_power_after(&self, steps: Option<u64>) {
        self.0.lock().unwrap().left = steps;
    }

    /// One step fails, and the disk goes on.
    pub(crate) fn fail_at(&self, step: u64) {
        self.0.lock().unwrap().failing = Some(step);
    }

    /// Nothing more can be added to files of that folder.
    pub(crate) fn fill(&self, folder: Option<&Path>) {
        self.0.lock().unwrap().full = folder.map(Path::to_owned);
    }

    /// The next sync of a file fails, and what it should have made durable never will be.
    pub(crate) fn fail_a_sync(&self) {
        self.0.lock().unwrap().syncs_fail = true;
    }

    /// How much was asked of it.
    pub(crate) fn steps(&self) -> u64 {
        self.0.lock().unwrap().steps
    }

    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) {
        groma_state::replace_whole(self, path, bytes).unwrap();
    }

    /// The power is back.
    pub(crate) fn restart(&self, dice: &mut Dice) {
        let mut inner = self.0.lock().unwrap();
        inner.left = None;
        inner.full = None;
        inner.syncs_fail = false;
        inner.losses += 1;
        let mut names = std::mem::take(&mut inner.durable_names);
        for renamings in std::mem::take(&mut inner.renamings).into_values() {
            let kept = dice.below(renamings.len() + 1);
            renamings.iter().take(kept).for_each(|renaming| apply(&mut names, renaming));
        }
        inner.names.clone_from(&names);
        inner.durable_names = names;
        for content in &mut inner.contents {
            let tail = content.bytes.split_off(content.durable);
            content.bytes.extend(torn(tail, dice));
            content.durable = content.bytes.len();
        }
    }
}

/// What is left of bytes that were not synced.
fn torn(mut tail: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    match dice.below(4) {
        0 => tail.clear(),
        1 => tail.truncate(dice.below(tail.len() + 1)),
        // The file has its length, but not all of its content.
        2 => {
            let length = dice.below(tail.len() + 1);
            tail.truncate(length);
            for sector in tail.chunks_mut(SECTOR) {
                if dice.one_in(2) {
                    sector.fill(if dice.one_in(4) { 0xa5 } else { 0 });
                }
            }
        }
        _ => {}
    }
    tail
}

impl Disk for Simulated {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let inner = self.0.lock().unwrap();
        Ok(inner.names.get(path).map(|content| inner.contents[*content].bytes.clone()))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut inner = self.0.lock().unwrap();
        inner.step()?;
        if inner.full.as_deref() == path.parent() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        inner.contents.push(Content::default());
        let content = inner.contents.len() - 1;
        inner.rename(folder(path), vec![(path.to_owned(), Some(content))]);
        Ok(Box::new(Open { disk: self.clone(), path: path.to_owned(), content, losses: inner.losses }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut inner = self.0.lock().unwrap();
        inner.step()?;
        let content = *inner.names.get(from).ok_or(io::ErrorKind::NotFound)?;
        inner.rename(folder(to), vec![(from.to_owned(), None), (to.to_owned(), Some(content))]);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut inner = self.0.lock().unwrap();
        inner.step()?;
        if inner.names.contains_key(path) {
            inner.rename(folder(path), vec![(path.to_owned(), None)]);
        }
        Ok(())
    }

    fn sync_names(&self, path: &Path) -> io::Result<()> {
        let mut inner = self.0.lock().unwrap();
        inner.step()?;
        for renaming in inner.renamings.remove(&folder(path)).unwrap_or_default() {
            apply(&mut inner.durable_names, &renaming);
        }
        Ok(())
    }
}

impl DiskFile for Open {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.disk.0.lock().unwrap();
        if inner.losses != self.losses {
            return Err(power());
        }
        let content = self.content;
        if inner.full.as_deref() == self.path.parent() {
            inner.contents[content].bytes.extend(&bytes[..bytes.len() / 2]);
            return Err(io::ErrorKind::StorageFull.into());
        }
        let went = inner.step();
        let written = if went.is_ok() { bytes.len() } else { bytes.len() / 2 };
        inner.contents[content].bytes.extend(&bytes[..written]);
        went
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut inner = self.disk.0.lock().unwrap();
        if inner.losses != self.losses {
            return Err(power());
        }
        inner.step()?;
        if std::mem::take(&mut inner.syncs_fail) {
            return Err(io::Error::other("input/output error"));
        }
        let content = &mut inner.contents[self.content];
        content.durable = content.bytes.len();
        Ok(())
    }
}
