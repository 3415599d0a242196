//! What providers list: objects that are there, whether a state knows them or not. What they are asked for follows from configurations and
//! from what is stored, and each question is asked once.

mod adoption;
mod known;
mod orphans;
mod query;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use groma_model::address::{AbsInstance, ProviderInstance};
use groma_model::codec::json;
use groma_model::diag::Diagnostics;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{CallError, ListEvent, ListRequest, ListedObject, Provider};
use groma_state::State;
use tokio::sync::OnceCell;

pub(crate) use adoption::{Adopted, Candidate};
pub use adoption::{Adoption, AdoptionMode, fits};
pub(crate) use known::Known;
pub use orphans::Orphan;
pub(crate) use query::{query, required};

use crate::providers::Slot;

/// More is not looked at: whoever has so many of a kind knows better ways to tell them apart.
pub(crate) const MOST: u64 = 10_000;

/// What is to be found out besides a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wishes {
    /// What becomes of objects that are there already when they are to be made. None if nobody looks.
    pub adoption: Option<Adoption>,
    /// Whether objects are looked for that the state does not know.
    pub orphans: bool,
}

/// What was listed while a plan was made.
pub struct Listing {
    wishes: Wishes,
    state: Arc<State>,
    asked: Mutex<BTreeMap<Key, Arc<Asked>>>,
    /// What is taken in, and where.
    claimed: Mutex<BTreeMap<String, AbsInstance>>,
}

/// Who is asked, for what type, and how.
type Key = (ProviderInstance, Str, String);

/// One question.
struct Asked {
    slot: Arc<Slot>,
    type_name: Str,
    query: Value,
    found: OnceCell<Found>,
}

/// What came of a question.
enum Found {
    Objects(Vec<ListedObject>),
    /// Such objects cannot be listed.
    Unlistable,
    Failed(Diagnostics),
}

impl Listing {
    /// Nothing was asked yet. The state is what is known.
    pub fn new(wishes: Wishes, state: Arc<State>) -> Self {
        Self { wishes, state, asked: Mutex::default(), claimed: Mutex::default() }
    }

    /// A question about objects like this one: a configuration, or one that is stored. None if the provider cannot be asked.
    fn question(&self, slot: &Arc<Slot>, provider: &dyn Provider, type_name: &Str, like: &Value) -> Option<Arc<Asked>> {
        let query = query(provider, type_name, like)?;
        let key = (slot.instance().clone(), type_name.clone(), json::encode_plain(&query).ok()?);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let question = asked.entry(key).or_insert_with(|| {
            Arc::new(Asked { slot: Arc::clone(slot), type_name: type_name.clone(), query, found: OnceCell::new() })
        });
        Some(Arc::clone(question))
    }
}

impl Asked {
    /// What is there. Asked once, whoever wants to know.
    async fn answer(&self, provider: &dyn Provider) -> &Found {
        self.found.get_or_init(|| ask(provider, &self.type_name, self.query.clone())).await
    }
}

async fn ask(provider: &dyn Provider, type_name: &Str, query: Value) -> Found {
    let request = ListRequest { type_name: type_name.clone(), config: query, include_object: true, limit: MOST };
    let mut objects = Vec::new();
    let mut problems = Diagnostics::new();
    let mut sink = |event: ListEvent| {
        problems.extend(event.diagnostics);
        objects.extend(event.object);
        !problems.has_errors()
    };
    match provider.list(request, &mut sink).await {
        Err(CallError::Unsupported { .. }) => Found::Unlistable,
        Err(problem) => Found::Failed(problem.diagnostic().into()),
        Ok(()) if problems.has_errors() => Found::Failed(problems),
        Ok(()) => Found::Objects(objects),
    }
}

/// What people know a listed object by.
fn shown_id(found: &ListedObject) -> String {
    let of = |value: &Value| value.as_entries()?.get("id")?.as_str().map(str::to_owned);
    let own = found.object.as_ref().and_then(of).or_else(|| of(&found.identity));
    own.unwrap_or_else(|| groma_lang::display::compact(&found.identity))
}
