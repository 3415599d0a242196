//! What a journal says: intents, outcomes, moves, snapshots, and their JSON. How records lie in a file is `frame`'s
//! business, what they mean for a state is `fold`'s.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use groma_model::address::{AbsInstance, AbsObject, DeposedKey, InstanceKey, ModuleInstance, ProviderInstance};
use groma_model::address::{Resource, ResourceMode};
use groma_model::codec::json::Json;

use super::frame::RunId;
use crate::digest::write_whole_object;
use crate::encryption::EncryptionError;
use crate::fields::{At, Decoded};
use crate::v4::{Writer, decode_object};
use crate::{DecodeError, Digest, EncodeError, Fingerprint, Layout, ObjectState, State};

/// The format that this version writes, and the newest that it reads.
const FORMAT: u64 = 1;

/// What a journal begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The run that writes it.
    pub run: RunId,
    /// The line of states that it belongs to.
    pub lineage: String,
    /// The snapshot that it starts from. None if there was no state.
    pub base: Option<Stamp>,
    /// The name of the lock that the run holds.
    pub lock: String,
    /// Who writes it.
    pub tool: String,
    /// The number of the last record that is not in it any more, or is in the journal that it continues.
    pub after: u64,
    /// Whether it goes on where another journal could not be written any more.
    pub continues: bool,
    /// What finds the key again that everything else is encrypted with. None if it is not.
    pub sealed: Option<BTreeMap<String, Vec<u8>>>,
}

/// One snapshot of a state, by serial and content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its serial.
    pub serial: u64,
    /// Of its content.
    pub digest: Digest,
}

impl Stamp {
    /// Of a state as it is stored.
    pub fn of(state: &State) -> Result<Self, EncodeError> {
        Ok(Self { serial: state.serial, digest: Digest::of_content(state)? })
    }
}

/// Names one change of one object, over all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operation {
    /// The run that began it.
    pub run: RunId,
    /// Its number in that run.
    pub number: u64,
}

impl Operation {
    /// From what [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (run, number) = text.split_once('-')?;
        Some(Self { run: RunId::parse(run)?, number: number.parse().ok()? })
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.run, self.number)
    }
}

/// What is done to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is made.
    Create,
    /// It is changed.
    Update,
    /// It is deleted.
    Delete,
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Action::Create => "create",
            Action::Update => "update",
            Action::Delete => "delete",
        }
    }
}

/// What is about to be asked of a provider: written down before, so that whatever comes of it is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The change.
    pub operation: Operation,
    /// Of which object.
    pub object: AbsObject,
    /// What is done to it.
    pub action: Action,
    /// By whom.
    pub provider: ProviderInstance,
    /// Of what was planned to come out of it.
    pub planned: Option<Digest>,
    /// The object as it was before.
    pub before: Option<Fingerprint>,
    /// What will identify the object, as compact JSON, if that is known already.
    pub identity: Option<String>,
    /// What it could be imported by, if that is known already.
    pub import_id: Option<String>,
    /// When, as RFC 3339 text.
    pub begun: String,
}

/// What came of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The change. One of a provider without outside effects has no intent.
    pub operation: Operation,
    /// Of which object.
    pub object: AbsObject,
    /// The object as it was last stored, in a snapshot or in the journal.
    pub before: Option<Fingerprint>,
    /// What there is now.
    pub after: After,
}

/// What there is of an object after a change.
#[derive(Debug, Clone, PartialEq)]
pub enum After {
    /// This.
    Present {
        /// The provider that it was made with.
        provider: ProviderInstance,
        /// The object.
        object: Box<ObjectState>,
    },
    /// Nothing.
    Absent,
    /// What there was before: the change failed, and nothing came of it.
    Unchanged,
}

/// One entry of a journal.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// A change is about to begin.
    Intent(Box<Intent>),
    /// A change has ended.
    Outcome(Box<Outcome>),
    /// An object has another address now, or was put aside, or came back.
    Moved {
        /// Where it was.
        from: AbsObject,
        /// Where it is.
        to: AbsObject,
        /// Which it is.
        what: Fingerprint,
    },
    /// A snapshot is about to be stored that includes everything up to a record. Whether it was is seen in the state.
    Snapshot {
        /// Which.
        stamp: Stamp,
        /// The number of that record.
        covers: u64,
    },
    /// A snapshot that was announced is stored.
    Stored {
        /// Which.
        stamp: Stamp,
        /// The number of the last record that it includes.
        covers: u64,
    },
    /// The outcome of an earlier run that has no place in the state, because something else is there.
    Unplaced(Box<Outcome>),
    /// What became of an intent or of an object without a place was found out by other means.
    Settled(Operation),
}

