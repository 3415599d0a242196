//! Faults: each has a defined end that names the thing, and leaves nothing half installed.

use std::time::Duration;

use groma_fetch::http::ClientSettings;
use serde_json::{Value, json};

use super::super::testing::{Release, Reply, TestKey, zip_of};
use super::super::*;
use super::assert_nothing_installed;
use super::world::{World, client_settings};

const SUMS: &str = "terraform-provider-thing_1.0.0_SHA256SUMS";
const PLATFORM: &str = "linux_amd64";

/// A world with one version of one provider, about which the registry says something else.
fn world_with(change: impl FnOnce(&World, &Release, &mut Value)) -> (World, Release) {
    let world = World::new();
    let release = world.publish("thing", "1.0.0");
    let mut answer = world.registry.download_json(&release, PLATFORM, SUMS);
    change(&world, &release, &mut answer);
    world.registry.server().set(&release.download_path(PLATFORM), Reply::json(&answer));
    (world, release)
}

async fn assert_fails(world: &World, summary: &str, parts: &[&str]) {
    let (actual, detail) = world.failure(&[("acme/thing", "")]).await;
    assert_eq!(actual, summary, "{detail}");
    for part in parts {
        assert!(detail.contains(part), "{part:?} is not in: {detail}");
    }
    assert_nothing_installed(&world.target());
    assert!(world.events().iter().any(|event| matches!(event, Event::Failed { .. })));
}

#[tokio::test]
async fn a_bad_signature() {
    let (world, release) = world_with(|_, _, _| {});
    let other = TestKey::new(99).sign(b"something else");
    world.registry.server().set(
        &release.file_path(&format!("{SUMS}.sig")),
        Reply::ok("application/octet-stream", world.registry.key().sign(b"something else")),
    );
    let parts = ["acme/thing v1.0.0", "not signed with a valid signing key", "invalid signature"];
    assert_fails(&world, "Failed to install provider", &parts).await;

    world
        .registry
        .server()
        .set(&release.file_path(&format!("{SUMS}.sig")), Reply::ok("application/octet-stream", other));
    let parts = ["not signed with a valid signing key", "authentication signature from unknown issuer"];
    assert_fails(&world, "Failed to install provider", &parts).await;

    world.registry.server().set(&release.file_path(&format!("{SUMS}.sig")), Reply::ok("text/html", b"<html>".to_vec()));
    assert_fails(&world, "Failed to install provider", &["not signed with a valid signing key"]).await;
}

#[tokio::test]
async fn no_keys_where_they_are_needed_and_where_not() {
    let (world, _) = world_with(|_, _, answer| answer["signing_keys"] = json!({ "gpg_public_keys": [] }));
    assert_fails(&world, "Failed to install provider", &["authentication signature from unknown issuer"]).await;

    let mut world = World::for_host("registry.opentofu.org");
    let release = Release { with_keys: false, ..Release::new("thing", "1.0.0") };
    world.registry.publish(&release, "x");
    let asked = [("registry.opentofu.org/acme/thing", "")];
    let installed = world.install(&asked).await.unwrap();
    assert_eq!(world.fetched_with_trust(), [Trust::SigningSkipped]);
    let lock = installed.locks.iter().next().unwrap();
    assert_eq!(lock.hashes().len(), 3, "what the registry says is locked, signed or not");

    world.settings.signatures.enforce = true;
    world.settings.target = world.path("strict");
    let (_, detail) = world.failure(&asked).await;
    assert!(detail.contains("authentication signature from unknown issuer"), "{detail}");
}

#[tokio::test]
async fn a_wrong_hash() {
    let (world, release) = world_with(|_, _, _| {});
    let other = zip_of(&[("terraform-provider-thing", b"evil")]);
    let path = release.file_path(&release.archive_name(PLATFORM));
    world.registry.server().set(&path, Reply::ok("application/zip", other.clone()));
    let expected = super::world::zh(&release.archive(PLATFORM));
    let actual = super::world::zh(&other);
    let parts = ["archive has incorrect checksum", expected.as_str(), actual.as_str()];
    assert_fails(&world, "Failed to install provider", &parts).await;
}

#[tokio::test]
async fn a_list_of_checksums_that_says_something_else() {
    let (world, release) = world_with(|_, _, answer| answer["shasum"] = json!("aa".repeat(32)));
    let parts = ["checksum list has unexpected SHA-256 hash"];
    assert_fails(&world, "Failed to install provider", &parts).await;

    let list = format!("{}  other.zip\n", "aa".repeat(32));
    world.registry.server().set(&release.file_path(SUMS), Reply::ok("text/plain", list.into_bytes()));
    assert_fails(&world, "Failed to install provider", &["checksum list has no SHA-256 hash for"]).await;
}

