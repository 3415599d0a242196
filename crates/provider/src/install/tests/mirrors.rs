//! Mirrors, on the network and in directories, and several sources together.

use std::path::Path;
use std::sync::Arc;

use groma_fetch::credentials::Anonymous;
use groma_fetch::discovery::Discovery;
use groma_fetch::http::{Client, ClientSettings};
use serde_json::json;
use url::Url;

use super::super::source::{
    FilesystemMirror, Memoized, MultiSource, NetworkMirror, Patterns, Selector, Source, Unsupported, search_directory,
};
use super::super::testing::{Release, Reply, TestRegistry};
use super::super::*;
use super::assert_nothing_installed;
use super::world::{World, address, client_settings, version_of};

/// A world whose source is a network mirror with TLS.
fn mirrored(trust_all_hashes: bool) -> World {
    let mut world = World::new();
    world.registry = TestRegistry::start_tls().unwrap();
    let root = world.registry.server().certificate().unwrap().as_bytes().to_vec();
    world.client = Client::new(ClientSettings { extra_roots: vec![root], ..client_settings() });
    let discovery = Discovery::new(world.client.clone(), Arc::new(Anonymous));
    let url = Url::parse(&world.registry.mirror_url()).unwrap();
    world.source = Some(Arc::new(NetworkMirror::new(url, discovery, trust_all_hashes).unwrap()));
    world
}

#[tokio::test]
async fn a_network_mirror_gives_packages_and_hashes() {
    let world = mirrored(false);
    world.publish("thing", "1.0.0");
    let release = world.publish("thing", "1.2.0");
    let installed = world.install(&[("acme/thing", "")]).await.unwrap();
    assert_eq!(version_of(&installed, "acme/thing"), "1.2.0");
    assert_eq!(world.fetched_with_trust(), [Trust::VerifiedChecksum]);
    let hashes: Vec<String> = installed.locks.iter().next().unwrap().hashes().iter().map(Hash::to_string).collect();
    assert_eq!(hashes.len(), 2, "only what was checked here: {hashes:?}");
    assert!(hashes.contains(&super::world::zh(&release.archive("linux_amd64"))));
}

#[tokio::test]
async fn a_trusted_mirror_is_believed_about_other_platforms() {
    let world = mirrored(true);
    let release = world.publish("thing", "1.0.0");
    let asked = [("acme/thing", "")];
    let installed = world.install(&asked).await.unwrap();
    let lock = installed.locks.iter().next().unwrap();
    // The host of this address demands signatures; a mirror has none to give.
    assert_eq!(lock.hashes().len(), 2);

    let mut world = mirrored(true);
    world.host = "registry.opentofu.org".to_owned();
    world.registry.publish(&release, "registry.opentofu.org");
    let installed = world.install(&[("registry.opentofu.org/acme/thing", "")]).await.unwrap();
    assert_eq!(installed.locks.iter().next().unwrap().hashes().len(), 4);
}

#[tokio::test]
async fn faults_of_a_network_mirror() {
    let world = mirrored(false);
    let (summary, detail) = world.failure(&[("acme/thing", "")]).await;
    assert_eq!(summary, "Failed to query available provider packages");
    assert!(detail.contains("provider mirror at https://localhost:"), "{detail}");

    world.publish("thing", "1.0.0");
    let base = "/mirror/example.com/acme/thing";
    let answer = |hash: &str| {
        let url = world.registry.server().url(&Release::new("thing", "1.0.0").file_path("x.zip"));
        json!({ "archives": { "linux_amd64": { "url": url, "hashes": [hash] } } })
    };
    let other = Release::new("thing", "1.0.0").archive("linux_amd64");
    let file = Release::new("thing", "1.0.0").file_path("x.zip");
    world.registry.server().set(&file, Reply::ok("application/zip", other));
    let cases = [
        (Reply::json(&answer("h1:other")), "doesn't match the expected checksum \"h1:other\""),
        (Reply::json(&answer("h9:other")), "none of the checksum formats"),
        (Reply::json(&answer("bad")), "invalid provider hash \"bad\""),
        (
            Reply::json(&json!({ "archives": { "darwin_arm64": { "url": "x" } } })),
            "There are packages for: darwin_arm64",
        ),
        (Reply::ok("text/html", b"{}".to_vec()), "invalid Content-Type"),
        (Reply::status(404), "does not have archive index for previously-reported"),
        (Reply::status(401), "authentication credentials"),
        (Reply::status(500), "500"),
    ];
    for (reply, expected) in cases {
        world.registry.server().set(&format!("{base}/1.0.0.json"), reply);
        let (_, detail) = world.failure(&[("acme/thing", "")]).await;
        assert!(detail.contains(expected), "{expected:?} is not in: {detail}");
        assert_nothing_installed(&world.target());
    }
}

