//! The built-in `tls` provider against an old published plugin: its objects are taken over, and both can read what the
//! other wrote.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use groma_builtin::Outside;
use groma_interchange::opentofu::Workspace;
use groma_interchange::{Driven, Kept};
use groma_model::value::Value;
use serde_json::{Value as Json, json};

const OLD: &str = "GROMA_PROVIDER_TLS";

async fn both() -> (Driven, Driven) {
    (Driven::builtin("tls", &Outside::system(".")).await, Driven::plugin(OLD).await)
}

const KINDS: [&str; 5] = ["RSA", "P224", "P256", "P384", "P521"];

fn key_config(kind: &str) -> Json {
    match kind {
        "RSA" => json!({"algorithm": "RSA"}),
        curve => json!({"algorithm": "ECDSA", "ecdsa_curve": curve}),
    }
}

fn request(key: &Json, old: bool) -> Json {
    let mut config = json!({
        "private_key_pem": key["private_key_pem"],
        "subject": [{"common_name": "example.com", "organization": "ACME, Inc", "country": "DE"}],
        "dns_names": ["example.com", "www.example.com"],
        "ip_addresses": ["127.0.0.1"],
    });
    if old {
        config["key_algorithm"] = key["algorithm"].clone();
    }
    config
}

fn authority(key: &Json, old: bool) -> Json {
    let mut config = request(key, old);
    config["validity_period_hours"] = 12.into();
    config["early_renewal_hours"] = 1.into();
    config["is_ca_certificate"] = true.into();
    config["allowed_uses"] = json!(["cert_signing", "digital_signature"]);
    config
}

fn leaf(request: &Json, key: &Json, root: &Json, old: bool) -> Json {
    let mut config = json!({
        "cert_request_pem": request["cert_request_pem"],
        "ca_private_key_pem": key["private_key_pem"],
        "ca_cert_pem": root["cert_pem"],
        "validity_period_hours": 6,
        "allowed_uses": ["key_encipherment", "server_auth"],
    });
    if old {
        config["ca_key_algorithm"] = key["algorithm"].clone();
    }
    config
}

#[tokio::test]
async fn old_keys_are_taken_over_without_a_change() {
    let (ours, old) = both().await;
    for kind in KINDS {
        let given = key_config(kind);
        let stored = old.create("tls_private_key", &given).await.json();
        let kept = ours.agrees("tls_private_key", 0, &stored, &given).await.json();
        for name in ["id", "private_key_pem", "public_key_pem", "public_key_openssh", "public_key_fingerprint_md5"] {
            assert_eq!(kept[name], stored[name], "{kind} {name}");
        }
        // What Go read and what we read of one key is the same, byte for byte.
        let pem = json!({"private_key_pem": stored["private_key_pem"]});
        let (mine, theirs) = (ours.data("tls_public_key", &pem).await, old.data("tls_public_key", &pem).await);
        assert!(mine.1.is_empty() && theirs.1.is_empty(), "{mine:?} {theirs:?}");
        for name in ["algorithm", "public_key_pem", "public_key_openssh", "public_key_fingerprint_md5"] {
            assert_eq!(mine.0[name], theirs.0[name], "{kind} {name}");
        }
    }
}

#[tokio::test]
async fn go_reads_our_keys() {
    let (ours, old) = both().await;
    for kind in KINDS {
        let key = ours.create("tls_private_key", &key_config(kind)).await.json();
        let (theirs, told) = old.data("tls_public_key", &json!({"private_key_pem": key["private_key_pem"]})).await;
        assert!(told.is_empty(), "{kind}: {told:?}");
        for name in ["public_key_pem", "public_key_openssh", "public_key_fingerprint_md5"] {
            assert_eq!(theirs[name], key[name], "{kind} {name}");
        }
    }
}

/// Old states have a hash where a key or certificate is now; nothing else may change, and nothing is issued anew.
fn assert_only_upgraded(kept: &Kept, planned: &Value, expected: &[&str]) {
    let (before, after) = (kept.object.as_entries().unwrap(), planned.as_entries().unwrap());
    let changed: Vec<&str> =
        after.iter().filter(|(name, value)| before.get(name) != Some(*value)).map(|(name, _)| name.as_str()).collect();
    assert_eq!(changed, expected);
}

#[tokio::test]
async fn old_certificates_are_kept() {
    let (ours, old) = both().await;
    for kind in ["RSA", "P384"] {
        let key = old.create("tls_private_key", &key_config(kind)).await.json();
        let request_object = old.create("tls_cert_request", &request(&key, true)).await.json();
        let root = old.create("tls_self_signed_cert", &authority(&key, true)).await.json();
        let leaf_object = old.create("tls_locally_signed_cert", &leaf(&request_object, &key, &root, true)).await.json();

        let kept = ours.take_over("tls_cert_request", 0, &request_object).await;
        let planned = ours.plan("tls_cert_request", Some(&kept), &request(&key, false)).await;
        assert!(planned.replaces.is_empty() && planned.problems.is_empty(), "{planned:?}");
        assert_only_upgraded(&kept, &planned.object, &["private_key_pem"]);

        let kept = ours.take_over("tls_self_signed_cert", 0, &root).await;
        let planned = ours.plan("tls_self_signed_cert", Some(&kept), &authority(&key, false)).await;
        assert!(planned.replaces.is_empty() && planned.problems.is_empty(), "{planned:?}");
        assert_only_upgraded(&kept, &planned.object, &["private_key_pem"]);

        let kept = ours.take_over("tls_locally_signed_cert", 0, &leaf_object).await;
        let given = leaf(&request_object, &key, &root, false);
        let planned = ours.plan("tls_locally_signed_cert", Some(&kept), &given).await;
        assert!(planned.replaces.is_empty() && planned.problems.is_empty(), "{planned:?}");
        assert_only_upgraded(&kept, &planned.object, &["ca_cert_pem", "ca_private_key_pem", "cert_request_pem"]);
    }
}

