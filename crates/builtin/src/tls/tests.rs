//! The `tls` provider, its results judged by OpenSSL and OpenSSH where these are there.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use groma_provider::api::Outcome;
use serde_json::json;

use crate::drive::{Driver, Kept, has_program};
use crate::kit::outside::{Clock, Outside};

struct Later(u64);

#[async_trait]
impl Clock for Later {
    #[expect(clippy::disallowed_methods, reason = "certificates are judged by programs that know the time")]
    fn now(&self) -> SystemTime {
        SystemTime::now() + Duration::from_secs(self.0 * 3600)
    }

    async fn sleep(&self, _: Duration) {}
}

fn driver_in(hours: u64) -> Driver {
    let outside = Outside { clock: Arc::new(Later(hours)), ..Outside::system(".") };
    Driver::new((super::BUILTIN.make)(&outside))
}

fn driver() -> Driver {
    driver_in(0)
}

/// Runs OpenSSL with something to read. None if there is no OpenSSL.
fn openssl(arguments: &[&str], input: &str) -> Option<String> {
    if !has_program("openssl") {
        return None;
    }
    let mut child = Command::new("openssl")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Runs ssh-keygen on a file with that text. None if there is no ssh-keygen.
fn ssh_keygen(arguments: &[&str], text: &str) -> Option<String> {
    if !has_program("ssh-keygen") {
        return None;
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
    let output = Command::new("ssh-keygen").args(arguments).arg("-f").arg(file.path()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

fn key_config(kind: &str) -> serde_json::Value {
    match kind {
        "RSA" => json!({"algorithm": "RSA", "rsa_bits": 1024}),
        "ED25519" => json!({"algorithm": "ED25519"}),
        curve => json!({"algorithm": "ECDSA", "ecdsa_curve": curve}),
    }
}

const KINDS: [&str; 6] = ["RSA", "ED25519", "P224", "P256", "P384", "P521"];

#[tokio::test]
async fn every_kind_of_key_is_what_other_programs_read() {
    let driver = driver();
    for kind in KINDS {
        let key = driver.create("tls_private_key", key_config(kind)).await;
        for form in ["private_key_pem", "private_key_pem_pkcs8"] {
            if let Some(public) = openssl(&["pkey", "-pubout"], &key.text(form)) {
                assert_eq!(public, key.text("public_key_pem"), "{kind} {form}");
            }
            let read = driver.data("tls_public_key", json!({"private_key_pem": key.text(form)})).await;
            assert_eq!(read.text("public_key_openssh"), key.text("public_key_openssh"));
            assert_eq!(read.text("id"), key.text("id"));
        }
        assert_eq!(key.text("id").len(), 40);
        if kind == "P224" {
            assert_eq!(key.text("private_key_openssh"), "");
            assert_eq!(key.text("public_key_openssh"), "");
            assert_eq!(key.text("public_key_fingerprint_md5"), "");
            continue;
        }
        let openssh = key.text("private_key_openssh");
        if let Some(line) = ssh_keygen(&["-y"], &openssh) {
            assert_eq!(line.trim(), key.text("public_key_openssh").trim(), "{kind}");
        }
        for (hash, prefix) in [("md5", "MD5:"), ("sha256", "")] {
            if let Some(shown) = ssh_keygen(&["-l", "-E", hash], &key.text("public_key_openssh")) {
                let fingerprint = format!("{prefix}{}", key.text(&format!("public_key_fingerprint_{hash}")));
                assert_eq!(shown.split(' ').nth(1), Some(fingerprint.as_str()), "{kind}");
            }
        }
        let read = driver.data("tls_public_key", json!({"private_key_openssh": openssh})).await;
        assert_eq!(read.text("public_key_pem"), key.text("public_key_pem"), "{kind}");
    }
}

#[tokio::test]
async fn keys_of_other_programs_are_read() {
    if !has_program("openssl") {
        return;
    }
    let driver = driver();
    let rsa = openssl(&["genrsa", "-traditional", "2048"], "").unwrap();
    let pkcs8 = openssl(&["genpkey", "-algorithm", "ed25519"], "").unwrap();
    let ec = openssl(&["ecparam", "-genkey", "-noout", "-name", "secp384r1"], "").unwrap();
    let with_parameters = openssl(&["ecparam", "-genkey", "-name", "prime256v1"], "").unwrap();
    let ec_only = with_parameters.split_inclusive("-----END EC PARAMETERS-----\n").last().unwrap().to_owned();
    for (pem, algorithm) in [(rsa, "RSA"), (pkcs8, "ED25519"), (ec, "ECDSA"), (ec_only, "ECDSA")] {
        let read = driver.data("tls_public_key", json!({"private_key_pem": pem})).await;
        assert_eq!(read.text("algorithm"), algorithm);
        assert_eq!(read.text("public_key_pem"), openssl(&["pkey", "-pubout"], &pem).unwrap());
    }
}

#[tokio::test]
async fn what_is_no_key_is_refused_with_the_reason() {
    let driver = driver();
    for (pem, expected) in [
        ("nonsense", "failed to decode PEM block"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "unable to determine parser"),
        ("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n", "failed to parse private key given"),
        ("-----BEGIN FOO-----\nAAAA\n-----END FOO-----\n", "unsupported PEM preamble/type: FOO"),
    ] {
        let response = driver.try_data("tls_public_key", json!({"private_key_pem": pem})).await;
        let first = response.diagnostics.iter().next().unwrap();
        assert_eq!(first.summary, "Unable to parse private key");
        assert!(first.detail.contains(expected), "{}", first.detail);
    }
    let both = driver.try_data("tls_public_key", json!({})).await;
    assert_eq!(both.diagnostics.len(), 2);
    let expected =
        "No attribute specified when one (and only one) of [private_key_pem,private_key_openssh] is required";
    assert_eq!(both.diagnostics.iter().next().unwrap().detail, expected);
}

#[tokio::test]
async fn ephemeral_keys_are_keys() {
    let driver = driver();
    let key = driver.open("tls_private_key", json!({"algorithm": "ECDSA"})).await;
    assert_eq!(key.text("ecdsa_curve"), "P224");
    let public = driver.open("tls_public_key", json!({"private_key_pem": key.text("private_key_pem")})).await;
    assert_eq!(public.text("public_key_pem"), key.text("public_key_pem"));
}

#[tokio::test]
async fn keys_of_the_first_schema_get_the_newer_formats() {
    let driver = driver();
    let key = driver.create("tls_private_key", key_config("P256")).await;
    let old = json!({
        "algorithm": "ECDSA", "ecdsa_curve": "P256", "rsa_bits": 2048,
        "id": key.text("id"),
        "private_key_pem": key.text("private_key_pem"),
        "public_key_pem": key.text("public_key_pem"),
        "public_key_openssh": key.text("public_key_openssh"),
        "public_key_fingerprint_md5": key.text("public_key_fingerprint_md5"),
    });
    let upgraded = driver.upgrade("tls_private_key", 0, old).await.unwrap();
    for name in ["id", "private_key_pem_pkcs8", "public_key_fingerprint_sha256", "public_key_openssh", "rsa_bits"] {
        assert_eq!(upgraded.get(name), key.get(name), "{name}");
    }
    assert!(upgraded.text("private_key_openssh").starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\n"));
    assert!(driver.is_settled("tls_private_key", &upgraded, key_config("P256")).await);
    let broken = driver.upgrade("tls_private_key", 0, json!({"private_key_pem": "x"})).await.unwrap_err();
    assert_eq!(broken.iter().next().unwrap().summary, "Unable to parse key from PEM");
}

async fn key(driver: &Driver, kind: &str) -> Kept {
    driver.create("tls_private_key", key_config(kind)).await
}

fn authority_config(key: &Kept) -> serde_json::Value {
    json!({
        "private_key_pem": key.text("private_key_pem"),
        "subject": [{"common_name": "Groma Root", "organization": "Acme, Inc", "country": "DE"}],
        "validity_period_hours": 10,
        "allowed_uses": ["cert_signing", "crl_signing", "digital_signature"],
        "is_ca_certificate": true,
        "max_path_length": 0,
        "set_authority_key_id": true,
    })
}

#[tokio::test]
async fn a_chain_of_certificates_is_valid() {
    let driver = driver();
    for kind in KINDS {
        let (root_key, leaf_key) = (key(&driver, kind).await, key(&driver, "P256").await);
        let root = driver.create("tls_self_signed_cert", authority_config(&root_key)).await;
        let request = driver
            .create(
                "tls_cert_request",
                json!({
                    "private_key_pem": leaf_key.text("private_key_pem"),
                    "subject": [{
                        "common_name": "ünïcode.example",
                        "street_address": ["2 Z St", "1 A St"],
                        "email_address": "ops@example.com",
                        "serial_number": "7",
                    }],
                    "dns_names": ["example.com", "*.example.com"],
                    "ip_addresses": ["127.0.0.1", "::1"],
                    "uris": ["spiffe://acme/ns/x"],
                }),
            )
            .await;
        let leaf = driver
            .create(
                "tls_locally_signed_cert",
                json!({
                    "cert_request_pem": request.text("cert_request_pem"),
                    "ca_cert_pem": root.text("cert_pem"),
                    "ca_private_key_pem": root_key.text("private_key_pem"),
                    "validity_period_hours": 5,
                    "allowed_uses": ["key_encipherment", "server_auth", "client_auth", "any_extended"],
                    "set_subject_key_id": true,
                }),
            )
            .await;
        judge_chain(kind, &root, &request, &leaf);
        assert_eq!(leaf.text("ca_key_algorithm"), if kind.starts_with('P') { "ECDSA" } else { kind });
        assert_eq!(leaf.get("max_path_length"), groma_model::value::Value::null(groma_model::ty::Type::Number));
    }
}

fn judge_chain(kind: &str, root: &Kept, request: &Kept, leaf: &Kept) {
    let Some(shown) = openssl(&["x509", "-noout", "-text"], &leaf.text("cert_pem")) else { return };
    for expected in [
        "DNS:example.com, DNS:*.example.com, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, URI:spiffe://acme/ns/x",
        "Key Encipherment",
        "TLS Web Server Authentication, TLS Web Client Authentication, Any Extended Key Usage",
        "X509v3 Subject Key Identifier",
        "X509v3 Authority Key Identifier",
        "CA:FALSE",
        "Issuer: C = DE, O = \"Acme, Inc\", CN = Groma Root",
    ] {
        assert!(shown.contains(expected), "{kind}: {expected} is not in\n{shown}");
    }
    // The published plugin does not take the address over from the request either.
    assert!(!shown.contains("ops@example.com"));
    let shown = openssl(&["req", "-noout", "-text", "-verify"], &request.text("cert_request_pem")).unwrap();
    assert!(shown.contains("emailAddress = ops@example.com"), "{shown}");
    let shown = openssl(&["x509", "-noout", "-text"], &root.text("cert_pem")).unwrap();
    assert!(shown.contains("CA:TRUE, pathlen:0") && shown.contains("Certificate Sign, CRL Sign"), "{shown}");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("root.pem");
    std::fs::write(&file, root.text("cert_pem")).unwrap();
    let verify = ["verify", "-x509_strict", "-CAfile", file.to_str().unwrap()];
    // Strict checks do not know empty authority keys of request subjects; the chain itself must hold for every kind.
    assert!(openssl(&[&verify[..1], &verify[2..]].concat(), &leaf.text("cert_pem")).unwrap().contains("OK"), "{kind}");
}

#[tokio::test]
async fn certificates_are_read_as_the_published_plugin_reads_them() {
    let driver = driver();
    let root_key = key(&driver, "P384").await;
    let root = driver.create("tls_self_signed_cert", authority_config(&root_key)).await;
    let read = driver.data("tls_certificate", json!({"content": root.text("cert_pem")})).await.json();
    let certificate = &read["certificates"][0];
    assert_eq!(certificate["subject"], "CN=Groma Root,O=Acme\\, Inc,C=DE");
    assert_eq!(certificate["issuer"], certificate["subject"]);
    assert_eq!(certificate["signature_algorithm"], "ECDSA-SHA384");
    assert_eq!(certificate["public_key_algorithm"], "ECDSA");
    assert_eq!(certificate["serial_number"], root.text("id").as_str());
    assert_eq!(certificate["is_ca"], true);
    assert_eq!(certificate["max_path_length"], 0);
    assert_eq!(certificate["version"], 3);
    assert_eq!(certificate["cert_pem"], root.text("cert_pem").as_str());
    assert_eq!(certificate["not_before"].as_str().unwrap()[..19], root.text("validity_start_time")[..19]);
    assert_eq!(read["id"].as_str().unwrap().len(), 40);
    assert_eq!(read["verify_chain"], true);
}

/// Made by OpenSSL, with parts that are easily read wrongly.
const ODD: &str = "\
-----BEGIN CERTIFICATE-----
MIICVDCCAfugAwIBAgIFAP8AqgEwCgYIKoZIzj0EAwIwgYQxEzARBgoJkiaJk/Is
ZAEZFgNjb20xCzAJBgNVBAYTAkRFMQ8wDQYDVQQKDAbDnG7DryAxDTALBgNVBAsM
BHR3byAxDjAMBgNVBAcMBWE7YlxjMQ4wDAYDVQQDDAUgbGVhZDEUMBIGCSqGSIb3
DQEJARYFYUBiLmMxCjAIBgNVBAUTATkwIBcNMjYxMTE2MDE0OTQ4WhgPMjEyNjEw
MjMwMTQ5NDhaMIGEMRMwEQYKCZImiZPyLGQBGRYDY29tMQswCQYDVQQGEwJERTEP
MA0GA1UECgwGw5xuw68gMQ0wCwYDVQQLDAR0d28gMQ4wDAYDVQQHDAVhO2JcYzEO
MAwGA1UEAwwFIGxlYWQxFDASBgkqhkiG9w0BCQEWBWFAYi5jMQowCAYDVQQFEwE5
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMyXoqTwgBX8XxjvHvizEWm/afcJa
0Ts/JzNiy2d6fT6xWckChuKPQb9GBz3FpP0/cndm9l4CGqc48X2r5JG80KNWMFQw
HQYDVR0OBBYEFIo2ybXu+L+FGhVgcrS6zts/jY84MB8GA1UdIwQYMBaAFIo2ybXu
+L+FGhVgcrS6zts/jY84MBIGA1UdEwEB/wQIMAYBAf8CAQMwCgYIKoZIzj0EAwID
RwAwRAIgE5xYKAy7O74wk/26bQePPBllFSBIg7w8LYUaXEfqpvECIH1o6fqoie/g
2OGD4SrzUxmkhoxGUKHe2A8/HKfaSrck
-----END CERTIFICATE-----
";

/// What Go says of it, and the id that the published plugin makes of that.
#[tokio::test]
async fn odd_certificates_are_read_as_go_reads_them() {
    let read = driver().data("tls_certificate", json!({"content": ODD})).await.json();
    let certificate = &read["certificates"][0];
    let name = "SERIALNUMBER=9,CN=\\ lead,OU=two\\ ,O=Ünï\\ ,L=a\\;b\\\\c,C=DE,\
                1.2.840.113549.1.9.1=#0c056140622e63,0.9.2342.19200300.100.1.25=#1303636f6d";
    assert_eq!(certificate["subject"], name);
    assert_eq!(certificate["issuer"], name);
    assert_eq!(certificate["serial_number"], "4278233601");
    assert_eq!(certificate["max_path_length"], 3);
    assert_eq!(certificate["not_after"], "2126-10-23T01:49:48Z");
    assert_eq!(certificate["sha1_fingerprint"], "7c00775473bac62302eba0a152607ac862a14e8d");
    assert_eq!(read["id"], "259620e29d34e3567d5f14e9c620af9a9ba9851c");
}

#[tokio::test]
async fn expired_certificates_are_made_anew() {
    let (now, later) = (driver(), driver_in(8));
    let root_key = key(&now, "ED25519").await;
    let mut config = authority_config(&root_key);
    config["early_renewal_hours"] = 3.into();
    let root = now.create("tls_self_signed_cert", config.clone()).await;
    assert!(
        now.is_settled("tls_self_signed_cert", &now.read("tls_self_signed_cert", &root).await.unwrap(), config.clone())
            .await
    );

    let read = later.read("tls_self_signed_cert", &root).await.unwrap();
    assert_eq!(read.get("ready_for_renewal"), true.into());
    let plan = later.plan("tls_self_signed_cert", Some(&read), config.clone()).await;
    assert_eq!(plan.requires_replace.iter().map(ToString::to_string).collect::<Vec<_>>(), [".ready_for_renewal"]);
    let renewed = later.apply("tls_self_signed_cert", Some(&read), config.clone()).await;
    assert_ne!(renewed.text("id"), root.text("id"));
    assert_eq!(renewed.get("ready_for_renewal"), false.into());
}

#[tokio::test]
async fn secret_keys_are_used_and_not_kept() {
    let driver = driver();
    let root_key = key(&driver, "P256").await;
    let config = json!({
        "private_key_pem_wo": root_key.text("private_key_pem"),
        "private_key_pem_wo_version": 1,
        "subject": [{"common_name": "x"}],
    });
    let request = driver.create("tls_cert_request", config.clone()).await;
    assert!(request.get("private_key_pem_wo").is_null());
    assert!(driver.is_settled("tls_cert_request", &request, config.clone()).await);
    let changed = json!({
        "private_key_pem_wo": root_key.text("private_key_pem"),
        "private_key_pem_wo_version": 2,
        "subject": [{"common_name": "x"}],
    });
    let plan = driver.plan("tls_cert_request", Some(&request), changed).await;
    assert_eq!(plan.requires_replace[0].to_string(), ".private_key_pem_wo_version");
    let found = driver.validate("tls_cert_request", json!({"private_key_pem_wo": "x"})).await;
    let first = found.iter().next().unwrap();
    let expected = "These attributes must be configured together: [private_key_pem_wo,private_key_pem_wo_version]";
    assert_eq!((first.summary.as_str(), first.detail.as_str()), ("Invalid Attribute Combination", expected));
}

#[tokio::test]
async fn hashes_of_old_states_are_no_reason_for_a_new_certificate() {
    let driver = driver();
    let root_key = key(&driver, "P256").await;
    let config = json!({"private_key_pem": root_key.text("private_key_pem"), "subject": [{"common_name": "x"}]});
    let request = driver.create("tls_cert_request", config.clone()).await;
    let mut old = request.json();
    old["private_key_pem"] = "da39a3ee5e6b4b0d3255bfef95601890afd80709".into();
    let old = driver.upgrade("tls_cert_request", 0, old).await.unwrap();
    let plan = driver.plan("tls_cert_request", Some(&old), config).await;
    assert!(plan.requires_replace.is_empty());
    assert_eq!(plan.planned, request.object);
}

#[tokio::test]
async fn mistakes_are_named() {
    let driver = driver();
    let root_key = key(&driver, "P256").await;
    let mut config = authority_config(&root_key);
    config["allowed_uses"] = json!(["digital_signature", "flying"]);
    config["validity_period_hours"] = (-1).into();
    config["subject"] = json!([{}, {}]);
    let found = driver.validate("tls_self_signed_cert", config).await;
    let all: Vec<String> = found.iter().map(|diagnostic| diagnostic.detail.clone()).collect();
    assert!(
        all.iter()
            .any(|detail| detail.starts_with("Attribute allowed_uses[1] value must be one of: [\"any_extended\"")),
        "{all:?}"
    );
    assert!(all.contains(&"Attribute validity_period_hours value must be at least 0, got: -1".to_owned()), "{all:?}");
    let expected = "Attribute subject list must contain at least 0 elements and at most 1 elements, got: 2";
    assert!(all.contains(&expected.to_owned()), "{all:?}");

    let other = key(&driver, "P256").await;
    let root = driver.create("tls_self_signed_cert", authority_config(&root_key)).await;
    let request = driver.create("tls_cert_request", json!({"private_key_pem": other.text("private_key_pem")})).await;
    let config = json!({
        "cert_request_pem": request.text("cert_request_pem"),
        "ca_cert_pem": root.text("cert_pem"),
        "ca_private_key_pem": other.text("private_key_pem"),
        "validity_period_hours": 1,
        "allowed_uses": [],
    });
    let response = driver.try_apply("tls_locally_signed_cert", None, config).await;
    assert_eq!(response.outcome, Outcome::NothingMade);
    let first = response.diagnostics.iter().next().unwrap();
    assert_eq!(first.summary, "Failed to create certificate");
    assert!(first.detail.contains("doesn't match parent's PublicKey"));
}

/// A server of OpenSSL's, ended when it is dropped.
struct TlsServer(std::process::Child);

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn hosts_are_asked_for_their_certificates() {
    if !has_program("openssl") {
        return;
    }
    let driver = driver();
    let (root_key, leaf_key) = (key(&driver, "P256").await, key(&driver, "P256").await);
    let root = driver.create("tls_self_signed_cert", authority_config(&root_key)).await;
    let config = json!({"private_key_pem": leaf_key.text("private_key_pem"), "dns_names": ["localhost"], "subject": [{"common_name": "l"}]});
    let request = driver.create("tls_cert_request", config).await;
    let config = json!({
        "cert_request_pem": request.text("cert_request_pem"),
        "ca_cert_pem": root.text("cert_pem"),
        "ca_private_key_pem": root_key.text("private_key_pem"),
        "validity_period_hours": 1,
        "allowed_uses": ["digital_signature", "server_auth"],
    });
    let leaf = driver.create("tls_locally_signed_cert", config).await;
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (cert, key) = (write("leaf", leaf.text("cert_pem")), write("key", leaf_key.text("private_key_pem")));
    let chain = write("chain", root.text("cert_pem"));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let arguments = [
        "s_server",
        "-quiet",
        "-www",
        "-accept",
        &port.to_string(),
        "-cert",
        &cert,
        "-key",
        &key,
        "-cert_chain",
        &chain,
    ];
    let server = Command::new("openssl").args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let _server = TlsServer(server);
    for _ in 0..200 {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for scheme in ["https", "tls"] {
        let url = format!("{scheme}://localhost:{port}");
        let data = driver.data("tls_certificate", json!({"url": url, "verify_chain": false})).await.json();
        assert_eq!(data["certificates"][0]["cert_pem"], root.text("cert_pem").as_str());
        assert_eq!(data["certificates"][1]["cert_pem"], leaf.text("cert_pem").as_str());
        let refused = driver.try_data("tls_certificate", json!({"url": url})).await;
        assert_eq!(refused.diagnostics.iter().next().unwrap().summary, "Failed to identify fetch peer certificates");
    }
    let missing = driver.try_data("tls_certificate", json!({"url": "tls://localhost"})).await;
    assert_eq!(missing.diagnostics.iter().next().unwrap().detail, "Port missing from URL: tls://localhost");
    let scheme = driver.try_data("tls_certificate", json!({"url": "ftp://localhost"})).await;
    assert_eq!(scheme.diagnostics.iter().next().unwrap().summary, "Invalid URL scheme");
}

#[tokio::test]
async fn proxies_are_configured_in_one_way() {
    let driver = driver();
    let schema = driver.0.schema().provider.get().unwrap().clone();
    let found = async |proxy: serde_json::Value| {
        let text = json!({"proxy": [proxy]}).to_string();
        let config = groma_model::codec::json::decode(&text, &schema.block.implied_type()).unwrap();
        let found = driver.0.validate_provider(config).await.unwrap();
        found.iter().map(|diagnostic| diagnostic.detail.clone()).collect::<Vec<_>>()
    };
    assert!(found(json!({"url": "http://proxy:3128", "username": "u", "password": "p"})).await.is_empty());
    assert!(found(json!({"from_env": false})).await.is_empty());
    let detail = "Attribute \"proxy[0].url\" must be specified when \"proxy[0].username\" is specified";
    assert_eq!(found(json!({"username": "u"})).await, [detail]);
    assert_eq!(found(json!({"from_env": true, "url": "http://x"})).await.len(), 2);
    let detail = "URL \"ftp://x\" expected to use scheme from [\"http\" \"https\" \"socks5\"], got: \"ftp\"";
    assert_eq!(found(json!({"url": "ftp://x"})).await, [detail]);
}