#[tokio::test]
async fn a_bomb_is_refused_before_it_is_hashed() {
    let world = mirrored(false);
    let release = world.publish("thing", "1.0.0");
    let zeros = vec![0; 80 << 20];
    let bomb = super::super::testing::zip_of(&[("terraform-provider-thing", &zeros)]);
    let path = release.file_path(&release.archive_name("linux_amd64"));
    world.registry.server().set(&path, Reply::ok("application/zip", bomb));
    let (_, detail) = world.failure(&[("acme/thing", "")]).await;
    assert!(detail.contains("unpacks to more than"), "{detail}");
    assert_nothing_installed(&world.target());
}

#[test]
fn a_network_mirror_needs_encryption() {
    let discovery = Discovery::new(Client::new(ClientSettings::default()), Arc::new(Anonymous));
    let url = Url::parse("http://example.com/").unwrap();
    assert!(NetworkMirror::new(url, discovery, false).is_err());
}

fn write_package(root: &Path, path: &str, content: &[u8]) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

#[tokio::test]
async fn directories_hold_packed_and_unpacked_packages() {
    let mut world = World::new();
    let mirror = world.path("mirror");
    let release = Release::new("thing", "1.0.0");
    let packed = format!("example.com/acme/thing/{}", release.archive_name("linux_amd64"));
    write_package(&mirror, &packed, &release.archive("linux_amd64"));
    write_package(&mirror, "example.com/acme/thing/2.0.0/linux_amd64/terraform-provider-thing", b"unpacked");
    write_package(&mirror, "example.com/acme/thing/2.1.0/darwin_arm64/terraform-provider-thing", b"unpacked");
    for nonsense in ["index.json", "terraform-provider-other_1.0.0_linux_amd64.zip", "9.x/linux_amd64/x", "1.0.0/x/y"] {
        write_package(&mirror, &format!("example.com/acme/thing/{nonsense}"), b"");
    }
    write_package(&mirror, "example.com/bad name/thing/1.0.0/linux_amd64/x", b"");
    world.source = Some(Arc::new(FilesystemMirror::new(&mirror)));

    let listed = search_directory(&mirror).unwrap();
    let versions: Vec<String> = listed.packages[&address("acme/thing")]
        .iter()
        .map(|meta| format!("{} {}", meta.version, meta.platform))
        .collect();
    assert_eq!(versions, ["1.0.0 linux_amd64", "2.0.0 linux_amd64", "2.1.0 darwin_arm64"]);

    let unpacked = world.install(&[("acme/thing", "2.0.0")]).await.unwrap();
    let place = world.target().join("example.com/acme/thing/2.0.0/linux_amd64");
    assert!(place.is_symlink(), "a directory is linked to");
    assert_eq!(unpacked.locks.iter().next().unwrap().hashes().len(), 1);
    let packed = world.install(&[("acme/thing", "1.0.0")]).await.unwrap();
    assert_eq!(packed.locks.iter().next().unwrap().hashes().len(), 1);
    assert_eq!(world.fetched_with_trust(), [Trust::Unauthenticated, Trust::Unauthenticated]);
    let (summary, detail) = world.failure(&[("acme/thing", "2.1.0")]).await;
    assert_eq!(summary, "Incompatible provider version");
    assert!(detail.contains("darwin_arm64"), "{detail}");

    // A directory that changes is no longer the one that was locked.
    world.locks = unpacked.locks;
    write_package(&mirror, "example.com/acme/thing/2.0.0/linux_amd64/more", b"more");
    let (_, detail) = world.failure(&[("acme/thing", "2.0.0")]).await;
    assert!(detail.contains("the local package for example.com/acme/thing 2.0.0 doesn't match"), "{detail}");
}