#[tokio::test]
async fn each_signs_what_the_other_asks_for() {
    let (ours, old) = both().await;
    for kind in ["RSA", "P224", "P256", "P521"] {
        let key = ours.create("tls_private_key", &key_config(kind)).await.json();
        let asked = ours.create("tls_cert_request", &request(&key, false)).await.json();
        let root = ours.create("tls_self_signed_cert", &authority(&key, false)).await.json();
        old.create("tls_locally_signed_cert", &leaf(&asked, &key, &root, true)).await;

        let asked = old.create("tls_cert_request", &request(&key, true)).await.json();
        let root = old.create("tls_self_signed_cert", &authority(&key, true)).await.json();
        let signed = ours.create("tls_locally_signed_cert", &leaf(&asked, &key, &root, false)).await.json();
        let (read, told) = ours.data("tls_certificate", &json!({"content": signed["cert_pem"]})).await;
        assert!(told.is_empty(), "{told:?}");
        assert_eq!(read["certificates"][0]["subject"], "CN=example.com,O=ACME\\, Inc,C=DE");
        assert_eq!(read["certificates"][0]["issuer"], "CN=example.com,O=ACME\\, Inc,C=DE");
    }
}

#[tokio::test]
async fn what_opentofu_made_with_the_old_plugin_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let reference = |attribute: &str| format!("${{tls_private_key.it.{attribute}}}");
    let resources = [
        ("tls_private_key", json!({"algorithm": "ECDSA", "ecdsa_curve": "P384"})),
        (
            "tls_self_signed_cert",
            json!({
                "key_algorithm": "ECDSA",
                "private_key_pem": reference("private_key_pem"),
                "subject": [{"common_name": "x"}],
                "validity_period_hours": 12,
                "allowed_uses": ["digital_signature"],
            }),
        ),
    ];
    let stored = Workspace::new(dir.path(), &resources, &[("tls", OLD)]).apply();
    let find = |ty: &str| stored.iter().find(|stored| stored.ty == ty).unwrap();
    let ours = Driven::builtin("tls", &Outside::system(".")).await;
    let key = find("tls_private_key");
    let kept = ours.agrees(&key.ty, key.version, &key.attributes, &resources[0].1).await.json();

    let certificate = find("tls_self_signed_cert");
    let old = ours.take_over(&certificate.ty, certificate.version, &certificate.attributes).await;
    let given = json!({
        "private_key_pem": kept["private_key_pem"],
        "subject": [{"common_name": "x"}],
        "validity_period_hours": 12,
        "allowed_uses": ["digital_signature"],
    });
    let planned = ours.plan("tls_self_signed_cert", Some(&old), &given).await;
    assert!(planned.replaces.is_empty() && planned.problems.is_empty(), "{planned:?}");
    assert_only_upgraded(&old, &planned.object, &["private_key_pem"]);
    let updated = ours.apply("tls_self_signed_cert", Some(&old), &given).await.json();
    ours.agrees("tls_self_signed_cert", 0, &updated, &given).await;
    assert_eq!(updated["cert_pem"], certificate.attributes["cert_pem"]);
}

#[tokio::test]
async fn requests_are_the_same_byte_for_byte() {
    let (ours, old) = both().await;
    // Signatures of RSA keys have nothing random in them.
    let key = old.create("tls_private_key", &key_config("RSA")).await.json();
    for subject in [
        json!([{"common_name": "*.example.com"}]),
        json!([{
            "common_name": "Ünïcode & Co", "organization": "ACME, Inc", "organizational_unit": "it",
            "street_address": ["2 Z St", "1 A St"], "locality": "Köln", "province": "NW", "country": "DE",
            "postal_code": "50667", "serial_number": "7",
        }]),
    ] {
        for names in
            [json!({}), json!({"dns_names": ["a", "*.b"], "ip_addresses": ["10.0.0.1", "::1", "::ffff:1.2.3.4"]})]
        {
            let mut given = names.clone();
            given["private_key_pem"] = key["private_key_pem"].clone();
            given["subject"] = subject.clone();
            let mine = ours.create("tls_cert_request", &given).await.json();
            given["key_algorithm"] = "RSA".into();
            let theirs = old.create("tls_cert_request", &given).await.json();
            assert_eq!(mine["cert_request_pem"], theirs["cert_request_pem"], "{given}");
            assert_eq!(mine["id"], theirs["id"], "{given}");
        }
    }
}