#[tokio::test]
async fn what_a_registry_says_about_packages_must_hold() {
    let hash = |release: &Release| super::world::zh(&release.archive(PLATFORM));
    let size = |release: &Release| release.archive(PLATFORM).len();
    let (world, _) = world_with(|_, release, answer| {
        answer["packages"] = json!({ PLATFORM: { "hashes": [hash(release)], "package_size": 1 } });
    });
    assert_fails(&world, "Failed to install provider", &["indicates a package of size 1, but received"]).await;
    let (world, _) = world_with(|_, release, answer| {
        answer["packages"] = json!({ "linux_arm64": { "hashes": [hash(release)], "package_size": size(release) } });
    });
    assert_fails(&world, "Failed to install provider", &["missing package with platform \"linux_amd64\""]).await;
    let (world, _) = world_with(|_, release, answer| {
        answer["packages"] = json!({
            PLATFORM: { "hashes": [hash(release), "h1:mine"], "package_size": size(release) },
            "linux_arm64": { "hashes": ["h1:other", "zh:other", "h9:new"], "package_size": 5 },
        });
    });
    let installed = world.install(&[("acme/thing", "")]).await.unwrap();
    let texts: Vec<&str> = installed.locks.iter().next().unwrap().hashes().iter().map(Hash::as_str).collect();
    assert!(!texts.contains(&"h1:other"), "hashes that nobody signed are not locked for this registry: {texts:?}");
}

#[tokio::test]
async fn unknown_protocols_name_the_versions_that_would_do() {
    let world = World::new();
    let old = |version: &str, protocol: &str| Release {
        protocols: vec![protocol.to_owned()],
        ..Release::new("thing", version)
    };
    for release in [old("1.0.0", "5.0"), old("1.1.0", "5.1"), old("2.0.0", "7.0")] {
        world.registry.publish(&release, "example.com");
    }
    let parts = ["v2.0.0", "downgrade to v1.1.0 or earlier", "version = \"1.1.0\"", "1.1.0, 1.0.0"];
    assert_fails(&world, "Incompatible provider version", &parts).await;

    let world = World::new();
    world.registry.publish(&old("1.0.0", "4.0"), "example.com");
    assert_fails(&world, "Incompatible provider version", &["No compatible versions of provider"]).await;
}

#[tokio::test]
async fn a_missing_platform_names_those_that_there_are() {
    let mut world = World::new();
    world.publish("thing", "1.0.0");
    world.settings.platform = "plan9_386".parse().unwrap();
    let parts = ["plan9_386", "There are packages for: linux_amd64, linux_arm64"];
    assert_fails(&world, "Incompatible provider version", &parts).await;
}

#[tokio::test]
async fn a_registry_that_does_not_know_or_does_not_answer() {
    let world = World::new();
    let summary = "Failed to query available provider packages";
    assert_fails(&world, summary, &["provider registry example.com does not have a provider named"]).await;

    let release = world.publish("thing", "1.0.0");
    for status in [500, 429, 503] {
        world.registry.server().set(&release.versions_path(), Reply::status(status));
        let parts = ["could not query provider registry for example.com/acme/thing", &status.to_string(), "/versions"];
        assert_fails(&world, "Failed to resolve provider packages", &parts).await;
    }
    world.registry.server().set(&release.versions_path(), Reply::status(403));
    let parts = ["host example.com requires authentication credentials"];
    assert_fails(&world, "Failed to resolve provider packages", &parts).await;
    world.registry.server().set(&release.versions_path(), Reply::ok("text/html", b"<html>login</html>".to_vec()));
    assert_fails(&world, "Failed to resolve provider packages", &["cannot be read"]).await;
}

#[tokio::test]
async fn errors_that_pass_are_outlived() {
    let world = World::new();
    let release = world.publish("thing", "1.0.0");
    let server = world.registry.server();
    let archive = release.file_path(&release.archive_name(PLATFORM));
    server.set(&release.versions_path(), Reply::status(429).times(1));
    server.set(&release.download_path(PLATFORM), Reply::status(500).times(1));
    server.set(&archive, Reply::ok("application/zip", release.archive(PLATFORM)).cut_at(10).times(1));
    server.set(&archive, Reply::status(502).times(1));
    world.install(&[("acme/thing", "")]).await.unwrap();
    assert_eq!(server.count(".zip"), 3);
}

