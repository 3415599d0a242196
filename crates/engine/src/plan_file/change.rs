//! Changes, and what conditions said.

use groma_provider::api::{ImportTarget, Patience, Pending, Private, SaidBy};

use super::read::{Reader, stored_lists};
use super::value::{read_object, read_schema, write_object, write_schema};
use super::write::Writer;
use super::{PlanFileError, Stored, stored_enum, stored_struct};
use crate::change::{Action, Change, Note, Reason};
use crate::checks::{CheckReport, Checked, CheckedInstance, InstanceReport};

stored_enum! {
    Action {
        0 => NoOp, 1 => Create, 2 => Read, 3 => Update, 4 => Delete, 5 => DeleteThenCreate, 6 => CreateThenDelete,
        7 => Forget, 8 => ForgetThenCreate,
    }
    Reason {
        0 => ReplaceBecauseTainted, 1 => ReplaceByRequest, 2 => ReplaceByTriggers, 3 => ReplaceBecauseCannotUpdate,
        4 => DeleteBecauseNoResourceConfig, 5 => DeleteBecauseNoModule, 6 => DeleteBecauseWrongRepetition,
        7 => DeleteBecauseCountIndex, 8 => DeleteBecauseEachKey, 9 => DeleteBecauseEnabledFalse,
        10 => DeleteBecauseNoMoveTarget, 11 => ReadBecauseConfigUnknown, 12 => ReadBecauseDependencyPending,
        13 => ReadBecauseCheckNested, 14 => ForgotBecauseLifecycleDestroyInConfig,
        15 => ForgotBecauseLifecycleDestroyInState,
    }
    Note {
        0 => Ignored(path), 1 => TriggeredBy(entry), 2 => MadeFirstFor(resource), 3 => Requested, 4 => NotDestroyed,
        5 => Ordered(who), 6 => TakenAlong(with, rule),
    }
    ImportTarget { 0 => Id(id), 1 => Identity(identity) }
    SaidBy { 0 => Provider, 1 => Rule, 2 => CreateError }
    Checked {
        0 => Resource(resource), 1 => Output(module, name), 2 => Check(module, name), 3 => Variable(module, name),
    }
    CheckedInstance {
        0 => Resource(address), 1 => Output(module, name), 2 => Check(module, name), 3 => Variable(module, name),
    }
}

stored_struct! {
    CheckReport { subject, status, instances }
    InstanceReport { address, status, problems }
    Pending { waiting_for, last_seen, since, by, patience }
    Patience { timeout, interval }
}

stored_lists!(Change, Note, CheckReport, InstanceReport);

impl Stored for Private {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        self.0.write(out)
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        Stored::read(input).map(Private)
    }
}

impl Stored for Change {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        let Self {
            address,
            deposed,
            previous_address,
            provider,
            action,
            reason,
            before,
            after,
            configured_sensitive,
            before_identity,
            after_identity,
            private,
            replace_paths,
            importing,
            schema,
            dependencies,
            create_before_destroy,
            generated_config,
            notes,
            not_ready,
        } = self;
        address.write(out)?;
        deposed.write(out)?;
        previous_address.write(out)?;
        provider.write(out)?;
        let resource = &address.instance.resource;
        let key = (provider.config.provider.clone(), resource.mode, resource.ty.clone());
        let ty = write_schema(&key, schema, out)?;
        action.write(out)?;
        reason.write(out)?;
        write_object(before, &ty, out)?;
        write_object(after, &ty, out)?;
        configured_sensitive.write(out)?;
        before_identity.write(out)?;
        after_identity.write(out)?;
        private.write(out)?;
        replace_paths.write(out)?;
        importing.write(out)?;
        dependencies.write(out)?;
        create_before_destroy.write(out)?;
        generated_config.write(out)?;
        notes.write(out)?;
        not_ready.write(out)
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        let address = groma_model::address::AbsInstance::read(input)?;
        let deposed = Stored::read(input)?;
        let previous_address = Stored::read(input)?;
        let provider = groma_model::address::ProviderInstance::read(input)?;
        let known = read_schema(input)?;
        let resource = &address.instance.resource;
        if known.key != (provider.config.provider.clone(), resource.mode, resource.ty.clone()) {
            return Err(input.malformed(format!("{address} has the schema of something else")));
        }
        Ok(Self {
            address,
            deposed,
            previous_address,
            provider,
            action: Stored::read(input)?,
            reason: Stored::read(input)?,
            before: read_object(&known.ty, input)?,
            after: read_object(&known.ty, input)?,
            configured_sensitive: Stored::read(input)?,
            before_identity: Stored::read(input)?,
            after_identity: Stored::read(input)?,
            private: Stored::read(input)?,
            replace_paths: Stored::read(input)?,
            importing: Stored::read(input)?,
            dependencies: Stored::read(input)?,
            create_before_destroy: Stored::read(input)?,
            generated_config: Stored::read(input)?,
            notes: Stored::read(input)?,
            not_ready: Stored::read(input)?,
            schema: known.schema,
        })
    }
}
