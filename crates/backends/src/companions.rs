//! Journals in companion objects: small objects beside a state, one for each time that something is made durable. What an object
//! is, and how one is created only if there is none, each backend says for itself ([`Companions`]).
//!
//! Objects are named by chain and number. A chain is what one run has begun: it ends where its number is taken by somebody else,
//! who creates an empty object there. So a holder that was paused cannot add to its journal once another has taken over; it goes on
//! in a file of its own machine ([`spool`]).

mod chain;
mod spool;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use groma_state::journal::{JournalFile, JournalHome, JournalPart, header_of};

use chain::{Chain, Chains};
use spool::{Left, Spool};

/// An object that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Companion {
    /// Its name: letters, digits and dashes.
    pub(crate) name: String,
    /// How many bytes it has.
    pub(crate) size: u64,
}

/// Named objects beside one state.
pub(crate) trait Companions: Send + Sync {
    /// What people know them by, all together.
    fn place(&self) -> String;

    /// All that are there, in any order.
    fn list(&self) -> io::Result<Vec<Companion>>;

    /// What is in them, in the same order. None for those that are not there.
    fn read(&self, names: &[String]) -> io::Result<Vec<Option<Vec<u8>>>>;

    /// Creates one, durably. False if there is one of that name, whoever has made it.
    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<bool>;

    /// Removes those that are there, in any order.
    fn remove(&self, names: &[String]) -> io::Result<()>;
}

/// Nothing can be created there any more, by anybody.
pub(crate) fn closed(error: &io::Error) -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, error.to_string())
}

fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ReadOnlyFilesystem
}

/// How often to look again while somebody else adds objects.
const TRIES: usize = 20;
/// How many ends of chains are kept for those who may still wake up.
const KEPT_ENDS: usize = 16;

/// The journal of one state, in companion objects.
pub(crate) struct CompanionHome {
    companions: Arc<dyn Companions>,
    /// Whether this process holds the lock of the state.
    locked: Arc<dyn Fn() -> bool + Send + Sync>,
    spool: Spool,
    /// Where the chains end that were read, and whether the lock was held then.
    seen: Option<(Chains, bool)>,
    /// What this machine had of an earlier run, and is folded with what was read.
    left: Option<Left>,
    own: Option<Own>,
}

/// What this run has begun.
struct Own {
    chain: Chain,
    /// Everything that is safe, so that a file that has to go on without the objects is whole.
    written: Arc<Mutex<Vec<u8>>>,
    /// Where it goes on, if it has to.
    spooled: Option<PathBuf>,
    /// Whether nothing may be added to the chain, because a later one may be there.
    closed: Arc<AtomicBool>,
}

impl CompanionHome {
    /// Over objects, with a folder for what cannot be put there. `locked` says whether this process holds the lock of the state:
    /// who does not may read, but does not take over by that.
    pub(crate) fn new(
        companions: Arc<dyn Companions>,
        spool: PathBuf,
        locked: Arc<dyn Fn() -> bool + Send + Sync>,
    ) -> Self {
        let spool = Spool::new(spool, &companions.place());
        Self { companions, locked, spool, seen: None, left: None, own: None }
    }

    fn list(&self) -> io::Result<Chains> {
        Ok(Chains::of(self.companions.list()?))
    }

    /// What is there, with an end to every chain if the lock is held.
    fn take_over(&self, locked: bool) -> io::Result<Chains> {
        for _ in 0..TRIES {
            let found = self.list()?;
            if !locked || found.open().next().is_none() {
                return Ok(found);
            }
            let open: Vec<String> = found.open().map(|(chain, next)| chain.name(next)).collect();
            for end in open {
                // If somebody was faster, the next look shows what was added.
                match self.companions.create(&end, b"") {
                    // Then nobody can add anything either.
                    Err(error) if is_closed(&error) => return Ok(found),
                    created => created?,
                };
            }
        }
        Err(io::Error::other(format!("something else keeps adding to the journal {}", self.companions.place())))
    }

    /// The bytes of a chain. None if it went away.
    fn bytes_of(&self, found: &Chains, chain: &Chain) -> io::Result<Option<Vec<u8>>> {
        let names: Vec<String> = found.data(chain).map(|number| chain.name(number)).collect();
        let blobs: Option<Vec<Vec<u8>>> = self.companions.read(&names)?.into_iter().collect();
        Ok(blobs.map(|blobs| blobs.concat()))
    }