/// The kind of the header; those of records follow.
pub(super) const HEADER: u8 = 0;
const INTENT: u8 = 1;
const OUTCOME: u8 = 2;
const MOVED: u8 = 3;
/// The kind of announced snapshots.
pub(super) const SNAPSHOT: u8 = 4;
const UNPLACED: u8 = 5;
const SETTLED: u8 = 6;
/// The kind of snapshots that are stored.
pub(super) const STORED: u8 = 7;

/// Why a record cannot be understood although it is intact.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A later version wrote it.
    #[error("it was written by a newer version of groma: use that one")]
    Newer,
    /// It does not say what it should.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// It is encrypted.
    #[error("it is encrypted and cannot be read without an encryption configuration")]
    Encrypted,
    /// It cannot be decrypted, or should have been encrypted.
    #[error(transparent)]
    Key(EncryptionError),
    /// Somebody has put it there.
    #[error("it was written for another place or another run")]
    Displaced,
}

impl Header {
    pub(super) fn encode(&self) -> Vec<u8> {
        object(|out| {
            out.key("format");
            out.plain(FORMAT);
            texts(out, &[("tool", &self.tool), ("lineage", &self.lineage), ("lock", &self.lock)]);
            if let Some(base) = self.base {
                write_stamp(out, base);
            }
            if self.continues {
                out.key("continues");
                out.plain(true);
            }
            if let Some(sealed) = &self.sealed {
                out.key("sealed");
                out.object(|out| {
                    for (name, meta) in sealed {
                        texts(out, &[(name, &BASE64.encode(meta))]);
                    }
                });
            }
        })
    }

    pub(super) fn decode(run: RunId, after: u64, payload: &[u8]) -> Result<Header, RecordError> {
        let text = text_of(payload)?;
        let json = Json::parse(text).map_err(DecodeError::Syntax)?;
        let at = At { json: &json, place: "header".to_owned() };
        if at.number("format")?.is_none_or(|format| format > FORMAT) {
            return Err(RecordError::Newer);
        }
        let base = at.get("serial").map(|_| read_stamp(&at)).transpose()?;
        Ok(Header {
            run,
            lineage: at.needed("lineage")?.into_owned(),
            base,
            lock: at.text("lock")?.unwrap_or_default().into_owned(),
            tool: at.text("tool")?.unwrap_or_default().into_owned(),
            after,
            continues: at.flag("continues")?,
            sealed: at.get("sealed").map(|sealed| read_sealed(&at, sealed)).transpose()?,
        })
    }
}

impl Record {
    /// The operation that it is about.
    pub fn operation(&self) -> Option<Operation> {
        match self {
            Record::Intent(intent) => Some(intent.operation),
            Record::Outcome(outcome) | Record::Unplaced(outcome) => Some(outcome.operation),
            Record::Settled(operation) => Some(*operation),
            Record::Moved { .. } | Record::Snapshot { .. } | Record::Stored { .. } => None,
        }
    }

    /// Its kind and its JSON.
    pub(super) fn encode(&self) -> (u8, Vec<u8>) {
        match self {
            Record::Intent(intent) => (INTENT, object(|out| write_intent(out, intent))),
            Record::Outcome(outcome) => (OUTCOME, object(|out| write_outcome(out, outcome))),
            Record::Moved { from, to, what } => {
                let ends = object(|out| {
                    out.key("from");
                    write_address(out, from);
                    out.key("to");
                    write_address(out, to);
                    write_fingerprint(out, Some(what));
                });
                (MOVED, ends)
            }
            Record::Snapshot { stamp, covers } => (SNAPSHOT, snapshot(*stamp, *covers)),
            Record::Stored { stamp, covers } => (STORED, snapshot(*stamp, *covers)),
            Record::Unplaced(outcome) => (UNPLACED, object(|out| write_outcome(out, outcome))),
            Record::Settled(operation) => (SETTLED, object(|out| texts(out, &[("operation", &operation.to_string())]))),
        }
    }

