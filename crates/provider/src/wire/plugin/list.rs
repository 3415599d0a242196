//! Queries: objects that exist, one after the other.

use std::sync::Arc;

use groma_model::value::Value;

use super::caller::Caller;
use super::schema::{Kind, Typed};
use super::{PluginProvider, decoded, decoded_identity, encoded};
use crate::api::{Answer, ListEvent, ListRequest, ListSink, ListedObject};
use crate::wire::calls::Rpc;
use crate::wire::generated::tfplugin as wire;

impl PluginProvider {
    pub(super) async fn ask_list(&self, request: ListRequest, sink: &mut dyn ListSink) -> Answer<()> {
        let caller = self.caller(Rpc::ListResource, &request.type_name);
        let typed = self.typed(caller, Kind::List, &request.type_name)?;
        let found = self.typed(caller, Kind::Resource, &request.type_name)?;
        let message = wire::list_resource::Request {
            type_name: request.type_name.to_string(),
            config: encoded(caller, &typed, &request.config)?,
            include_resource_object: request.include_object,
            limit: i64::try_from(request.limit).unwrap_or(i64::MAX),
        };
        let mut answers = caller.open_stream::<_, wire::list_resource::Event>(message).await?;
        let mut left = request.limit;
        // When this returns early, the stream is dropped, which tells the plugin to stop.
        while left > 0
            && let Some(event) = answers.next().await?
        {
            let event = listed(caller, &found, event)?;
            if event.object.is_some() {
                left -= 1;
            }
            if !sink.found(event) {
                break;
            }
        }
        Ok(())
    }
}

fn listed(caller: Caller<'_>, typed: &Arc<Typed>, event: wire::list_resource::Event) -> Answer<ListEvent> {
    let diagnostics = caller.told(event.diagnostic);
    let identity = decoded_identity(caller, typed, event.identity, &diagnostics)?;
    let object = match event.resource_object {
        Some(object) => Some(decoded(caller, typed, Some(object), &diagnostics)?).filter(|object| !object.is_null()),
        None => None,
    };
    let object = match (identity, &typed.identity) {
        (Some(identity), _) => Some(ListedObject { identity, display_name: event.display_name, object }),
        (None, Some(ty)) if object.is_some() => {
            Some(ListedObject { identity: Value::null(ty.clone()), display_name: event.display_name, object })
        }
        (None, _) if diagnostics.is_empty() => return Err(caller.malformed("it found an object without an identity")),
        (None, _) => None,
    };
    Ok(ListEvent { object, diagnostics })
}
