//! The Lease that a state is locked by. Other tools look at who holds it and at an annotation, and never renew it. A holder of
//! ours says in another annotation that it renews, with its own name, so that nobody takes what was left there for a promise of
//! whoever holds it now.

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::{Api, ObjectMeta, PostParams};

use groma_state::LockInfo;

use super::names::Names;
use super::trouble::{Trouble, is_conflict, is_ending};
use crate::silence::{Renewed, SILENCE};

/// Who holds it, as the other tools write it.
const LOCK_INFO: &str = "app.terraform.io/lock-info";
/// The name of the holder, if it renews.
const RENEWING: &str = "groma.dev/renewing";

/// The name of the first holder that was replaced, as long as somebody of ours holds what was taken over.
const REPLACED: &str = "groma.dev/replaced";

/// What is seen of a lock that is renewed.
pub(super) type Sign = (String, Option<Timestamp>);

/// The Lease of one state.
#[derive(Clone)]
pub(super) struct Locker {
    pub(super) leases: Api<Lease>,
    pub(super) names: Names,
}

/// Who holds a Lease. None if nobody does.
pub(super) fn holder(lease: &Lease) -> Option<&str> {
    lease.spec.as_ref()?.holder_identity.as_deref().filter(|holder| !holder.is_empty())
}

/// What the holder says about itself.
pub(super) fn info(lease: &Lease) -> Option<LockInfo> {
    LockInfo::from_json(lease.metadata.annotations.as_ref()?.get(LOCK_INFO)?)
}

/// What to watch, if the holder has promised to renew.
pub(super) fn sign(lease: &Lease) -> Option<Sign> {
    let holder = holder(lease)?;
    let promised = lease.metadata.annotations.as_ref()?.get(RENEWING)? == holder;
    let renewed = lease.spec.as_ref()?.renew_time.as_ref().map(|time| time.0);
    promised.then(|| (holder.to_owned(), renewed))
}

/// Whom this holder has replaced. If several were, one after the other, the first.
pub(super) fn replaced(lease: &Lease) -> Option<&str> {
    Some(lease.metadata.annotations.as_ref()?.get(REPLACED)?)
}

/// A time that is later than another one, and now if possible: what is renewed must change, whatever the clock does.
fn later_than(before: Option<&MicroTime>) -> MicroTime {
    let now = Timestamp::now();
    let next = before.and_then(|before| before.0.checked_add(SignedDuration::from_micros(1)).ok());
    MicroTime(next.map_or(now, |next| next.max(now)))
}

/// The same Lease, held by somebody of ours.
fn taken(mut lease: Lease, info: &LockInfo) -> Lease {
    let gone = holder(&lease).map(|gone| replaced(&lease).unwrap_or(gone).to_owned());
    let spec = lease.spec.get_or_insert_default();
    let renewed = later_than(spec.renew_time.as_ref());
    spec.holder_identity = Some(info.id.clone());
    spec.lease_duration_seconds = i32::try_from(SILENCE.as_secs()).ok();
    spec.acquire_time = Some(renewed.clone());
    spec.renew_time = Some(renewed);
    spec.lease_transitions = Some(spec.lease_transitions.unwrap_or_default().saturating_add(1));
    let annotations = lease.metadata.annotations.get_or_insert_default();
    annotations.insert(LOCK_INFO.to_owned(), info.to_json());
    annotations.insert(RENEWING.to_owned(), info.id.clone());
    match gone {
        Some(gone) => annotations.insert(REPLACED.to_owned(), gone),
        None => annotations.remove(REPLACED),
    };
    lease
}

/// The same Lease, held by nobody, as the other tools leave it.
fn released(mut lease: Lease) -> Lease {
    if let Some(spec) = &mut lease.spec {
        spec.holder_identity = None;
        spec.lease_duration_seconds = None;
        spec.acquire_time = None;
        spec.renew_time = None;
    }
    if let Some(annotations) = &mut lease.metadata.annotations {
        annotations.remove(LOCK_INFO);
        annotations.remove(RENEWING);
        annotations.remove(REPLACED);
    }
    lease
}

impl Locker {
    fn trouble(&self, verb: &'static str, error: kube::Error) -> Trouble {
        Trouble::when(verb, "leases", &self.names.namespace, &self.names.lease).of(error)
    }

    /// The Lease as it is now.
    pub(super) async fn get(&self) -> Result<Option<Lease>, Trouble> {
        self.leases.get_opt(&self.names.lease).await.map_err(|error| self.trouble("get", error))
    }

