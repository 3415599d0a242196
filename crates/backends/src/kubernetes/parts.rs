//! The bytes of a state in Secrets: compressed, and in several Secrets where one is too small, as Terraform divides them.
//!
//! A Secret is replaced at once, several are not. So further parts are also kept in Secrets that no other tool looks at. The first
//! part has a note that says which those are, and when it is replaced the state is stored. Only then are they copied to where
//! Terraform looks for them. Terraform does not notice parts that do not belong together: so the second one is taken away before
//! the first is replaced, and in between Terraform finds half a state, which it refuses.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use groma_state::Digest;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams, Preconditions};

use super::names::Names;
use super::trouble::{Doing, Trouble, is_conflict, is_ending, is_missing};

/// How much fits into one Secret, and how Terraform divides.
const PIECE: usize = 1024 * 1024;
/// Where in a Secret a state is.
const KEY: &str = "tfstate";
/// The note about further parts.
const PARTS: &str = "groma.dev/parts";
/// How often to look again while somebody else stores a state.
const TRIES: usize = 5;
/// How long to wait in between.
const PAUSE: Duration = Duration::from_millis(200);

/// What is there.
pub(super) struct Found {
    /// The Secret with the first part, without that.
    pub(super) main: Secret,
    /// The state. None if the Secret has none.
    pub(super) bytes: Option<Vec<u8>>,
    /// Whether there are further parts, or were.
    pub(super) divided: bool,
}

/// Why something was not stored.
pub(super) enum Failed {
    /// Something else is there by now.
    Conflict,
    Trouble(Trouble),
}

/// What was stored.
pub(super) struct Written {
    /// As [`Found::main`].
    pub(super) main: Secret,
    /// How many further parts there are.
    pub(super) further: usize,
    /// Why further parts are not where Terraform looks for them.
    pub(super) trouble: Option<Trouble>,
}

/// The note about further parts: where they are until they are copied, how many, and what they belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Note {
    version: String,
    count: usize,
    first: String,
    whole: String,
}

impl Note {
    fn new(version: &str, pieces: &[&[u8]], whole: &[u8]) -> Self {
        let first = pieces.first().copied().unwrap_or_default();
        Self {
            version: version.to_owned(),
            count: pieces.len().saturating_sub(1),
            first: Digest::of(first).to_string(),
            whole: Digest::of(whole).to_string(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut word = || words.next().map(str::to_owned);
        Some(Self { version: word()?, count: word()?.parse().ok()?, first: word()?, whole: word()? })
    }

    fn text(&self) -> String {
        format!("{} {} {} {}", self.version, self.count, self.first, self.whole)
    }
}

/// The Secrets of one state.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) secrets: Api<Secret>,
    pub(super) names: Names,
}

impl Parts {
    fn doing(&self, verb: &'static str, name: &str) -> Doing {
        Trouble::when(verb, "secrets", &self.names.namespace, name)
    }

    /// One Secret, if it is there.
    pub(super) async fn get(&self, name: &str) -> Result<Option<Secret>, Trouble> {
        self.secrets.get_opt(name).await.map_err(|error| self.doing("get", name).of(error))
    }

    /// What is there. Looks again if it changes meanwhile.
    pub(super) async fn read(&self) -> Result<Option<Found>, Trouble> {
        for _ in 0..TRIES {
            let Some(mut main) = self.get(&self.names.secret).await? else { return Ok(None) };
            let Some(ByteString(first)) = main.data.get_or_insert_default().remove(KEY) else {
                return Ok(Some(Found { main, bytes: None, divided: false }));
            };
            let note = note_of(&main).filter(|note| note.first == Digest::of(&first).to_string());
            // A note of another state means that something of that may be left.
            let divided = note_of(&main).is_some() || first.len() >= PIECE;
            if let Some(bytes) = uncompressed(&self.whole(first, note).await?) {
                return Ok(Some(Found { main, bytes: Some(bytes), divided }));
            }
            tokio::time::sleep(PAUSE).await;
        }
        let doing = self.doing("read", &self.names.secret);
        Err(doing.because("its content is damaged: it cannot be uncompressed, or its parts do not belong together"))
    }

