//! Making and changing a set: wave by wave. Whatever is made is stored, however it ends, so that the next apply goes on from there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groma_kit::{Call, Failed, Object};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::NotReady;

use super::delete::Removing;
use super::members::{Member, members};
use super::order::groups;
use super::plan::place;
use super::readiness::{Seen, established, lacking, ready, until_ready};
use super::schema::ready_timeout;
use super::stored::{
    Made, defines_a_kind, is_of, kept_projection, made, objects_of, projection_of, take_down, turns, uid_of,
};
use super::{SetResource, TYPE_NAME, several};
use crate::Json;
use crate::api::{Cluster, Said};
use crate::failure::{Failure, FailureKind};
use crate::ignore::Ignored;
use crate::manifest::ObjectRef;
use crate::object::fields::{Map, map_of};
use crate::object::making::{Making, Trouble};
use crate::object::removal::Removal;
use crate::object::session::{new_id, open};
use crate::object::{delete_timeout, elsewhere, server_warnings};
use crate::private::{self, ANNOTATIONS_LOST, AWAITING, PENDING_PROJECTION, PLANNED_FOR, STALE_READ};
use crate::provider::Host;

/// How long a new kind may take until it is served.
const ESTABLISHED: Duration = Duration::from_mins(1);

pub(super) async fn create(set: &SetResource, mut planned: Object, call: &mut Call) -> Result<Object, Failed> {
    let id = new_id(&set.shared)?;
    planned.set("id", Value::string(id));
    let work = Work::begin(set, &planned, None).await?;
    let mut progress = Progress::default();
    let halted = work.carry_out(&planned, &mut progress, call).await.err();
    work.finish(planned, progress, halted, true, call)
}

pub(super) async fn update(
    set: &SetResource,
    prior: &Object,
    mut planned: Object,
    config: &Object,
    call: &mut Call,
) -> Result<Object, Failed> {
    planned.set("id", prior.get("id"));
    prior.text("id").into_iter().for_each(|id| set.run.met(id));
    // What is stored may say more than what is written: an import takes down whole objects, and they stay if nothing about them changes.
    let mut wanted = planned.clone();
    for name in ["yaml", "manifests"] {
        wanted.set(name, config.get(name));
    }
    let work = Work::begin(set, &wanted, Some(prior)).await?;
    let mut progress = Progress::of(prior, &work.members);
    let halted = work.carry_out(&planned, &mut progress, call).await.err();
    work.finish(planned, progress, halted, false, call)
}

/// How far it has come.
#[derive(Default)]
struct Progress {
    /// What there is, wanted or not.
    objects: BTreeMap<String, Made>,
    projection: Map,
    warnings: Diagnostics,
    /// What was made in the last wave.
    wave: Vec<Seen>,
}

impl Progress {
    /// What was there before. What has lost its key to another object gets another one, so that it is not lost.
    fn of(prior: &Object, members: &[Member]) -> Self {
        let displaced = |key: &str, made: &Made| {
            members.iter().any(|member| member.key == key && !is_of(&member.reference, &made.reference))
        };
        let rename = |(key, made): (String, Made)| {
            let key = if displaced(&key, &made) { format!("{key} (before)") } else { key };
            (key, made)
        };
        let objects: BTreeMap<String, Made> = objects_of(prior).into_iter().map(rename).collect();
        let projection = kept_projection(prior, |key| objects.contains_key(key));
        Self { objects, projection, ..Self::default() }
    }

    /// Takes down an object that was made. It may have had another key until now.
    fn note(&mut self, key: &str, reference: &ObjectRef, live: &Json, id: &str) {
        let same = self.objects.iter().filter(|(_, other)| is_of(reference, &other.reference));
        let keys: Vec<String> = same.map(|(key, _)| key.clone()).chain([key.to_owned()]).collect();
        for key in keys {
            self.forget(&key);
        }
        self.objects.insert(key.to_owned(), made(reference, live));
        self.projection.extend(projection_of(key, live, id));
    }

    fn forget(&mut self, key: &str) {
        self.objects.remove(key);
        let prefix = format!("{key}: ");
        self.projection.retain(|entry, _| !entry.starts_with(&prefix));
    }
}

/// Why it has ended before everything was done.
enum Halt {
    Wrong(Diagnostics),
    NotReady(NotReady),
}

