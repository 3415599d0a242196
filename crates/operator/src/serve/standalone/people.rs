//! What people have written into a directory, looked at again and again. A file is read once it stays as it is, so that nobody reads half of
//! one; what is wrong with it is told, and then it says nothing. An object goes when its file is gone, or does not have it any more,
//! twice in a row.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::read::{Mistake, read};
use crate::objects::files::folder::Stamp;
use crate::objects::files::{Files, Wanted, Wish};
use crate::objects::{Place, StoreError};

/// How large a file may be.
const MOST_BYTES: u64 = 4 << 20;
/// How many files there may be.
const MOST_FILES: usize = 10_000;
/// How deep directories may be in each other.
const MOST_DEPTH: usize = 16;
/// How often in a row something must be gone before it is believed.
const SURE: u32 = 2;

/// A directory that people write into.
pub(super) struct People {
    directory: PathBuf,
    /// Which directory that is, whatever is put in its place.
    identity: (u64, u64),
    /// What is not theirs.
    except: PathBuf,
    files: BTreeMap<String, Known>,
    absent: BTreeMap<Place, u32>,
    /// Whether there ever was a file.
    has_seen: bool,
}

/// What is known about a file.
struct Known {
    stamp: Stamp,
    /// Whether it was read as it is now.
    is_read: bool,
    content: Result<Vec<Wanted>, Vec<Mistake>>,
}

/// What is seen in a directory.
#[derive(Debug, Default)]
struct Sight {
    wanted: BTreeMap<Place, Wanted>,
    mistakes: Vec<Mistake>,
    /// Files that are there, and about which nothing is known.
    silent: BTreeSet<String>,
    /// Directories that could not be looked into.
    blind: Vec<String>,
}

/// What stands in a directory.
#[derive(Default)]
struct Listing {
    files: BTreeMap<String, Stamp>,
    mistakes: Vec<Mistake>,
    blind: Vec<String>,
}