    /// All parts, one behind the other. Whether they belong together shows when they are uncompressed.
    async fn whole(&self, first: Vec<u8>, note: Option<Note>) -> Result<Vec<u8>, Trouble> {
        if let Some(note) = note
            && let Some(whole) = self.noted(&first, &note).await?
        {
            return Ok(whole);
        }
        let mut whole = first;
        // Only a part that is full has others behind it.
        let mut number = 1;
        let mut last = whole.len();
        while last >= PIECE {
            let Some(part) = self.piece(&self.names.part(number)).await? else { break };
            last = part.len();
            number += 1;
            whole.extend(part);
        }
        Ok(whole)
    }

    /// All parts that a note names. None if they do not belong together.
    async fn noted(&self, first: &[u8], note: &Note) -> Result<Option<Vec<u8>>, Trouble> {
        let fits = |whole: &Vec<u8>| Digest::of(whole).to_string() == note.whole;
        let staged = |number| self.names.staged(&note.version, number);
        let copied = |number| self.names.part(number);
        for name in [&staged as &(dyn Fn(usize) -> String + Sync), &copied] {
            let mut whole = first.to_vec();
            for number in 1..=note.count {
                let Some(part) = self.piece(&name(number)).await? else { break };
                whole.extend(part);
            }
            if fits(&whole) {
                return Ok(Some(whole));
            }
        }
        Ok(None)
    }

    async fn piece(&self, name: &str) -> Result<Option<Vec<u8>>, Trouble> {
        let found = self.get(name).await?;
        Ok(found.and_then(|secret| secret.data?.remove(KEY)).map(|ByteString(piece)| piece))
    }

    /// Stores a state in the place of what was found, if that is still there. `version` is random.
    pub(super) async fn write(
        &self,
        before: Option<&Secret>,
        was_divided: bool,
        bytes: &[u8],
        version: &str,
    ) -> Result<Written, Failed> {
        let compressed = compressed(bytes);
        let pieces: Vec<&[u8]> = compressed.chunks(PIECE).collect();
        let divided = was_divided || pieces.len() > 1;
        let mut superfluous = Vec::new();
        let mut noted = None;
        if divided {
            superfluous = self.staged().await.map_err(Failed::Trouble)?;
            if let Some(before) = before.filter(|_| was_divided) {
                noted = Some(self.keep(before, version, &mut superfluous).await?);
            }
            self.stage(version, &pieces).await.map_err(Failed::Trouble)?;
        }
        let note = divided.then(|| Note::new(version, &pieces, &compressed));
        let first = pieces.first().copied().unwrap_or_default();
        let mut main = match self.replace_main(noted.as_ref().or(before), first, note.as_ref()).await {
            Ok(main) => main,
            Err(failed) => {
                let own = (1..pieces.len()).map(|number| self.names.staged(version, number)).collect();
                self.remove(own).await;
                return Err(failed);
            }
        };
        let further = pieces.len().saturating_sub(1);
        let mut trouble = None;
        if divided {
            match self.copy(version, &pieces).await {
                Ok(()) => {
                    self.remove(superfluous).await;
                    if further == 0
                        && let Ok(plain) = self.replace_main(Some(&main), first, None).await
                    {
                        main = plain;
                    }
                }
                Err(found) => trouble = Some(found),
            }
        }
        Ok(Written { main, further, trouble })
    }

    /// Makes sure that the state that is there can be read here although Terraform's second part is gone, and takes that away. The
    /// Secret with the first part, as it is then.
    async fn keep(&self, before: &Secret, version: &str, kept: &mut Vec<String>) -> Result<Secret, Failed> {
        let found = self.get(&self.names.secret).await.map_err(Failed::Trouble)?;
        let same = |main: &Secret| main.metadata.resource_version == before.metadata.resource_version;
        let Some(mut main) = found.filter(same) else { return Err(Failed::Conflict) };
        let first = main.data.get_or_insert_default().remove(KEY).unwrap_or_default().0;
        let note = note_of(&main).filter(|note| note.first == Digest::of(&first).to_string());
        let is_kept =
            |note: &Note| (1..=note.count).all(|number| kept.contains(&self.names.staged(&note.version, number)));
        if !note.as_ref().is_some_and(is_kept) {
            let whole = self.whole(first, note).await.map_err(Failed::Trouble)?;
            let pieces: Vec<&[u8]> = whole.chunks(PIECE).collect();
            let version = format!("{version}-before");
            kept.extend(self.stage(&version, &pieces).await.map_err(Failed::Trouble)?);
            let note = Note::new(&version, &pieces, &whole);
            main = self.replace_main(Some(&main), pieces.first().copied().unwrap_or_default(), Some(&note)).await?;
        }
        self.hide(&self.names.part(1)).await?;
        Ok(main)
    }

