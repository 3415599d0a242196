//! A cloud without machines: objects with ids, and the rules that make real clouds difficult. Names are taken once; what is referred to
//! must be there; what others refer to cannot be deleted. What it refuses for such a reason it remembers, since an engine that asks
//! in the right order is never refused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groma_model::value::{Value, ValueKind};

use crate::chance::Chance;

/// Whether a loose reference must be gone before its target: asked with the target and who refers to it.
pub type Judge = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// The objects of a cloud. Clones are the same.
#[derive(Clone, Default)]
pub struct Cloud(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    objects: BTreeMap<String, Value>,
    made: u64,
    refused: Vec<String>,
    judge: Option<Judge>,
    faults: Option<Faults>,
}

/// Calls that fail though nothing is wrong with them.
#[derive(Debug, Clone)]
pub struct Faults {
    /// Decides.
    pub chance: Chance,
    /// One in so many.
    pub one_in: usize,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing was done.
    NothingDone,
    /// It was done, or half of it, and still is an error.
    Done,
}

/// Why something was not done.
#[derive(Debug, Clone)]
pub struct Refusal(pub String);

impl Cloud {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything in it, by id.
    pub fn objects(&self) -> BTreeMap<String, Value> {
        self.inner().objects.clone()
    }

    /// What was refused so far because it came in the wrong order. Forgets it.
    pub fn take_refused(&self) -> Vec<String> {
        std::mem::take(&mut self.inner().refused)
    }

    /// From now on loose references are judged like this. Without a judge they do not count.
    pub fn set_judge(&self, judge: Option<Judge>) {
        self.inner().judge = judge;
    }

    /// From now on calls fail like this.
    pub fn set_faults(&self, faults: Option<Faults>) {
        self.inner().faults = faults;
    }

    /// Whether the call that is under way fails.
    pub fn fault(&self) -> Option<Fault> {
        let mut inner = self.inner();
        let faults = inner.faults.as_mut()?;
        let fails = faults.chance.one_in(faults.one_in);
        let kind = if faults.chance.one_in(2) { Fault::Done } else { Fault::NothingDone };
        fails.then_some(kind)
    }

    /// The object with an id.
    pub fn get(&self, id: &str) -> Option<Value> {
        self.inner().objects.get(id).cloned()
    }

    /// An id that no object has or had.
    pub fn new_id(&self) -> String {
        let mut inner = self.inner();
        inner.made += 1;
        format!("i-{}", inner.made)
    }

    /// Makes an object, or changes one.
    pub fn put(&self, id: &str, object: Value) -> Result<(), Refusal> {
        let mut inner = self.inner();
        inner.check(id, &object).map_err(|problem| inner.refuse(problem))?;
        inner.objects.insert(id.to_owned(), object);
        Ok(())
    }

    /// Changes an object behind everybody's back.
    pub fn tamper(&self, id: &str, object: Value) {
        self.inner().objects.insert(id.to_owned(), object);
    }

    /// Deletes an object, if nothing refers to it.
    pub fn delete(&self, id: &str) -> Result<(), Refusal> {
        let mut inner = self.inner();
        inner.check_unused(id).map_err(|problem| inner.refuse(problem))?;
        inner.objects.remove(id);
        Ok(())
    }

    /// Ids of objects that nothing refers to.
    pub fn unused(&self) -> Vec<String> {
        let inner = self.inner();
        let used: BTreeSet<String> =
            inner.objects.values().flat_map(|object| parent(object).into_iter().chain(peers(object))).collect();
        inner.objects.keys().filter(|id| !used.contains(*id)).cloned().collect()
    }
}

impl Inner {
    fn refuse(&mut self, problem: String) -> Refusal {
        self.refused.push(problem.clone());
        Refusal(problem)
    }

    fn check(&self, id: &str, object: &Value) -> Result<(), String> {
        for target in parent(object).into_iter().chain(peers(object)) {
            if !self.objects.contains_key(&target) {
                return Err(format!("{id} refers to {target}, which does not exist"));
            }
        }
        let Some(name) = text(object, "name") else { return Ok(()) };
        let taken =
            self.objects.iter().find(|(other, found)| *other != id && text(found, "name").as_ref() == Some(&name));
        taken.map_or(Ok(()), |(other, _)| Err(format!("the name {name} of {id} is taken by {other}")))
    }

    fn check_unused(&self, id: &str) -> Result<(), String> {
        for (other, object) in self.objects.iter().filter(|(other, _)| *other != id) {
            if parent(object).as_deref() == Some(id) {
                return Err(format!("{id} is the parent of {other} and cannot be deleted"));
            }
            let must_be_gone = || self.judge.as_ref().is_some_and(|judge| judge(id, other));
            if peers(object).iter().any(|peer| peer == id) && must_be_gone() {
                return Err(format!("{id} is a peer of {other} and cannot be deleted"));
            }
        }
        Ok(())
    }
}

/// The text of an attribute, if it has any.
pub fn text(object: &Value, name: &str) -> Option<String> {
    object.as_entries()?.get(name)?.as_str().map(str::to_owned)
}

fn parent(object: &Value) -> Option<String> {
    text(object, "parent")
}

fn peers(object: &Value) -> Vec<String> {
    let Some(ValueKind::Set(items)) = object.as_entries().and_then(|entries| entries.get("peers")).map(Value::kind)
    else {
        return Vec::new();
    };
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
