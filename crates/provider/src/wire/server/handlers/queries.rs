//! The calls about what is not managed: data sources, ephemeral resources, and queries.

use std::sync::Arc;

use tokio::sync::mpsc;
use tonic::Status;

use super::Handlers;
use crate::api::{ListEvent, ListRequest, OpenRequest, Private, ReadDataRequest};
use crate::wire::convert;
use crate::wire::generated::tfplugin as wire;
use crate::wire::server::answers::{Answered, find, refused};
use crate::wire::server::offer::Typed;

/// What a query finds, as it is found.
pub(in crate::wire::server) type Events = mpsc::UnboundedReceiver<Answered<wire::list_resource::Event>>;

impl Handlers {
    fn ephemeral(&self, name: &str) -> Answered<&Typed> {
        find(&self.offer.ephemerals, "ephemeral resource type", name)
    }

    fn data_source(&self, name: &str) -> Answered<&Typed> {
        find(&self.offer.data_sources, "data source", name)
    }

    pub(in crate::wire::server) async fn validate_data_resource_config(
        &self,
        request: wire::validate_data_resource_config::Request,
    ) -> Answered<wire::validate_data_resource_config::Response> {
        let config = self.data_source(&request.type_name)?.take(request.config)?;
        let found = self.provider.validate_data_source(&request.type_name, config).await.map_err(refused)?;
        Ok(wire::validate_data_resource_config::Response { diagnostics: convert::diagnostics_to_wire(&found) })
    }

    pub(in crate::wire::server) async fn read_data_source(
        &self,
        request: wire::read_data_source::Request,
    ) -> Answered<wire::read_data_source::Response> {
        let typed = self.data_source(&request.type_name)?;
        let response = self.provider.read_data(ReadDataRequest {
            config: typed.take(request.config)?,
            provider_meta: self.meta(request.provider_meta)?,
            type_name: request.type_name.into(),
            address: None,
        });
        let response = response.await.map_err(refused)?;
        Ok(wire::read_data_source::Response {
            state: typed.give(&response.object)?,
            diagnostics: convert::diagnostics_to_wire(&response.diagnostics),
            deferred: convert::deferred_to_wire(response.deferred),
        })
    }

    pub(in crate::wire::server) async fn validate_ephemeral_resource_config(
        &self,
        request: wire::validate_ephemeral_resource_config::Request,
    ) -> Answered<wire::validate_ephemeral_resource_config::Response> {
        let config = self.ephemeral(&request.type_name)?.take(request.config)?;
        let found = self.provider.validate_ephemeral(&request.type_name, config).await.map_err(refused)?;
        Ok(wire::validate_ephemeral_resource_config::Response { diagnostics: convert::diagnostics_to_wire(&found) })
    }

    pub(in crate::wire::server) async fn open_ephemeral_resource(
        &self,
        request: wire::open_ephemeral_resource::Request,
    ) -> Answered<wire::open_ephemeral_resource::Response> {
        let typed = self.ephemeral(&request.type_name)?;
        let asked = OpenRequest { config: typed.take(request.config)?, type_name: request.type_name.into() };
        let response = self.provider.open_ephemeral(asked).await.map_err(refused)?;
        Ok(wire::open_ephemeral_resource::Response {
            diagnostics: convert::diagnostics_to_wire(&response.diagnostics),
            renew_at: convert::time_to_wire(response.renew_at),
            result: typed.give(&response.object)?,
            private: Some(response.private.0.into()),
            deferred: convert::deferred_to_wire(response.deferred),
        })
    }

    pub(in crate::wire::server) async fn renew_ephemeral_resource(
        &self,
        request: wire::renew_ephemeral_resource::Request,
    ) -> Answered<wire::renew_ephemeral_resource::Response> {
        self.ephemeral(&request.type_name)?;
        let private = Private(request.private.unwrap_or_default().into());
        let response = self.provider.renew_ephemeral(&request.type_name, private).await.map_err(refused)?;
        Ok(wire::renew_ephemeral_resource::Response {
            diagnostics: convert::diagnostics_to_wire(&response.diagnostics),
            renew_at: convert::time_to_wire(response.renew_at),
            private: Some(response.private.0.into()),
        })
    }

    pub(in crate::wire::server) async fn close_ephemeral_resource(
        &self,
        request: wire::close_ephemeral_resource::Request,
    ) -> Answered<wire::close_ephemeral_resource::Response> {
        self.ephemeral(&request.type_name)?;
        let private = Private(request.private.unwrap_or_default().into());
        let found = self.provider.close_ephemeral(&request.type_name, private).await.map_err(refused)?;
        Ok(wire::close_ephemeral_resource::Response { diagnostics: convert::diagnostics_to_wire(&found) })
    }

    pub(in crate::wire::server) async fn validate_list_resource_config(
        &self,
        request: wire::validate_list_resource_config::Request,
    ) -> Answered<wire::validate_list_resource_config::Response> {
        let config = find(&self.offer.lists, "query for", &request.type_name)?.take(request.config)?;
        let found = self.provider.validate_list(&request.type_name, config).await.map_err(refused)?;
        Ok(wire::validate_list_resource_config::Response { diagnostics: convert::diagnostics_to_wire(&found) })
    }

    /// What was found, with the schemas of the resource type that it is of.
    fn event(&self, type_name: &str, event: ListEvent) -> Answered<wire::list_resource::Event> {
        let diagnostic = convert::diagnostics_to_wire(&event.diagnostics);
        let Some(found) = event.object else {
            return Ok(wire::list_resource::Event { diagnostic, ..wire::list_resource::Event::default() });
        };
        let typed = find(&self.offer.resources, "resource type", type_name)?;
        Ok(wire::list_resource::Event {
            identity: typed.give_identity(Some(&found.identity))?,
            display_name: found.display_name,
            resource_object: match &found.object {
                Some(object) => typed.give(object)?,
                None => None,
            },
            diagnostic,
        })
    }
}

/// Starts a query. It ends when the host does not listen any more.
pub(in crate::wire::server) fn list(
    handlers: Arc<Handlers>,
    request: wire::list_resource::Request,
) -> Answered<Events> {
    let config = find(&handlers.offer.lists, "query for", &request.type_name)?.take(request.config)?;
    let (sender, events) = mpsc::unbounded_channel();
    let asked = ListRequest {
        type_name: request.type_name.as_str().into(),
        config,
        include_object: request.include_resource_object,
        limit: u64::try_from(request.limit).unwrap_or(0),
    };
    tokio::spawn(async move {
        let mut sink = |event: ListEvent| sender.send(handlers.event(&request.type_name, event)).is_ok();
        let listed = handlers.provider.list(asked, &mut sink).await;
        if let Err(error) = listed {
            let status: Status = refused(error);
            // The host may have gone.
            let _ = sender.send(Err(status));
        }
    });
    Ok(events)
}