#[tokio::test]
async fn several_sources_by_address() {
    let mut world = World::new();
    world.publish("thing", "1.0.0");
    world.publish("thing", "1.5.0");
    let mirror = world.path("mirror");
    write_package(&mirror, "example.com/acme/thing/2.0.0/linux_amd64/terraform-provider-thing", b"local");
    let patterns = |texts: &[&str]| Patterns::parse(texts).unwrap();
    let local: Arc<dyn Source> = Arc::new(FilesystemMirror::new(&mirror));
    let both = MultiSource::new(vec![Selector::all(local.clone()), Selector::all(world.source())]);
    let versions = both.available_versions(&address("acme/thing")).await.unwrap().versions;
    assert_eq!(versions.len(), 3, "all that there are, together");

    let split = MultiSource::new(vec![
        Selector { source: local, include: patterns(&["example.com/other/*"]), exclude: Patterns::default() },
        Selector { source: world.source(), include: Patterns::default(), exclude: patterns(&["example.com/other/*"]) },
    ]);
    world.source = Some(Arc::new(Memoized::new(Arc::new(split))));
    let installed = world.install(&[("acme/thing", "")]).await.unwrap();
    assert_eq!(version_of(&installed, "acme/thing"), "1.5.0");
    let (_, detail) = world.failure(&[("other/thing", "")]).await;
    assert!(detail.contains(&mirror.display().to_string()), "{detail}");
}

#[tokio::test]
async fn implied_directories_come_before_the_registry() {
    let mut world = World::new();
    world.publish("thing", "9.0.0");
    let release = world.publish("other", "1.0.0");
    let mirror = world.path("plugins");
    write_package(&mirror, "example.com/acme/thing/1.0.0/linux_amd64/terraform-provider-thing", b"local");
    world.source = Some(Arc::new(MultiSource::implied(&[world.path("missing"), mirror], world.source())));
    let installed = world.install(&[("acme/thing", ""), ("acme/other", "")]).await.unwrap();
    assert_eq!(version_of(&installed, "acme/thing"), "1.0.0", "the registry is not asked for it");
    assert_eq!(version_of(&installed, "acme/other"), release.version);
}

#[tokio::test]
async fn what_is_not_built_says_so() {
    let mut world = World::new();
    world.source = Some(Arc::new(Unsupported::oci_mirror("example.com/${namespace}/${type}")));
    let (_, detail) = world.failure(&[("acme/thing", "")]).await;
    assert!(detail.contains("oci_mirror") && detail.contains("not supported"), "{detail}");
}

#[tokio::test]
async fn answers_are_remembered() {
    let world = World::new();
    world.publish("thing", "1.0.0");
    let source = Memoized::new(world.source());
    let thing = address("acme/thing");
    let (one, two) = tokio::join!(source.available_versions(&thing), source.available_versions(&thing));
    assert_eq!(one.unwrap(), two.unwrap());
    assert!(source.available_versions(&address("acme/none")).await.is_err());
    assert!(source.available_versions(&address("acme/none")).await.is_err());
    assert_eq!(world.registry.server().count("/versions"), 2);
}
