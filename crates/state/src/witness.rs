//! A witness: which snapshot of a state was stored last, written down beside the state and not in it, so that a state that is
//! gone, older or another one is not taken for the one that it should be.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_model::address::ResourceMode;
use groma_model::codec::json::Json;
use groma_model::diag::Diagnostic;

use crate::disk::{Disk, remove_durably, replace_whole};
use crate::fields::At;
use crate::local::replace::resolve;
use crate::v4::Writer;
use crate::{Digest, Layout, State};

/// How the witness of a state file is called.
const SUFFIX: &str = ".groma-witness";
const FORMAT: u64 = 1;

/// Which snapshot was stored last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The line of states.
    pub lineage: String,
    /// Where on it.
    pub serial: u64,
    /// Of its content.
    pub digest: Digest,
    /// How many objects somebody has to destroy one day.
    pub objects: u64,
}

/// What there is to be learnt from a witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Testimony {
    /// There is none.
    None,
    /// There is one, but it cannot be read.
    Damaged,
    /// This.
    Known(Witness),
}

/// Why a state is not the one that it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WitnessError {
    /// It is gone.
    #[error("there is no state, but one with serial {serial} and {objects} objects was stored before")]
    Missing {
        /// Of what was there.
        serial: u64,
        /// How many there were.
        objects: u64,
    },
    /// It is gone, and nothing is known of it.
    #[error("there is no state, but something was stored before")]
    MissingAndUnknown,
    /// It is another one.
    #[error("the state has lineage {found:?}, but the one that was stored before has lineage {expected:?}")]
    Foreign {
        /// Of what is there.
        found: String,
        /// Of what was there.
        expected: String,
    },
    /// It is an old one.
    #[error("the state has serial {found}, but one with serial {expected} was stored before")]
    Older {
        /// Of what is there.
        found: u64,
        /// Of what was there.
        expected: u64,
    },
    /// The same serial names two contents.
    #[error("the state has serial {0}, as the one that was stored before, but says something else")]
    Forked(u64),
    /// It has no text to compare.
    #[error("the state cannot be compared with what was stored before: {0}")]
    Encode(String),
}

impl WitnessError {
    /// For people.
    pub fn diagnostic(&self, state: &str, witness: &str) -> Diagnostic {
        let detail = format!("{state}: {self}. Nothing was changed.");
        let mut diagnostic = Diagnostic::error("State is not the one that was stored last", detail);
        diagnostic.hints.push(format!(
            "If it was lost or replaced by mistake, put the right one back: {state}.backup has the one from before the last \
             run. If it is meant to be as it is, remove {witness}, and it is gone on from."
        ));
        diagnostic
    }
}

impl Witness {
    /// Of a state that was stored, and the digest of its content.
    pub fn of(state: &State, digest: Digest) -> Self {
        let managed = state.resources.iter().filter(|(address, _)| address.resource.mode == ResourceMode::Managed);
        let instances = managed.flat_map(|(_, resource)| resource.instances.values());
        let objects = instances.map(|instance| instance.deposed.len() + usize::from(instance.current.is_some()));
        let objects = objects.sum::<usize>() as u64;
        Self { lineage: state.lineage.clone(), serial: state.serial, digest, objects }
    }

    /// As text, with a check of its own.
    pub fn encode(&self) -> String {
        let mut out = Writer::new(Layout::Compact);
        out.object(|out| {
            self.write_members(out);
            out.key("check");
            out.text(&self.check_text());
        });
        out.finish()
    }

    fn write_members(&self, out: &mut Writer) {
        out.key("witness");
        out.plain(FORMAT);
        out.key("lineage");
        out.text(&self.lineage);
        out.key("serial");
        out.plain(self.serial);
        out.key("digest");
        out.text(&self.digest.to_string());
        out.key("objects");
        out.plain(self.objects);
    }

    fn check_text(&self) -> String {
        let mut out = Writer::new(Layout::Compact);
        out.object(|out| self.write_members(out));
        Digest::of(out.finish().as_bytes()).to_string()
    }

    /// From text. None if it is damaged, or of a version to come.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let json = Json::parse(std::str::from_utf8(bytes).ok()?).ok()?;
        let at = At { json: &json, place: String::new() };
        let witness = Witness {
            lineage: at.needed("lineage").ok()?.into_owned(),
            serial: at.number("serial").ok()??,
            digest: Digest::parse(&at.needed("digest").ok()?)?,
            objects: at.number("objects").ok()??,
        };
        let known = at.number("witness").ok()? == Some(FORMAT);
        (known && at.needed("check").ok()? == witness.check_text()).then_some(witness)
    }
}

impl Testimony {
    /// Whether a state can be the one that was stored last, or a later one.
    pub fn check(&self, found: Option<&State>) -> Result<(), WitnessError> {
        // A file that was made only to be locked is no state yet.
        let found = found.filter(|state| state.serial > 0 || !state.is_empty());
        match (self, found) {
            (Testimony::None, _) | (Testimony::Damaged, Some(_)) => Ok(()),
            (Testimony::Damaged, None) => Err(WitnessError::MissingAndUnknown),
            (Testimony::Known(witness), found) => witness.check(found),
        }
    }
}

impl Witness {
    fn check(&self, found: Option<&State>) -> Result<(), WitnessError> {
        let Some(state) = found else {
            // Nothing was in it, so nothing is lost.
            return match self.objects {
                0 => Ok(()),
                objects => Err(WitnessError::Missing { serial: self.serial, objects }),
            };
        };
        if !self.lineage.is_empty() && state.lineage != self.lineage {
            return match self.objects {
                0 => Ok(()),
                _ => Err(WitnessError::Foreign { found: state.lineage.clone(), expected: self.lineage.clone() }),
            };
        }
        if state.serial < self.serial {
            return Err(WitnessError::Older { found: state.serial, expected: self.serial });
        }
        if state.serial == self.serial {
            let digest = Digest::of_content(state).map_err(|error| WitnessError::Encode(error.to_string()))?;
            if digest != self.digest {
                return Err(WitnessError::Forked(self.serial));
            }
        }
        Ok(())
    }
}

/// Where a witness is kept.
pub struct WitnessFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
}

impl WitnessFile {
    /// In this file.
    pub fn new(disk: Arc<dyn Disk>, path: PathBuf) -> Self {
        Self { disk, path }
    }

    /// The name of the witness of a state file: beside it, and with its name first, so that whoever removes everything of a
    /// state removes this too.
    pub fn beside(state: &Path) -> io::Result<PathBuf> {
        let mut name = resolve(state)?.into_os_string();
        name.push(SUFFIX);
        Ok(name.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says.
    pub fn read(&self) -> io::Result<Testimony> {
        Ok(match self.disk.read(&self.path)? {
            None => Testimony::None,
            Some(bytes) => Witness::decode(&bytes).map_or(Testimony::Damaged, Testimony::Known),
        })
    }

    /// Writes down that a snapshot is stored. To be called when it is, and not before.
    pub fn write(&self, witness: &Witness) -> io::Result<()> {
        replace_whole(&*self.disk, &self.path, witness.encode().as_bytes()).map(|_| ())
    }

    /// Forgets everything.
    pub fn remove(&self) -> io::Result<()> {
        remove_durably(&*self.disk, &self.path)
    }
}