impl From<Diagnostic> for Halt {
    fn from(wrong: Diagnostic) -> Self {
        Self::Wrong(wrong.into())
    }
}

struct Work<'w> {
    set: &'w SetResource,
    cluster: Arc<Cluster>,
    cluster_uid: Option<String>,
    id: String,
    members: Vec<Member>,
    /// What it had before.
    had: BTreeMap<String, Made>,
    adopts: bool,
    force: bool,
    nothing_ignored: Ignored,
}

impl<'w> Work<'w> {
    async fn begin(set: &'w SetResource, planned: &Object, prior: Option<&Object>) -> Result<Work<'w>, Diagnostics> {
        let members = members(planned)?.ok_or_else(|| {
            let detail = "The manifests are still not known, although they must be by now.";
            Diagnostic::error("Manifests are not known", detail).at_path(place(planned))
        })?;
        let cluster = open(&set.shared, planned).await?;
        let failed = |failure: Failure| match members.first() {
            Some(member) => failure.diagnostic("apply", &member.reference),
            None => Diagnostic::error("Cluster cannot be identified", format!("{failure}")),
        };
        let cluster_uid = cluster.identity().await.map_err(failed)?;
        if let (Some(stored), Some(now)) = (prior.and_then(|prior| prior.text("cluster_uid")), cluster_uid.as_deref())
            && stored != now
        {
            return Err(elsewhere("update the set", stored, now).into());
        }
        Ok(Work {
            set,
            cluster,
            cluster_uid,
            id: planned.text("id").unwrap_or_default().to_owned(),
            members,
            had: prior.map(objects_of).unwrap_or_default(),
            adopts: planned.text("adopt") == Some("adopt"),
            force: planned.flag("force_conflicts").unwrap_or(true),
            nothing_ignored: Ignored::default(),
        })
    }

    /// Makes everything, then removes what is not wanted any more.
    async fn carry_out(&self, planned: &Object, progress: &mut Progress, call: &Call) -> Result<(), Halt> {
        let waits = planned.flag("wait_for_ready") == Some(true);
        let timeout = ready_timeout(planned);
        let ordered = groups(self.members.iter().map(|member| (member.turn, member)).collect());
        let mut ordered = ordered.into_iter().peekable();
        while let Some((turn, group)) = ordered.next() {
            let seen = self.make_group(&group, progress, call).await?;
            if defines_a_kind(turn) {
                self.wait(established(ESTABLISHED), seen, call).await?;
            }
            let ends_wave = ordered.peek().is_some_and(|(next, _)| next.wave != turn.wave);
            if ends_wave && waits {
                let wave = std::mem::take(&mut progress.wave);
                self.wait(ready(timeout), wave, call).await?;
            } else if ends_wave {
                progress.wave.clear();
            }
        }
        self.prune(planned, progress, call).await?;
        // Under groma the engine waits for the last wave.
        if waits && self.set.shared.host == Host::Other {
            let wave = std::mem::take(&mut progress.wave);
            self.wait(ready(timeout), wave, call).await?;
        }
        Ok(())
    }

    async fn wait(&self, wait: Option<crate::wait::WaitFor>, seen: Vec<Seen>, call: &Call) -> Result<(), Halt> {
        let Some(wait) = wait else { return Ok(()) };
        until_ready(self.set, &self.cluster, &wait, seen, call).await.map_err(Halt::NotReady)
    }

    /// Makes the objects of one turn, several at a time. All mistakes are told.
    async fn make_group(&self, group: &[&Member], progress: &mut Progress, call: &Call) -> Result<Vec<Seen>, Halt> {
        let made = several(group.iter().map(|member| self.make(member, call)).collect()).await;
        let mut wrong = Diagnostics::new();
        let mut seen = Vec::new();
        for (member, made) in group.iter().zip(made) {
            match made {
                Ok((reference, said)) => {
                    progress.note(&member.key, &reference, &said.value, &self.id);
                    progress.warnings.extend(server_warnings(&reference, &said.warnings));
                    progress.wave.push(Seen { reference: reference.clone(), live: said.value.clone() });
                    seen.push(Seen { reference, live: said.value });
                }
                Err(problem) => wrong.push(problem),
            }
        }
        if wrong.has_errors() { Err(Halt::Wrong(wrong)) } else { Ok(seen) }
    }

    /// Makes one object, or changes it. If it cannot be changed, it is made anew.
    async fn make(&self, member: &Member, call: &Call) -> Result<(ObjectRef, Said<Json>), Diagnostic> {
        let (reference, made) = self.making(member).make(call).await;
        let trouble = match made {
            Ok(said) => return Ok((reference, said)),
            Err(trouble) => trouble,
        };
        match trouble {
            Trouble::Refused(wrong) => Err(wrong),
            Trouble::Failed(unwritten) if unwritten.failure.kind == FailureKind::Immutable => {
                self.remove(&reference, call).await?;
                let (reference, made) = self.making(member).make(call).await;
                match made {
                    Ok(said) => Ok((reference, said)),
                    Err(Trouble::Refused(wrong)) => Err(wrong),
                    Err(Trouble::Failed(unwritten)) => Err(unwritten.failure.diagnostic("replace", &reference)),
                }
            }
            Trouble::Failed(unwritten) => Err(unwritten.failure.diagnostic("apply", &reference)),
        }
    }

    fn making<'m>(&'m self, member: &'m Member) -> Making<'m> {
        Making {
            shared: &self.set.shared,
            run: &self.set.run,
            cluster: &self.cluster,
            cluster_uid: self.cluster_uid.as_deref(),
            manifest: &member.manifest,
            reference: &member.reference,
            ignored: &self.nothing_ignored,
            id: &self.id,
            has: uid_of(&self.had, &member.reference),
            adopts: self.adopts,
            force: self.force,
            type_name: TYPE_NAME,
        }
    }

    /// Removes an object that cannot be changed. Those whose loss would hurt are not.
    async fn remove(&self, reference: &ObjectRef, call: &Call) -> Result<(), Diagnostic> {
        if let Some(lost) = crate::object::lost_with(&reference.kind) {
            let detail = format!(
                "It would have to be deleted and made anew, which is not done inside of a set. What would be lost: {lost}"
            );
            return Err(Diagnostic::error("Object would have to be replaced", detail));
        }
        let failed = |failure: Failure| failure.diagnostic("replace", reference);
        let Some(live) = self.cluster.get(reference).await.map_err(failed)? else { return Ok(()) };
        let removal = Removal {
            cluster: &self.cluster,
            reference,
            propagation: "Background",
            timeout: crate::object::usual_delete_timeout(&reference.kind),
            force: false,
            clock: self.set.shared.outside.clock.as_ref(),
        };
        removal.remove(&live, call).await.map(|_| ())
    }

    /// Removes what is not wanted any more, last first; or forgets it.
    async fn prune(&self, planned: &Object, progress: &mut Progress, call: &Call) -> Result<(), Halt> {
        let is_wanted = |key: &str| self.members.iter().any(|member| member.key == key);
        let unwanted: Vec<String> = progress.objects.keys().filter(|key| !is_wanted(key)).cloned().collect();
        if planned.flag("prune").unwrap_or(true) {
            let objects: BTreeMap<String, Made> =
                unwanted.iter().filter_map(|key| Some((key.clone(), progress.objects.get(key)?.clone()))).collect();
            let removing = Removing {
                set: self.set,
                cluster: &self.cluster,
                id: &self.id,
                timeout: &|kind| delete_timeout(planned, kind),
            };
            let turns = turns(planned, &objects);
            let (gone, result) = removing.remove_all(objects, &turns, call).await;
            for key in &gone {
                progress.forget(key);
            }
            result.map_err(Halt::Wrong)
        } else {
            for key in &unwanted {
                progress.forget(key);
            }
            Ok(())
        }
    }

    /// Stores what there is, and says how it ended.
    fn finish(
        &self,
        mut planned: Object,
        progress: Progress,
        halted: Option<Halt>,
        is_new: bool,
        call: &mut Call,
    ) -> Result<Object, Failed> {
        private::change(&mut call.private, |kept| {
            for flag in [ANNOTATIONS_LOST, AWAITING, PENDING_PROJECTION, PLANNED_FOR, STALE_READ] {
                kept.clear(flag);
            }
        });
        let is_told = map_of(&planned, "managed_state_projection").is_some();
        if !is_told {
            call.diagnostics.extend(progress.warnings);
        }
        if planned.is_unknown("cluster_uid") {
            let uid = self.cluster_uid.as_deref();
            planned.set("cluster_uid", uid.map_or_else(|| Value::null(Type::String), Value::string));
        }
        let mut actual = planned.clone();
        take_down(&mut actual, &progress.objects, &progress.projection);
        for name in ["objects", "managed_state_projection"] {
            if !planned.is_wholly_known(name) {
                planned.set(name, actual.get(name));
            }
        }
        let is_groma = self.set.shared.host == Host::Groma;
        match halted {
            None => {
                self.judge(&planned, &progress.wave, call);
                Ok(planned)
            }
            Some(Halt::NotReady(lacks)) if is_groma => {
                call.not_ready = Some(lacks);
                Ok(planned)
            }
            Some(Halt::Wrong(wrong)) if is_groma && is_new && !progress.objects.is_empty() => {
                // What was made must not be tainted: the next apply goes on from here.
                let said = wrong.iter().find(|wrong| wrong.is_error()).map(|wrong| wrong.detail.clone());
                call.diagnostics.extend(wrong);
                call.not_ready = Some(NotReady {
                    waiting_for: "all of its objects to be made".to_owned(),
                    last_seen: said,
                    patience: None,
                });
                Ok(planned)
            }
            Some(Halt::NotReady(lacks)) => {
                let seen = lacks.last_seen.unwrap_or_default();
                let detail = format!("Waited for {}. Last seen: {seen}", lacks.waiting_for);
                let wrong = Diagnostic::error("Objects did not become ready", detail);
                Err(Failed { diagnostics: wrong.into(), object: Some(actual) })
            }
            Some(Halt::Wrong(diagnostics)) => {
                let object = (!is_new || !progress.objects.is_empty()).then_some(actual);
                Err(Failed { diagnostics, object })
            }
        }
    }

    /// Judges the last wave; the engine looks again.
    fn judge(&self, object: &Object, wave: &[Seen], call: &mut Call) {
        let is_wanted = object.flag("wait_for_ready") == Some(true) && self.set.shared.host == Host::Groma;
        let wait = if is_wanted { ready(ready_timeout(object)) } else { None };
        call.not_ready = wait.and_then(|wait| lacking(&wait, wave)).map(|(_, lacks)| lacks);
        let is_awaiting = call.not_ready.is_some();
        private::change(&mut call.private, |kept| kept.set(AWAITING, is_awaiting));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::fields::map_value;
    use crate::set::stored::objects_value;

    fn named(name: &str) -> ObjectRef {
        ObjectRef {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: Some("a".to_owned()),
            name: name.to_owned(),
        }
    }

    fn prior(key: &str, name: &str) -> Object {
        let objects = BTreeMap::from([(key.to_owned(), Made { reference: named(name), uid: Some("u".to_owned()) })]);
        let projection = Map::from([(format!("{key}: data.x"), "1".to_owned())]);
        let parts = [("objects", objects_value(&objects)), ("managed_state_projection", map_value(&projection))];
        Object::of(&Value::object(parts))
    }

    fn member(key: &str, name: &str) -> Member {
        let reference = named(name);
        let turn = crate::set::order::turn(&reference, &json!({})).unwrap();
        Member { key: key.to_owned(), manifest: json!({}), reference, turn }
    }

    #[test]
    fn an_object_that_loses_its_key_to_another_one_is_not_lost() {
        let mut progress = Progress::of(&prior("k", "old"), &[member("k", "new")]);
        progress.note("k", &named("new"), &json!({"metadata": {"uid": "v"}}), "id");
        let names: Vec<(&str, &str)> =
            progress.objects.iter().map(|(key, made)| (key.as_str(), made.reference.name.as_str())).collect();
        assert_eq!(names, [("k", "new"), ("k (before)", "old")]);
    }

    #[test]
    fn an_object_may_get_another_key() {
        let mut progress = Progress::of(&prior("k", "same"), &[member("l", "same")]);
        assert_eq!(progress.projection.keys().collect::<Vec<_>>(), ["k: data.x"]);
        progress.note("l", &named("same"), &json!({"metadata": {"uid": "u"}}), "id");
        assert_eq!(progress.objects.keys().collect::<Vec<_>>(), ["l"]);
        assert!(progress.projection.keys().all(|entry| entry.starts_with("l: ")));
    }
}