    /// Takes a Lease that is so, or is not there. False if somebody was faster.
    pub(super) async fn take(&self, lease: Option<Lease>, info: &LockInfo) -> Result<bool, Trouble> {
        let Some(lease) = lease else {
            let metadata = ObjectMeta {
                name: Some(self.names.lease.clone()),
                labels: Some(self.names.labels.clone()),
                ..ObjectMeta::default()
            };
            let lease = taken(Lease { metadata, spec: Some(LeaseSpec::default()) }, info);
            return match self.leases.create(&PostParams::default(), &lease).await {
                Err(error) if is_conflict(&error) => Ok(false),
                Err(error) => Err(self.trouble("create", error)),
                Ok(_) => Ok(true),
            };
        };
        self.replace(&taken(lease, info)).await
    }

    /// Whether nobody can take a Lease that is not there, because the namespace is being deleted. The Lease goes then while its holder
    /// works, which goes on as if it had it.
    pub(super) async fn is_ending(&self) -> bool {
        let metadata = ObjectMeta { name: Some(self.names.lease.clone()), ..ObjectMeta::default() };
        let lease = Lease { metadata, spec: Some(LeaseSpec::default()) };
        let only_asked = PostParams { dry_run: true, ..PostParams::default() };
        matches!(self.leases.create(&only_asked, &lease).await, Err(error) if is_ending(&error))
    }

    /// Lets go of a Lease that is so. False if somebody was faster.
    pub(super) async fn release(&self, lease: Lease) -> Result<bool, Trouble> {
        self.replace(&released(lease)).await
    }

    async fn replace(&self, lease: &Lease) -> Result<bool, Trouble> {
        match self.leases.replace(&self.names.lease, &PostParams::default(), lease).await {
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) => Err(self.trouble("update", error)),
            Ok(_) => Ok(true),
        }
    }

    /// Shows that the holder of that name is still there.
    pub(super) async fn renew(&self, id: &str) -> Renewed {
        let Ok(found) = self.get().await else { return Renewed::NotNow };
        if found.is_none() && self.is_ending().await {
            return Renewed::NotNow;
        }
        let Some(mut lease) = found.filter(|lease| holder(lease) == Some(id)) else { return Renewed::Lost };
        let spec = lease.spec.get_or_insert_default();
        spec.renew_time = Some(later_than(spec.renew_time.as_ref()));
        match self.replace(&lease).await {
            Ok(true) => Renewed::Yes,
            // Whoever has changed it is seen next time.
            Ok(false) | Err(_) => Renewed::NotNow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(id: &str) -> LockInfo {
        LockInfo { id: id.to_owned(), who: "me@here".to_owned(), ..LockInfo::default() }
    }

    #[test]
    fn what_is_released_is_as_other_tools_leave_it() {
        let lease = taken(Lease::default(), &lock("a"));
        assert_eq!(holder(&lease), Some("a"));
        assert_eq!(info(&lease), Some(lock("a")));
        assert_eq!(sign(&lease).unwrap().0, "a");
        let lease = released(lease);
        assert_eq!((holder(&lease), info(&lease), sign(&lease)), (None, None, None));
    }

    #[test]
    fn the_first_that_was_replaced_stays_known() {
        let first = taken(Lease::default(), &lock("a"));
        assert_eq!(replaced(&first), None);
        let second = taken(first, &lock("b"));
        assert_eq!(replaced(&second), Some("a"));
        // That one has died before it could do anything.
        let third = taken(second, &lock("c"));
        assert_eq!(replaced(&third), Some("a"));
        let fourth = taken(released(third), &lock("d"));
        assert_eq!(replaced(&fourth), None);
    }

    #[test]
    fn a_promise_of_somebody_else_is_none() {
        // A stock tool takes the lock away by force, and then takes it itself.
        let mut lease = taken(Lease::default(), &lock("a"));
        lease.spec.as_mut().unwrap().holder_identity = Some("theirs".to_owned());
        assert_eq!(sign(&lease), None);
    }

    #[test]
    fn renewing_changes_the_time_whatever_the_clock_says() {
        let future = MicroTime(Timestamp::now() + SignedDuration::from_hours(5));
        assert!(later_than(Some(&future)).0 > future.0);
        let past = MicroTime(Timestamp::now() - SignedDuration::from_hours(5));
        assert!(later_than(Some(&past)).0 > past.0 + SignedDuration::from_hours(4));
        assert!(later_than(None).0 <= Timestamp::now());
    }
}