    /// Takes a part away, unless somebody else has just changed it.
    async fn hide(&self, name: &str) -> Result<(), Failed> {
        let Some(part) = self.get(name).await.map_err(Failed::Trouble)? else { return Ok(()) };
        let preconditions = Preconditions { resource_version: part.metadata.resource_version, uid: None };
        let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::background() };
        match self.secrets.delete(name, &params).await {
            Err(error) if is_conflict(&error) => Err(Failed::Conflict),
            deleted => {
                super::unless_missing(deleted).map_err(|error| Failed::Trouble(self.doing("delete", name).of(error)))
            }
        }
    }

    /// Puts the first part in its place.
    async fn replace_main(&self, before: Option<&Secret>, piece: &[u8], note: Option<&Note>) -> Result<Secret, Failed> {
        let mut main = before.cloned().unwrap_or_else(|| self.labelled(self.names.secret.clone()));
        main.data.get_or_insert_default().insert(KEY.to_owned(), ByteString(piece.to_vec()));
        let annotations = main.metadata.annotations.get_or_insert_default();
        match note {
            Some(note) => annotations.insert(PARTS.to_owned(), note.text()),
            None => annotations.remove(PARTS),
        };
        self.keep_for_whom(&mut main);
        let (verb, answer) = match before {
            None => ("create", self.secrets.create(&PostParams::default(), &main).await),
            Some(_) => ("update", self.secrets.replace(&self.names.secret, &PostParams::default(), &main).await),
        };
        let mut main = answer.map_err(|error| {
            // What was there is not any more, or is something else.
            if is_conflict(&error) || (before.is_some() && is_missing(&error)) {
                return Failed::Conflict;
            }
            Failed::Trouble(self.doing(verb, &self.names.secret).of(error))
        })?;
        main.data.get_or_insert_default().remove(KEY);
        Ok(main)
    }

    /// The Secret of a state, without one. It may be there by now, or never, if its namespace is being deleted.
    pub(super) async fn make_empty(&self) -> Result<(), Trouble> {
        let mut main = self.labelled(self.names.secret.clone());
        self.keep_for_whom(&mut main);
        match self.secrets.create(&PostParams::default(), &main).await {
            Err(error) if !is_conflict(&error) && !is_ending(&error) => {
                Err(self.doing("create", &self.names.secret).of(error))
            }
            _ => Ok(()),
        }
    }

    /// Keeps the Secret of a state for whoever needs it, unless it is too late for that.
    fn keep_for_whom(&self, main: &mut Secret) {
        if main.metadata.deletion_timestamp.is_some() || !self.names.is_kept() {
            return;
        }
        let held = main.metadata.finalizers.get_or_insert_default();
        for finalizer in self.names.finalizers().unwrap_or_default() {
            if !held.contains(&finalizer) {
                held.push(finalizer);
            }
        }
        main.metadata.labels.get_or_insert_default().extend(self.names.labels.clone());
    }

    /// A new Secret of a state.
    fn labelled(&self, name: String) -> Secret {
        let metadata = ObjectMeta {
            name: Some(name),
            labels: Some(self.names.labels.clone()),
            annotations: Some([("encoding".to_owned(), "gzip".to_owned())].into()),
            ..ObjectMeta::default()
        };
        Secret { metadata, ..Secret::default() }
    }

