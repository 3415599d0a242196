//! The catalogue of what is known about resource types, and the schemas of published plugins: whatever a table names must be there.
//!
//! `cargo xtask test` says where they are (`GROMA_PROVIDER_LOCAL_CURRENT`, `GROMA_PROVIDER_DOCKER`, `GROMA_PROVIDER_KUBERNETES`).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use groma_provider::api::Provider as _;
use groma_provider::wire::{Launch, PluginProvider};
use groma_rules::replace::catalogue::Catalogue;

/// Checks every resource type of a plugin that the catalogue knows, and gives back which those are.
#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
async fn checked(variable: &str) -> Vec<String> {
    let program = std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`"));
    let plugin = PluginProvider::open(&Launch::new(program), None).await.unwrap();
    let catalogue = Catalogue::shared();
    let mut types = Vec::new();
    for (ty, schema) in &plugin.schema().resources {
        if catalogue.about(ty).next().is_some() {
            let found = catalogue.check_against(ty, schema.get().unwrap());
            assert!(found.is_empty(), "{ty}: {found:?}");
            types.push(ty.to_string());
        }
    }
    types.sort();
    plugin.shutdown().await.unwrap();
    types
}

#[tokio::test]
async fn the_fields_of_local_files_are_there() {
    assert_eq!(checked("GROMA_PROVIDER_LOCAL_CURRENT").await, ["local_file", "local_sensitive_file"]);
}

#[tokio::test]
async fn the_fields_of_containers_are_there() {
    assert_eq!(checked("GROMA_PROVIDER_DOCKER").await, ["docker_container"]);
}

#[tokio::test]
async fn everything_in_a_cluster_has_a_name() {
    let types = checked("GROMA_PROVIDER_KUBERNETES").await;
    assert!(types.len() > 30 && types.contains(&"kubernetes_secret".to_owned()), "{types:?}");
}