impl People {
    /// Nothing was looked at yet. `except` is no part of it.
    pub(super) fn new(directory: &Path, except: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(directory)?;
        if !metadata.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self {
            directory: directory.to_owned(),
            identity: (metadata.dev(), metadata.ino()),
            except: except.to_owned(),
            files: BTreeMap::new(),
            absent: BTreeMap::new(),
            has_seen: false,
        })
    }

    /// Looks, and has everything as it is written. Gives what is wrong with it.
    pub(super) fn attend(&mut self, store: &Files) -> Vec<Mistake> {
        let origins = store.origins();
        let owners: BTreeMap<&Place, &str> =
            origins.iter().map(|(place, origin)| (place, origin.file.as_str())).collect();
        let mut sight = match self.look(&owners) {
            Ok(sight) => sight,
            // Nothing is known, so nothing is done.
            Err(mistake) => return vec![mistake],
        };
        if !self.has_seen && !origins.is_empty() {
            let message = format!(
                "there is no YAML file in it, though {} objects were made of files of it. Nothing is taken down: if that is what is \
                 wanted, put a YAML file there, even an empty one; if not, put the files back",
                origins.len()
            );
            return vec![self.about_all(message)];
        }
        for wanted in sight.wanted.values() {
            let place = wanted.place();
            let mistake = |message: String| Mistake { file: wanted.file.clone(), line: None, message };
            match store.want(wanted) {
                Ok(Wish::Same | Wish::Written | Wish::Later) => {}
                Ok(Wish::Taken) => sight.mistakes.push(mistake(format!(
                    "{place} is there already, and was not made of a file: give it another name"
                ))),
                Err(problem) => sight.mistakes.push(mistake(format!("{place} could not be taken over: {problem}"))),
            }
        }
        for (place, origin) in &origins {
            let is_told = sight.wanted.contains_key(place);
            let is_unsure = sight.silent.contains(&origin.file)
                || sight.blind.iter().any(|folder| Path::new(&origin.file).starts_with(folder));
            if is_told || is_unsure {
                self.absent.remove(place);
                continue;
            }
            let times = self.absent.entry(place.clone()).or_default();
            *times = times.saturating_add(1);
            if *times >= SURE
                && let Err(problem) = store.let_go(place)
            {
                sight.mistakes.push(not_deleted(place, &origin.file, &problem));
            }
        }
        self.absent.retain(|place, _| origins.contains_key(place));
        sight.mistakes.sort();
        sight.mistakes
    }

    fn about_all(&self, message: String) -> Mistake {
        Mistake { file: self.directory.display().to_string(), line: None, message }
    }

    fn look(&mut self, owners: &BTreeMap<&Place, &str>) -> Result<Sight, Mistake> {
        let Listing { files, mistakes, blind } = self.list()?;
        let mut sight = Sight { mistakes, blind, ..Sight::default() };
        self.has_seen |= !files.is_empty();
        self.files.retain(|name, _| files.contains_key(name));
        for (name, stamp) in files {
            self.see(&name, stamp);
        }
        let mut told: BTreeMap<Place, Vec<&Wanted>> = BTreeMap::new();
        for (name, known) in &self.files {
            match &known.content {
                Ok(wanted) => {
                    for wanted in wanted {
                        told.entry(wanted.place()).or_default().push(wanted);
                    }
                    // It may say something else as soon as it is read again.
                    if !known.is_read {
                        sight.silent.insert(name.clone());
                    }
                }
                Err(mistakes) => {
                    sight.silent.insert(name.clone());
                    sight.mistakes.extend(mistakes.iter().cloned());
                }
            }
        }
        for (place, all) in told {
            let owner = owners.get(&place);
            let first = all.iter().position(|wanted| owner == Some(&wanted.file.as_str())).unwrap_or(0);
            let others = all.iter().enumerate().filter(|(at, _)| *at != first).map(|(_, other)| other);
            for other in others {
                let message = format!("{place} is in {} already: one of them has to go", all[first].file);
                sight.mistakes.push(Mistake { file: other.file.clone(), line: None, message });
            }
            sight.wanted.insert(place, all[first].clone());
        }
        Ok(sight)
    }

    /// A file is there, like this.
    fn see(&mut self, name: &str, stamp: Stamp) {
        match self.files.get_mut(name) {
            Some(known) if known.stamp == stamp => {
                if !known.is_read {
                    known.content = content(&self.directory, name);
                    known.is_read = true;
                }
            }
            Some(known) => {
                known.stamp = stamp;
                known.is_read = false;
            }
            None => {
                let content = Ok(Vec::new());
                self.files.insert(name.to_owned(), Known { stamp, is_read: false, content });
            }
        }
    }

    fn list(&self) -> Result<Listing, Mistake> {
        let metadata = fs::metadata(&self.directory)
            .map_err(|problem| self.about_all(format!("it cannot be looked into: {problem}. Nothing is changed")))?;
        if (metadata.dev(), metadata.ino()) != self.identity {
            let message = "it is not the directory that it was. Nothing is changed until the operator is started anew";
            return Err(self.about_all(message.to_owned()));
        }
        let mut listing = Listing::default();
        self.list_into(Path::new(""), 0, &mut listing);
        if listing.files.len() > MOST_FILES {
            return Err(self.about_all(format!("it has more than {MOST_FILES} files. Nothing is changed")));
        }
        Ok(listing)
    }

    fn list_into(&self, folder: &Path, depth: usize, listing: &mut Listing) {
        let blind = |listing: &mut Listing, path: &Path, message: String| {
            let file = path.display().to_string();
            listing.blind.push(file.clone());
            listing.mistakes.push(Mistake { file, line: None, message });
        };
        if depth > MOST_DEPTH {
            return blind(listing, folder, format!("directories may be {MOST_DEPTH} deep in each other"));
        }
        let entries = fs::read_dir(self.directory.join(folder)).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = match entries {
            Ok(entries) => entries,
            Err(problem) => return blind(listing, folder, format!("it cannot be looked into: {problem}")),
        };
        for entry in entries {
            let name = entry.file_name();
            let Some(shown) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let path = folder.join(shown);
            let whole = self.directory.join(&path);
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                if whole != self.except {
                    self.list_into(&path, depth + 1, listing);
                }
                continue;
            }
            let is_yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
            if !is_yaml || listing.files.len() > MOST_FILES {
                continue;
            }
            let file = path.display().to_string();
            match fs::metadata(&whole) {
                Ok(metadata) if metadata.is_file() => {
                    listing.files.insert(file, Stamp::of(&metadata));
                }
                Ok(metadata) if metadata.is_dir() => {
                    blind(listing, &path, "it leads to another directory, which is not followed".to_owned());
                }
                Ok(_) => blind(listing, &path, "it is no file that could be read".to_owned()),
                // It was removed just now.
                Err(problem) if problem.kind() == io::ErrorKind::NotFound && !entry.path().is_symlink() => {}
                Err(problem) => blind(listing, &path, format!("it cannot be read: {problem}")),
            }
        }
    }
}

fn not_deleted(place: &Place, file: &str, problem: &StoreError) -> Mistake {
    Mistake { file: file.to_owned(), line: None, message: format!("{place} could not be deleted: {problem}") }
}

fn content(directory: &Path, name: &str) -> Result<Vec<Wanted>, Vec<Mistake>> {
    let mistake = |message: String| vec![Mistake { file: name.to_owned(), line: None, message }];
    let path = directory.join(name);
    let size = fs::metadata(&path).map_err(|problem| mistake(format!("it cannot be read: {problem}")))?.len();
    if size > MOST_BYTES {
        return Err(mistake(format!("it has {size} bytes, and may have {MOST_BYTES}")));
    }
    let bytes = fs::read(&path).map_err(|problem| mistake(format!("it cannot be read: {problem}")))?;
    let text = String::from_utf8(bytes).map_err(|_| mistake("it is no text in UTF-8".to_owned()))?;
    read(name, &text)
}

#[cfg(test)]
mod tests;