    /// Makes sure that nobody has added anything to what was read, and that nobody can any more.
    fn end_chains(&self, found: &Chains, moved: impl Fn() -> io::Error) -> io::Result<()> {
        let own = self.own.as_ref().map(|own| &own.chain);
        if let Some(own) = own {
            // Who has taken over has ended it, and then removed it.
            let alive = found.started().any(|chain| chain == own) && found.open().any(|(chain, _)| chain == own);
            return if alive { Ok(()) } else { Err(moved()) };
        }
        let nothing = Chains::default();
        let (seen, was_locked) = self.seen.as_ref().map_or((&nothing, false), |(seen, locked)| (seen, *locked));
        if was_locked && !(self.locked)() {
            return Err(moved());
        }
        for chain in found.started() {
            if found.end(chain) != seen.end(chain) {
                return Err(moved());
            }
        }
        for (chain, next) in found.open() {
            match self.companions.create(&chain.name(next), b"") {
                Ok(true) => {}
                Ok(false) => return Err(moved()),
                Err(error) if is_closed(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Creates the first object of a chain, unless somebody does the same at the same time.
    fn start(&self, chain: &Chain, start: &[u8], before: &Chains) -> io::Result<()> {
        create_or_find(&*self.companions, &chain.name(0), start)?;
        // Whoever does the same is seen now, or sees this.
        let after = self.list()?;
        if after.started().any(|other| other != chain && !before.started().any(|known| known == other)) {
            return Err(self.moved());
        }
        Ok(())
    }

    /// Removes what a new chain has made superfluous. Whatever stays does no harm: the newest chain is read.
    fn tidy_up(&mut self, before: &Chains, own: &Chain) {
        let others = before.all().filter(|chain| *chain != own);
        for chain in others {
            let mine = self.own.as_ref().is_some_and(|own| own.chain == *chain);
            let mut names: Vec<String> = before.data(chain).map(|number| chain.name(number)).collect();
            if mine {
                names.extend(before.fence(chain).map(|number| chain.name(number)));
            }
            let _ = self.remove_chain(&names);
        }
        let ends: Vec<String> =
            before.all().filter_map(|chain| before.fence(chain).map(|number| chain.name(number))).collect();
        let old = ends.len().saturating_sub(KEPT_ENDS);
        if old > 0 {
            let _ = self.companions.remove(&ends[..old]);
        }
        if let Some(left) = self.left.take() {
            let _ = left.remove();
        }
        if let Some(path) = self.own.as_mut().and_then(|own| own.spooled.take()) {
            let _ = spool::remove(&path);
        }
    }

    /// Begins in a file of this machine, because no object can be created any more.
    fn begin_elsewhere(&mut self, chain: Chain, start: &[u8], before: &Chains) -> io::Result<Box<dyn JournalFile>> {
        let written = Arc::new(Mutex::new(start.to_vec()));
        let file = self.spool.create(start, Arc::clone(&written))?;
        self.tidy_up(before, &chain);
        let spooled = Some(file.path().to_owned());
        self.own = Some(Own { chain, written, spooled, closed: Arc::default() });
        Ok(Box::new(file))
    }

    /// The first one first: what is left of a chain without it is no journal.
    fn remove_chain(&self, names: &[String]) -> io::Result<()> {
        let Some((first, rest)) = names.split_first() else { return Ok(()) };
        self.companions.remove(std::slice::from_ref(first))?;
        self.companions.remove(rest)
    }

    fn moved(&self) -> io::Error {
        io::Error::other(format!(
            "something else has used the journal {} since it was read, or has taken over its state",
            self.companions.place()
        ))
    }
}

impl JournalHome for CompanionHome {
    /// Who holds the lock takes over by reading: nothing is added any more to what is found.
    fn read(&mut self) -> io::Result<Vec<JournalPart>> {
        let locked = (self.locked)();
        self.left = None;
        let mut on_this_machine = self.spool.left()?;
        for _ in 0..TRIES {
            let found = self.take_over(locked)?;
            let newest = found.started().last().cloned();
            let mut part = None;
            if let Some(chain) = &newest {
                let Some(bytes) = self.bytes_of(&found, chain)? else { continue };
                let place = format!("{}/{chain}", self.companions.place());
                part = Some(JournalPart { place, bytes });
            }
            self.seen = Some((found, locked));
            // Files have everything that their chain has. Of other runs, they are for later: what is folded is one story.
            let run = part.as_ref().map(|part| header_of(&part.bytes).map(|(run, _)| run));
            let fits = |left: &Left| run.is_none_or(|run| header_of(&left.bytes).map(|(run, _)| run) == run);
            self.left = on_this_machine.iter().position(fits).map(|at| on_this_machine.swap_remove(at));
            let left = self.left.as_ref().map(Left::part);
            return Ok(left.or(part).into_iter().collect());
        }
        Err(self.moved())
    }

    fn begin(&mut self, start: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        let Some((run, _)) = header_of(start) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a journal begins with its header"));
        };
        let before = self.list()?;
        self.end_chains(&before, || self.moved())?;
        let chain = before.next(run);
        if let Err(error) = self.start(&chain, start, &before) {
            if is_closed(&error) {
                return self.begin_elsewhere(chain, start, &before);
            }
            let first = [chain.name(0)];
            let gone = || matches!(self.companions.read(&first).as_deref(), Ok([None]));
            if !(gone() || self.companions.remove(&first).is_ok() && gone())
                && let Some(own) = &self.own
            {
                own.closed.store(true, Ordering::SeqCst);
            }
            return Err(error);
        }
        self.tidy_up(&before, &chain);
        let written = Arc::new(Mutex::new(start.to_vec()));
        let closed = Arc::<AtomicBool>::default();
        let companions = Arc::clone(&self.companions);
        self.own = Some(Own {
            chain: chain.clone(),
            written: Arc::clone(&written),
            spooled: None,
            closed: Arc::clone(&closed),
        });
        Ok(Box::new(Segments { companions, chain, next: 1, added: Vec::new(), written, closed }))
    }

    fn go_on_elsewhere(&mut self, start: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        let Some((own, (_, header))) = self.own.as_mut().zip(header_of(start)) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no journal was begun"));
        };
        let mut whole = own.written.lock().unwrap_or_else(PoisonError::into_inner).clone();
        whole.extend(start.get(header..).unwrap_or_default());
        let file = self.spool.create(&whole, Arc::clone(&own.written))?;
        *own.written.lock().unwrap_or_else(PoisonError::into_inner) = whole;
        if let Some(before) = own.spooled.replace(file.path().to_owned()) {
            let _ = spool::remove(&before);
        }
        Ok(Box::new(file))
    }

    fn remove(&mut self) -> io::Result<()> {
        if let Some(own) = self.own.take() {
            let found = self.list()?;
            let names: Vec<String> =
                found.data(&own.chain).chain(found.fence(&own.chain)).map(|number| own.chain.name(number)).collect();
            self.remove_chain(&names)?;
            if let Some(path) = own.spooled {
                spool::remove(&path)?;
            }
        }
        Ok(())
    }
}

/// Creates an object. It may be there already if it was created and only the answer was lost.
fn create_or_find(companions: &dyn Companions, name: &str, bytes: &[u8]) -> io::Result<()> {
    let name = [name.to_owned()];
    let error = match companions.create(&name[0], bytes) {
        Ok(true) => return Ok(()),
        Ok(false) => io::Error::other("the state was taken over by something else"),
        Err(error) => error,
    };
    match companions.read(&name) {
        Ok(found) if found.first().and_then(Option::as_deref) == Some(bytes) => Ok(()),
        _ => Err(error),
    }
}

/// A chain that is added to.
struct Segments {
    companions: Arc<dyn Companions>,
    chain: Chain,
    next: u64,
    added: Vec<u8>,
    written: Arc<Mutex<Vec<u8>>>,
    closed: Arc<AtomicBool>,
}

impl JournalFile for Segments {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.added.extend(bytes);
        Ok(())
    }

    /// Creates the next object.
    fn sync(&mut self) -> io::Result<()> {
        if self.added.is_empty() {
            return Ok(());
        }
        if self.closed.load(Ordering::SeqCst) {
            return Err(io::Error::other("it is not known whether the journal was begun anew"));
        }
        create_or_find(&*self.companions, &self.chain.name(self.next), &self.added)?;
        self.written.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.added);
        self.next += 1;
        Ok(())
    }

    fn place(&self) -> String {
        format!("{}/{}", self.companions.place(), self.chain)
    }
}