    pub(super) fn decode(kind: u8, payload: &[u8]) -> Result<Record, RecordError> {
        let json = Json::parse(text_of(payload)?).map_err(DecodeError::Syntax)?;
        let at = At { json: &json, place: String::new() };
        Ok(match kind {
            INTENT => Record::Intent(Box::new(read_intent(&at)?)),
            OUTCOME => Record::Outcome(Box::new(read_outcome(&at)?)),
            MOVED => Record::Moved {
                from: read_address(&at, "from")?,
                to: read_address(&at, "to")?,
                what: read_fingerprint(&at)?.ok_or_else(|| at.wrong("before", "a digest"))?,
            },
            SNAPSHOT => Record::Snapshot { stamp: read_stamp(&at)?, covers: at.number("covers")?.unwrap_or_default() },
            STORED => Record::Stored { stamp: read_stamp(&at)?, covers: at.number("covers")?.unwrap_or_default() },
            UNPLACED => Record::Unplaced(Box::new(read_outcome(&at)?)),
            SETTLED => Record::Settled(read_operation(&at)?),
            _ => return Err(RecordError::Newer),
        })
    }
}

fn read_sealed(at: &At<'_, '_>, sealed: &Json<'_>) -> Decoded<BTreeMap<String, Vec<u8>>> {
    let wrong = || at.wrong("sealed", "an object of base64");
    let Json::Object(members) = sealed else { return Err(wrong()) };
    let member = |(name, value): &(crate::fields::Text<'_>, Json<'_>)| match value {
        Json::String(text) => Ok((name.to_string(), BASE64.decode(text.as_bytes()).map_err(|_| wrong())?)),
        _ => Err(wrong()),
    };
    members.iter().map(member).collect()
}

fn text_of(payload: &[u8]) -> Result<&str, DecodeError> {
    std::str::from_utf8(payload).map_err(|error| DecodeError::Encoding { at: error.valid_up_to() })
}

fn object(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut out = Writer::new(Layout::Compact);
    out.object(write);
    out.finish().into_bytes()
}

fn texts(out: &mut Writer, members: &[(&str, &str)]) {
    for (name, text) in members {
        out.key(name);
        out.text(text);
    }
}

fn write_stamp(out: &mut Writer, stamp: Stamp) {
    out.key("serial");
    out.plain(stamp.serial);
    texts(out, &[("digest", &stamp.digest.to_string())]);
}

fn snapshot(stamp: Stamp, covers: u64) -> Vec<u8> {
    object(|out| {
        write_stamp(out, stamp);
        out.key("covers");
        out.plain(covers);
    })
}

fn read_stamp(at: &At<'_, '_>) -> Decoded<Stamp> {
    let serial = at.number("serial")?.ok_or_else(|| at.wrong("serial", "a number"))?;
    Ok(Stamp { serial, digest: digest(at, "digest")?.ok_or_else(|| at.wrong("digest", "a digest"))? })
}

fn digest(at: &At<'_, '_>, name: &str) -> Decoded<Option<Digest>> {
    let read = |text: crate::fields::Text<'_>| Digest::parse(&text).ok_or_else(|| at.wrong(name, "a digest"));
    at.text(name)?.map(read).transpose()
}

fn read_operation(at: &At<'_, '_>) -> Decoded<Operation> {
    Operation::parse(&at.needed("operation")?).ok_or_else(|| at.wrong("operation", "the name of an operation"))
}

/// Part by part and not as one text, because names in states may be any text.
fn write_address(out: &mut Writer, object: &AbsObject) {
    let AbsObject { instance, deposed } = object;
    let resource = instance.resource();
    let mode = resource.resource.mode.block_name();
    out.object(|out| {
        if !resource.module.is_root() {
            texts(out, &[("module", &resource.module.to_string())]);
        }
        texts(out, &[("mode", mode), ("type", &resource.resource.ty), ("name", &resource.resource.name)]);
        match instance.key() {
            InstanceKey::None => {}
            InstanceKey::Int(number) => {
                out.key("index_key");
                out.plain(number);
            }
            InstanceKey::String(text) => texts(out, &[("index_key", text)]),
        }
        if let Some(deposed) = deposed {
            texts(out, &[("deposed", deposed.as_str())]);
        }
    });
}

