//! The beginning of a plugin's life: who may start it, and what it says. Calls are tested with real clients elsewhere.

use std::collections::BTreeMap;
use std::sync::Mutex;

use groma_model::schema::{Attribute, AttributeKind, Block, NestedBlock, NestedObject, Nesting, Schema};
use groma_model::ty::Type;

use super::*;
use crate::api::ProviderSchema;
use crate::wire::launch::Settings;
use crate::wire::reattach::Reattach;

struct Empty(ProviderSchema);

impl Provider for Empty {
    fn name(&self) -> &'static str {
        "empty"
    }

    fn schema(&self) -> &ProviderSchema {
        &self.0
    }
}

fn provider(schema: ProviderSchema) -> Arc<dyn Provider> {
    Arc::new(Empty(schema))
}

fn serve(protocols: &[u32]) -> Serve {
    let surroundings = Surroundings {
        cookie: Some(MAGIC_COOKIE.1.to_owned()),
        protocols: protocols.to_owned(),
        ..Surroundings::default()
    };
    Serve::new("example.com/test/empty", surroundings)
}

async fn failure(serve: Serve, schema: ProviderSchema) -> String {
    let mut out = Vec::new();
    let error = serve.run(provider(schema), &mut out).await.unwrap_err();
    assert!(out.is_empty());
    error.to_string()
}

#[tokio::test]
async fn it_is_not_run_by_hand() {
    let serve = Serve::new("example.com/test/empty", Surroundings::default());
    assert!(failure(serve, ProviderSchema::default()).await.contains("not by hand"));
}

#[test]
fn the_highest_version_that_both_know_is_taken() {
    assert_eq!(serve(&[5, 6]).negotiated().unwrap(), ProtocolVersion::V6);
    assert_eq!(serve(&[5]).negotiated().unwrap(), ProtocolVersion::V5);
    assert_eq!(serve(&[4, 5, 9]).negotiated().unwrap(), ProtocolVersion::V5);
    let error = serve(&[4]).negotiated().unwrap_err().to_string();
    assert_eq!(error, "the host speaks provider protocol 4, this plugin 5, 6");
}

/// A resource with an attribute that has attributes, in a block.
fn nested() -> ProviderSchema {
    let object = NestedObject {
        attributes: BTreeMap::from([("size".into(), Attribute::of_type(Type::Number))]),
        nesting: Nesting::List,
    };
    let attribute = Attribute { ty: AttributeKind::Nested(Arc::new(object)), ..Attribute::of_type(Type::Dynamic) };
    let inner = Block { attributes: BTreeMap::from([("disks".into(), attribute)]), ..Block::default() };
    let host = NestedBlock { block: inner, nesting: Nesting::List, min_items: 0, max_items: 0 };
    let block = Block { block_types: BTreeMap::from([("host".into(), host)]), ..Block::default() };
    let schema = Schema { version: 0, block };
    ProviderSchema { resources: BTreeMap::from([("test_thing".into(), schema.into())]), ..ProviderSchema::default() }
}

#[tokio::test]
async fn what_protocol_5_cannot_say_is_named() {
    assert_eq!(
        failure(serve(&[5]), nested()).await,
        "the schema of test_thing cannot be used: host.disks has nested attributes, which provider protocol 5 cannot describe"
    );
}

#[test]
fn protocol_6_says_it_all() {
    let offer = Offer::of(&Empty(nested()), ProtocolVersion::V6).unwrap();
    let told =
        crate::wire::convert::decode_schema(ProtocolVersion::V6, offer.schemas.resource_schemas["test_thing"].clone());
    assert_eq!(told.unwrap(), **nested().resources["test_thing"].get().unwrap());
}

/// What was printed so far.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Printed {
    /// What stands between two markers, once it is there.
    async fn between(&self, before: &str, after: &str) -> String {
        loop {
            let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
            if let Some((_, rest)) = text.split_once(before)
                && let Some((found, _)) = rest.split_once(after)
            {
                return found.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn a_plugin_by_itself_tells_where_it_is_and_is_left_alone() {
    let printed = Printed::default();
    let mut out = printed.clone();
    let mut serve = Serve::new("example.com/test/empty", Surroundings::default());
    serve.debug = true;
    let served = tokio::spawn(async move { serve.run(provider(ProviderSchema::default()), &mut out).await });
    let json = printed.between("TF_REATTACH_PROVIDERS='", "'").await;
    let all = Reattach::parse(&json, Settings::default()).unwrap();
    let connection = all["example.com/test/empty"].connect().await.unwrap();
    assert_eq!(connection.protocol, ProtocolVersion::V6);
    connection.end().await;
    assert!(!served.is_finished());
    // It is not dead, only nobody's: a second host finds it.
    all["example.com/test/empty"].connect().await.unwrap();
    served.abort();
}
