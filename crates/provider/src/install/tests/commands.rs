//! `providers lock` and `providers mirror`.

use std::sync::Arc;

use super::super::source::FilesystemMirror;
use super::super::*;
use super::world::{World, address, constraints, zh};

fn platforms(names: &[&str]) -> Vec<Platform> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

fn quiet(_: &Platform) -> Arc<dyn Observer> {
    Arc::new(Quiet)
}

async fn lock(world: &World, asked: &[(&str, &str)], names: &[&str]) -> Result<LocksForPlatforms, LockCommandError> {
    let tools = (world.source(), world.client.clone());
    let signatures = SignaturePolicy::default();
    lock_for_platforms(tools, &constraints(asked), &world.locks, &platforms(names), signatures, quiet).await
}

#[tokio::test]
async fn locks_for_several_platforms() {
    let mut world = World::new();
    let release = world.publish("thing", "1.0.0");
    let asked = [("acme/thing", "~> 1.0")];
    let first = lock(&world, &asked, &["linux_amd64", "linux_arm64"]).await.unwrap();
    let hashes = first.locks.get(&address("acme/thing")).unwrap().hashes().to_vec();
    let of_files = hashes.iter().filter(|hash| hash.scheme() == HashScheme::Files).count();
    assert_eq!((of_files, hashes.len()), (2, 4));
    for platform in &release.platforms {
        assert!(hashes.iter().any(|hash| hash.as_str() == zh(&release.archive(platform))));
    }
    assert!(first.changes.iter().all(|change| change.change == LockChange::NewProvider));
    assert!(!world.target().exists());

    world.locks = first.locks.clone();
    world.publish("thing", "1.1.0");
    let again = lock(&world, &asked, &["linux_amd64"]).await.unwrap();
    assert_eq!(again.locks, first.locks, "the version stays");
    assert_eq!(again.changes[0].change, LockChange::None);
    // What was locked for both can be installed on both.
    world.settings.platform = "linux_arm64".parse().unwrap();
    world.install(&asked).await.unwrap();
}

#[tokio::test]
async fn hashes_are_added_to_what_a_mirror_gave() {
    let mut world = World::new();
    let release = world.publish("thing", "1.0.0");
    let directory = world.path("mirror/example.com/acme/thing");
    std::fs::create_dir_all(&directory).unwrap();
    let archive = release.archive("linux_amd64");
    std::fs::write(directory.join(release.archive_name("linux_amd64")), archive).unwrap();
    let registry = world.source();
    world.source = Some(Arc::new(FilesystemMirror::new(world.path("mirror"))));
    world.locks = world.install(&[("acme/thing", "")]).await.unwrap().locks;
    world.source = Some(registry);
    let locked = lock(&world, &[("acme/thing", "")], &["linux_arm64"]).await.unwrap();
    assert_eq!(locked.changes[0].change, LockChange::NewHashes);
    assert_eq!(locked.locks.get(&address("acme/thing")).unwrap().hashes().len(), 4);
}

#[tokio::test]
async fn a_platform_without_packages_is_named() {
    let world = World::new();
    world.publish("thing", "1.0.0");
    let error = lock(&world, &[("acme/thing", "")], &["linux_amd64", "plan9_386"]).await.unwrap_err();
    assert_eq!(error.summary(), "Could not retrieve providers for locking");
    assert!(error.to_string().contains("plan9_386"), "{error}");
}

#[tokio::test]
async fn a_mirror_can_be_installed_from() {
    let mut world = World::new();
    let release = world.publish("thing", "1.0.0");
    let directory = world.path("mirror");
    let tools = (world.source(), world.client.clone());
    let asked = constraints(&[("acme/thing", ""), ("terraform.io/builtin/terraform", "")]);
    let wanted = platforms(&["linux_amd64", "linux_arm64"]);
    let (mirrored, diagnostics) = mirror(tools.clone(), &asked, &Locks::new(), &wanted, &directory, &Quiet).await;
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(mirrored.len(), 2);
    let base = directory.join("example.com/acme/thing");
    let archive = std::fs::read(base.join(release.archive_name("linux_arm64"))).unwrap();
    assert_eq!(archive, release.archive("linux_arm64"));
    let index = std::fs::read_to_string(base.join("index.json")).unwrap();
    assert_eq!(index, "{\n  \"versions\": {\n    \"1.0.0\": {}\n  }\n}");
    let version = std::fs::read_to_string(base.join("1.0.0.json")).unwrap();
    let hash = zh(&release.archive("linux_amd64"));
    let expected = format!(
        "{{\n  \"archives\": {{\n    \"linux_amd64\": {{\n      \"hashes\": [\n        \"{hash}\"\n      ],\n      \"url\": \
         \"{}\"\n    }},\n",
        release.archive_name("linux_amd64")
    );
    assert!(version.starts_with(&expected), "{version}");
    let mut names: Vec<_> = std::fs::read_dir(&base).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names.len(), 4, "{names:?}");

    world.source = Some(Arc::new(FilesystemMirror::new(&directory)));
    world.install(&[("acme/thing", "")]).await.unwrap();

    let missing = platforms(&["plan9_386"]);
    let (_, diagnostics) = mirror(tools, &asked, &Locks::new(), &missing, &directory, &Quiet).await;
    let summaries: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.summary.clone()).collect();
    assert_eq!(summaries, ["Provider release not available"]);
}