fn read_address(at: &At<'_, '_>, name: &str) -> Decoded<AbsObject> {
    let json = at.get(name).ok_or_else(|| at.wrong(name, "an address"))?;
    let at = At { json, place: at.path_to(name) };
    let module = match at.text("module")? {
        Some(module) => module.parse().map_err(|_| at.wrong("module", "a module address"))?,
        None => ModuleInstance::root(),
    };
    let modes = [ResourceMode::Managed, ResourceMode::Data, ResourceMode::Ephemeral];
    let named = at.needed("mode")?;
    let mode = modes.into_iter().find(|mode| mode.block_name() == named).ok_or_else(|| at.wrong("mode", "a mode"))?;
    let resource = Resource::new(mode, at.needed("type")?.as_ref(), at.needed("name")?.as_ref());
    let key = match at.get("index_key") {
        None => InstanceKey::None,
        Some(Json::String(text)) => InstanceKey::String(text.as_ref().into()),
        Some(Json::Number(text)) => {
            InstanceKey::Int(text.parse().map_err(|_| at.wrong("index_key", "a whole number"))?)
        }
        Some(_) => return Err(at.wrong("index_key", "a string or a number")),
    };
    let deposed = at.text("deposed")?.map(|text| DeposedKey::parse(&text).ok_or_else(|| at.wrong("deposed", "a key")));
    let instance: AbsInstance = resource.absolute(module).instance(key);
    Ok(instance.object(deposed.transpose()?))
}

fn read_provider(at: &At<'_, '_>) -> Decoded<ProviderInstance> {
    at.needed("provider")?.parse().map_err(|_| at.wrong("provider", "the address of a provider instance"))
}

fn write_fingerprint(out: &mut Writer, fingerprint: Option<&Fingerprint>) {
    if let Some(fingerprint) = fingerprint {
        texts(out, &[("before", &fingerprint.digest.to_string())]);
        if let Some(id) = &fingerprint.id {
            texts(out, &[("before_id", id)]);
        }
    }
}

fn read_fingerprint(at: &At<'_, '_>) -> Decoded<Option<Fingerprint>> {
    let Some(digest) = digest(at, "before")? else { return Ok(None) };
    Ok(Some(Fingerprint { digest, id: at.text("before_id")?.map(Into::into) }))
}

fn write_intent(out: &mut Writer, intent: &Intent) {
    texts(out, &[("operation", &intent.operation.to_string()), ("action", intent.action.name())]);
    out.key("object");
    write_address(out, &intent.object);
    texts(out, &[("provider", &intent.provider.to_string())]);
    if let Some(planned) = intent.planned {
        texts(out, &[("planned", &planned.to_string())]);
    }
    write_fingerprint(out, intent.before.as_ref());
    if let Some(identity) = &intent.identity {
        out.key("identity");
        out.raw(identity);
    }
    if let Some(id) = &intent.import_id {
        texts(out, &[("import_id", id)]);
    }
    texts(out, &[("begun", &intent.begun)]);
}

fn read_intent(at: &At<'_, '_>) -> Decoded<Intent> {
    let named = at.needed("action")?;
    let action = [Action::Create, Action::Update, Action::Delete].into_iter().find(|action| action.name() == named);
    Ok(Intent {
        operation: read_operation(at)?,
        object: read_address(at, "object")?,
        action: action.ok_or_else(|| at.wrong("action", "create, update or delete"))?,
        provider: read_provider(at)?,
        planned: digest(at, "planned")?,
        before: read_fingerprint(at)?,
        identity: at.get("identity").map(Json::to_text),
        import_id: at.text("import_id")?.map(Into::into),
        begun: at.text("begun")?.unwrap_or_default().into_owned(),
    })
}

fn write_outcome(out: &mut Writer, outcome: &Outcome) {
    texts(out, &[("operation", &outcome.operation.to_string())]);
    out.key("object");
    write_address(out, &outcome.object);
    write_fingerprint(out, outcome.before.as_ref());
    match &outcome.after {
        After::Unchanged => {}
        After::Absent => texts(out, &[("after", "absent")]),
        After::Present { provider, object } => {
            texts(out, &[("after", "present"), ("provider", &provider.to_string())]);
            out.key("state");
            out.object(|out| write_whole_object(out, object));
        }
    }
}

fn read_outcome(at: &At<'_, '_>) -> Decoded<Outcome> {
    let after = match at.text("after")?.as_deref() {
        None => After::Unchanged,
        Some("absent") => After::Absent,
        Some("present") => {
            let json = at.get("state").ok_or_else(|| at.wrong("state", "an object"))?;
            let object = decode_object(&At { json, place: at.path_to("state") })?;
            After::Present { provider: read_provider(at)?, object: Box::new(object) }
        }
        Some(_) => return Err(at.wrong("after", "present, absent or nothing")),
    };
    Ok(Outcome {
        operation: read_operation(at)?,
        object: read_address(at, "object")?,
        before: read_fingerprint(at)?,
        after,
    })
}