#[tokio::test]
async fn an_archive_that_does_not_arrive() {
    let (world, release) = world_with(|_, _, _| {});
    let archive = release.file_path(&release.archive_name(PLATFORM));
    for status in [404, 500, 429] {
        world.registry.server().set(&archive, Reply::status(status));
        let parts = ["acme/thing v1.0.0", &archive, &status.to_string()];
        assert_fails(&world, "Failed to install provider", &parts).await;
    }
    let cut = Reply::ok("application/zip", release.archive(PLATFORM)).cut_at(100);
    world.registry.server().set(&archive, cut);
    assert_fails(&world, "Failed to install provider", &[&archive]).await;
}

#[tokio::test]
async fn a_slow_server_is_given_up() {
    let mut world = World::new();
    let release = world.publish("thing", "1.0.0");
    let quick = ClientSettings { request_timeout: Duration::from_millis(200), retries: 0, ..client_settings() };
    world.client = groma_fetch::http::Client::new(quick);
    let late = Reply::json(&json!({ "versions": [] })).after(Duration::from_secs(3));
    world.registry.server().set(&release.versions_path(), late);
    assert_fails(&world, "Failed to resolve provider packages", &["no answer from"]).await;
}

/// Publishes an archive with this content, properly signed.
fn world_with_archive(archive: &[u8]) -> World {
    use sha2::Digest;
    let digest = hex::encode(sha2::Sha256::digest(archive));
    let (world, release) = world_with(|_, _, answer| answer["shasum"] = json!(digest));
    let server = world.registry.server();
    let list = format!("{digest}  {}\n", release.archive_name(PLATFORM));
    let signature = world.registry.key().sign(list.as_bytes());
    server.set(&release.file_path(SUMS), Reply::ok("text/plain", list.into_bytes()));
    server.set(&release.file_path(&format!("{SUMS}.sig")), Reply::ok("application/octet-stream", signature));
    let path = release.file_path(&release.archive_name(PLATFORM));
    server.set(&path, Reply::ok("application/zip", archive.to_vec()));
    world
}

#[tokio::test]
async fn archives_that_are_none() {
    let whole = Release::new("thing", "1.0.0").archive(PLATFORM);
    for archive in [&b"no archive at all"[..], &whole[..whole.len() / 2], b""] {
        let world = world_with_archive(archive);
        assert_fails(&world, "Failed to install provider", &["cannot unpack", ".zip"]).await;
    }
}

#[tokio::test]
async fn hostile_archives_write_nothing() {
    let world = world_with_archive(&zip_of(&[("terraform-provider-thing", b"x"), ("../../escaped", b"evil")]));
    assert_fails(&world, "Failed to install provider", &["cannot unpack", "escaped"]).await;
    assert!(!world.path("escaped").exists() && !world.target().join("escaped").exists());
}

#[tokio::test]
async fn an_archive_without_a_program() {
    let world = world_with_archive(&zip_of(&[("README.md", b"x"), ("terraform-provider-thingy", b"x")]));
    let parts = ["provider binary not found", "terraform-provider-thing"];
    assert_fails(&world, "Failed to install provider", &parts).await;
}

#[tokio::test]
async fn answers_that_contradict_the_question() {
    let (world, _) = world_with(|_, _, answer| answer["arch"] = json!("arm64"));
    assert_fails(&world, "Failed to install provider", &["has incorrect target linux_arm64"]).await;
    for (field, value, expected) in [
        ("download_url", "file:///etc/passwd", "must use http or https scheme"),
        ("shasums_url", "", "includes no SHASUMS URL"),
        ("shasum", "abc", "includes invalid SHA256 hash \"abc\""),
    ] {
        let (world, _) = world_with(|_, _, answer| answer[field] = json!(value));
        assert_fails(&world, "Failed to install provider", &[expected]).await;
    }
}

#[tokio::test]
async fn a_package_that_was_replaced_after_it_was_locked() {
    let mut world = World::new();
    world.publish("thing", "1.0.0");
    world.locks = world.install(&[("acme/thing", "")]).await.unwrap().locks;
    world.settings.target = world.path("elsewhere");
    let other = Release { program: b"other".to_vec(), ..Release::new("thing", "1.0.0") };
    world.registry.publish(&other, "example.com");
    let (summary, detail) = world.failure(&[("acme/thing", "")]).await;
    assert_eq!(summary, "Failed to install provider");
    assert!(detail.contains("doesn't match any of the checksums previously recorded"), "{detail}");
    assert_nothing_installed(&world.path("elsewhere"));
}

#[tokio::test]
async fn one_failure_does_not_hide_another() {
    let world = World::new();
    let error = world.install(&[("acme/a", ""), ("acme/b", "")]).await.unwrap_err();
    assert_eq!(error.diagnostics().len(), 2);
    let words = error.to_string();
    assert!(words.contains("- example.com/acme/a:") && words.contains("- example.com/acme/b:"), "{words}");
}
