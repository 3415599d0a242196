//! The built-in `tls` provider and the published plugin 4.0.4, the newest that can be built from the module proxy, asked the
//! same questions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use groma_builtin::Outside;
use groma_interchange::{Driven, Planned};
use groma_model::path::Path;
use groma_model::schema::{Attribute, Block};
use groma_model::text::Str;
use groma_model::value::Value;
use serde_json::{Value as Json, json};

const TYPES: [&str; 4] = ["tls_cert_request", "tls_locally_signed_cert", "tls_private_key", "tls_self_signed_cert"];

async fn both() -> (Driven, Driven) {
    let ours = Driven::builtin("tls", &Outside::system(".")).await;
    (ours, Driven::plugin("GROMA_PROVIDER_TLS_CURRENT").await)
}

/// Checks that one schema has all that another has, with the same types and flags. What newer versions added is left
/// aside: attributes, texts, and that a key may now be given in another way.
fn has_all_of(ours: &Block, theirs: &Block, of: &str) {
    for (name, theirs) in &theirs.attributes {
        let ours = &ours.attributes.get(name).unwrap_or_else(|| panic!("{of} has no {name}"));
        let flags = |attribute: &Attribute| {
            let given = attribute.required || attribute.optional;
            (attribute.ty.clone(), given, attribute.computed, attribute.sensitive, attribute.deprecated)
        };
        // Certificates tell more today.
        if of != "tls_certificate" || name.as_str() != "certificates" {
            assert_eq!(flags(ours), flags(theirs), "{of}.{name}");
        }
    }
    for (name, theirs) in &theirs.block_types {
        let ours = &ours.block_types.get(name).unwrap_or_else(|| panic!("{of} has no {name}"));
        assert_eq!(
            (ours.nesting, ours.min_items, ours.max_items),
            (theirs.nesting, theirs.min_items, theirs.max_items)
        );
        has_all_of(&ours.block, &theirs.block, &format!("{of}.{name}"));
    }
}

fn key(kind: &str) -> Json {
    match kind {
        "RSA" | "ED25519" => json!({"algorithm": kind}),
        curve => json!({"algorithm": "ECDSA", "ecdsa_curve": curve}),
    }
}

/// Configurations of every type that is made with a key.
fn configs(key: &Json, root: Option<(&Json, &Json)>) -> Vec<(&'static str, Json)> {
    let subject = json!([{
        "common_name": "example.com", "organization": "ACME, Inc", "country": "DE", "street_address": ["a", "b"],
    }]);
    let request = json!({
        "private_key_pem": key["private_key_pem"], "subject": subject, "dns_names": ["example.com"],
        "ip_addresses": ["127.0.0.1", "::1"], "uris": ["spiffe://a/b"],
    });
    let mut authority = request.clone();
    authority["validity_period_hours"] = 12.into();
    authority["is_ca_certificate"] = true.into();
    authority["set_subject_key_id"] = true.into();
    authority["allowed_uses"] = json!(["cert_signing", "server_auth"]);
    let bare = json!({
        "private_key_pem": key["private_key_pem"], "validity_period_hours": 5, "early_renewal_hours": 1, "allowed_uses": [],
    });
    let mut configs =
        vec![("tls_cert_request", request), ("tls_self_signed_cert", authority), ("tls_self_signed_cert", bare)];
    if let Some((request, certificate)) = root {
        let leaf = json!({
            "cert_request_pem": request["cert_request_pem"], "ca_private_key_pem": key["private_key_pem"],
            "ca_cert_pem": certificate["cert_pem"], "validity_period_hours": 6,
            "allowed_uses": ["key_encipherment", "client_auth"],
        });
        configs.push(("tls_locally_signed_cert", leaf));
    }
    configs
}

#[tokio::test]
async fn schemas_have_all_of_theirs() {
    let (ours, theirs) = both().await;
    assert_eq!(theirs.0.schema().metadata().resources, TYPES.map(Str::from));
    for ty in TYPES {
        assert_eq!(ours.schema(ty).version, theirs.schema(ty).version, "{ty}");
        has_all_of(&ours.schema(ty).block, &theirs.schema(ty).block, ty);
    }
    let (ours, theirs) = (ours.0.schema(), theirs.0.schema());
    has_all_of(&ours.provider.get().unwrap().block, &theirs.provider.get().unwrap().block, "tls");
    for (name, schema) in &theirs.data_sources {
        has_all_of(&ours.data_sources[name].get().unwrap().block, &schema.get().unwrap().block, name);
    }
}

#[tokio::test]
async fn objects_go_back_and_forth() {
    let (ours, theirs) = both().await;
    for kind in ["RSA", "P224", "P256", "P384", "P521", "ED25519"] {
        for (maker, reader) in [(&ours, &theirs), (&theirs, &ours)] {
            let version = ours.schema("tls_private_key").version;
            let key = maker.create("tls_private_key", &self::key(kind)).await.json();
            reader.agrees("tls_private_key", version, &key, &self::key(kind)).await;
            let mut made = Vec::new();
            for (ty, given) in configs(&key, None) {
                let object = maker.create(ty, &given).await.json();
                reader.agrees(ty, ours.schema(ty).version, &object, &given).await;
                made.push(object);
            }
            let (ty, given) = configs(&key, Some((&made[0], &made[1]))).pop().unwrap();
            let leaf = maker.create(ty, &given).await.json();
            reader.agrees(ty, ours.schema(ty).version, &leaf, &given).await;
        }
    }
}

/// Of a plan, what both versions know.
fn common(plan: &Planned, theirs: &Planned) -> (Vec<(Str, Value)>, Vec<Path>, Vec<String>) {
    let known = theirs.object.as_entries().unwrap();
    let parts =
        plan.object.as_entries().unwrap().iter().filter(|(name, _)| name.as_str() != "subject" && known.contains(name));
    (parts.map(|(name, value)| (name.clone(), value.clone())).collect(), plan.replaces.clone(), plan.problems.clone())
}

#[tokio::test]
async fn plans_are_equal() {
    let (ours, theirs) = both().await;
    let first = theirs.create("tls_private_key", &key("P256")).await;
    for kind in ["RSA", "P224", "P256", "ED25519"] {
        for prior in [None, Some(first.json())] {
            let mut plans = Vec::new();
            for side in [&ours, &theirs] {
                let kept = match &prior {
                    Some(stored) => Some(side.take_over("tls_private_key", 1, stored).await),
                    None => None,
                };
                plans.push(side.plan("tls_private_key", kept.as_ref(), &key(kind)).await);
            }
            assert_eq!(common(&plans[0], &plans[1]), common(&plans[1], &plans[1]), "{kind}");
        }
    }
    let configs = configs(&first.json(), None);
    for (ty, given) in &configs {
        let stored = theirs.create(ty, given).await.json();
        for (_, other) in configs.iter().filter(|(other, _)| other == ty) {
            for prior in [false, true] {
                let mut plans = Vec::new();
                for side in [&ours, &theirs] {
                    let kept = side.take_over(ty, side.schema(ty).version, &stored).await;
                    plans.push(side.plan(ty, prior.then_some(&kept), other).await);
                }
                assert_eq!(common(&plans[0], &plans[1]), common(&plans[1], &plans[1]), "{ty}");
            }
        }
    }
}
