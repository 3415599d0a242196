//! Applying: carries a plan out, change by change, and writes down what came of each.

use std::collections::BTreeMap;

use groma_model::address::InstanceKey;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_provider::api::ApplyRequest;
use groma_state::{Attributes, ObjectState, ResourceState, State};

use crate::plan::{Action, Change, Plan, Providers, called, errors, stored_attributes};

/// Keeps a state safe. Called after every change, before the next one starts.
pub trait Save {
    /// Makes the state durable.
    fn save(&mut self, state: &State) -> Result<(), Diagnostics>;
}

/// Carries the plan out on the state. What was done before an error stays in the state.
pub async fn apply(
    plan: Plan,
    state: &mut State,
    providers: &Providers,
    save: &mut dyn Save,
) -> Result<(), Diagnostics> {
    for change in plan.changes {
        if change.action == Action::NoOp {
            continue;
        }
        apply_change(change, state, providers).await?;
        state.serial += 1;
        save.save(state)?;
    }
    Ok(())
}

async fn apply_change(change: Change, state: &mut State, providers: &Providers) -> Result<(), Diagnostics> {
    let Change { address, provider: provider_config, prior, planned, config, private, schema, .. } = change;
    let Some(provider) = providers.get(&provider_config.provider) else {
        return Err(crate::plan::refused(&address, "its provider is not available"));
    };
    let request = ApplyRequest {
        type_name: address.resource.ty.clone(),
        prior,
        planned,
        config,
        planned_private: private,
        planned_identity: None,
        provider_meta: None,
    };
    let response = called(&address, provider.apply(request).await)?;
    if response.object.is_null() {
        errors(response.diagnostics)?;
        let detail = format!("After applying, {address} has no object although one was planned.");
        return Err(Diagnostic::error("Provider produced inconsistent result after apply", detail).into());
    }
    // An object that exists is written down whatever else is wrong.
    let attributes = Attributes::Json(stored_attributes(&response.object, &schema)?);
    let mut object = ObjectState::new(u64::try_from(schema.version).unwrap_or_default(), attributes);
    object.private = response.private.0;
    let resource = state
        .resources
        .entry(address)
        .or_insert_with(|| ResourceState { provider: provider_config, instances: BTreeMap::new() });
    resource.instances.insert(InstanceKey::None, object.into());
    errors(response.diagnostics)
}