    /// Puts further parts where no other tool looks.
    async fn stage(&self, version: &str, pieces: &[&[u8]]) -> Result<Vec<String>, Trouble> {
        let mut names = Vec::new();
        for (number, piece) in pieces.iter().enumerate().skip(1) {
            let name = self.names.staged(version, number);
            let metadata = ObjectMeta {
                name: Some(name.clone()),
                labels: Some(self.names.staged_labels()),
                ..ObjectMeta::default()
            };
            let secret = Secret { metadata, data: Some(data(piece)), ..Secret::default() };
            let made = self.secrets.create(&PostParams::default(), &secret).await;
            made.map_err(|error| self.doing("create", &name).of(error))?;
            names.push(name);
        }
        Ok(names)
    }

    /// What was put there, by whomever.
    async fn staged(&self) -> Result<Vec<String>, Trouble> {
        self.list(&self.names.staged_selector()).await
    }

    async fn list(&self, selector: &str) -> Result<Vec<String>, Trouble> {
        let found = self.secrets.list_metadata(&ListParams::default().labels(selector)).await;
        let found = found.map_err(|error| self.doing("list", "").of(error))?;
        Ok(found.into_iter().filter_map(|secret| secret.metadata.name).collect())
    }

    /// Copies further parts to where Terraform looks for them, as long as the state is this one.
    async fn copy(&self, version: &str, pieces: &[&[u8]]) -> Result<(), Trouble> {
        for (number, piece) in pieces.iter().enumerate().skip(1) {
            self.copy_one(version, self.names.part(number), piece).await?;
        }
        for name in self.list(&self.names.selector()).await? {
            if self.names.part_number(&name).is_some_and(|number| number >= pieces.len()) {
                let deleted = self.secrets.delete(&name, &DeleteParams::background()).await;
                super::unless_missing(deleted).map_err(|error| self.doing("delete", &name).of(error))?;
            }
        }
        Ok(())
    }

    async fn copy_one(&self, version: &str, name: String, piece: &[u8]) -> Result<(), Trouble> {
        for _ in 0..TRIES {
            let main = self.get(&self.names.secret).await?;
            if main.as_ref().and_then(note_of).is_none_or(|note| note.version != version) {
                return Err(self.doing("update", &name).because("the state was changed by something else"));
            }
            let found = self.get(&name).await?;
            let there = found.is_some();
            let mut part = found.unwrap_or_else(|| self.labelled(name.clone()));
            part.data = Some(data(piece));
            let (verb, answer) = if there {
                ("update", self.secrets.replace(&name, &PostParams::default(), &part).await)
            } else {
                ("create", self.secrets.create(&PostParams::default(), &part).await)
            };
            match answer {
                Ok(_) => return Ok(()),
                Err(error) if is_conflict(&error) || is_missing(&error) => {}
                Err(error) => return Err(self.doing(verb, &name).of(error)),
            }
        }
        Err(self.doing("update", &name).because("something else keeps changing it"))
    }

    /// Removes what is of no use any more. What stays does no harm.
    async fn remove(&self, names: Vec<String>) {
        for name in names {
            let _ = self.secrets.delete(&name, &DeleteParams::background()).await;
        }
    }
}

fn note_of(main: &Secret) -> Option<Note> {
    Note::parse(main.metadata.annotations.as_ref()?.get(PARTS)?)
}

fn data(piece: &[u8]) -> BTreeMap<String, ByteString> {
    [(KEY.to_owned(), ByteString(piece.to_vec()))].into()
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn uncompressed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    MultiGzDecoder::new(bytes).read_to_end(&mut out).ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_survives_being_written_down() {
        let note = Note::new("abc", &[b"one", b"two"], b"onetwo");
        assert_eq!(note.count, 1);
        assert_eq!(Note::parse(&note.text()), Some(note));
        assert_eq!(Note::parse("abc x"), None);
        assert_eq!(Note::parse(""), None);
    }

    #[test]
    fn what_is_cut_off_is_not_taken_for_a_state() {
        let bytes = compressed(b"{\"version\": 4}");
        assert_eq!(uncompressed(&bytes).unwrap(), b"{\"version\": 4}");
        for end in 1..bytes.len() {
            assert_eq!(uncompressed(&bytes[..end]), None, "{end}");
        }
    }
}
