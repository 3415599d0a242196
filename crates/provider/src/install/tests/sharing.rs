//! The shared cache: linked to, checked, and safe for several at once.

use super::super::testing::Release;
use super::super::*;
use super::world::{World, address};

fn with_cache() -> World {
    let mut world = World::new();
    world.settings.cache = Some(world.path("cache"));
    world.publish("thing", "1.0.0");
    world
}

const PACKAGE: &str = "example.com/acme/thing/1.0.0/linux_amd64";

#[tokio::test]
async fn packages_are_linked_from_the_cache() {
    let mut world = with_cache();
    world.locks = world.install(&[("acme/thing", "")]).await.unwrap().locks;
    let link = world.target().join(PACKAGE);
    assert!(link.is_symlink() && world.path("cache").join(PACKAGE).is_dir());
    assert_eq!(std::fs::read_link(&link).unwrap(), world.path("cache").join(PACKAGE));

    // Another working directory with the same lock file downloads nothing.
    world.settings.target = world.path("second");
    world.install(&[("acme/thing", "")]).await.unwrap();
    assert_eq!(world.registry.server().count(".zip"), 1);
    assert_eq!(world.registry.server().count("/versions"), 1);
    assert!(world.path("second").join(PACKAGE).is_symlink());
}

#[tokio::test]
async fn what_is_not_locked_is_checked_against_the_registry() {
    let mut world = with_cache();
    world.install(&[("acme/thing", "")]).await.unwrap();
    world.settings.target = world.path("second");
    let installed = world.install(&[("acme/thing", "")]).await.unwrap();
    assert_eq!(world.registry.server().count(".zip"), 2, "a lock file must have the hashes of all platforms");
    assert_eq!(installed.locks.iter().next().unwrap().hashes().len(), 3);

    world.settings.target = world.path("third");
    world.settings.cache_may_break_lock_file = true;
    let installed = world.install(&[("acme/thing", "")]).await.unwrap();
    assert_eq!(world.registry.server().count(".zip"), 2);
    assert_eq!(installed.locks.iter().next().unwrap().hashes().len(), 1);
}

#[tokio::test]
async fn a_tampered_cache_is_not_used() {
    let mut world = with_cache();
    world.locks = world.install(&[("acme/thing", "")]).await.unwrap().locks;
    let program = world.path("cache").join(PACKAGE).join("terraform-provider-thing_v1.0.0");
    std::fs::write(&program, "evil").unwrap();
    world.settings.target = world.path("second");
    let (summary, detail) = world.failure(&[("acme/thing", "")]).await;
    assert_eq!(summary, "Failed to install provider");
    assert!(detail.contains("existing cached package at") && detail.contains(PACKAGE), "{detail}");
    assert!(!world.path("second").join(PACKAGE).exists(), "it is not linked to");
    assert_eq!(std::fs::read(&program).unwrap(), b"evil", "it is left to be looked at");
}

#[tokio::test]
async fn a_link_to_a_cache_that_is_gone_is_replaced() {
    let mut world = with_cache();
    world.locks = world.install(&[("acme/thing", "")]).await.unwrap().locks;
    std::fs::remove_dir_all(world.path("cache")).unwrap();
    world.install(&[("acme/thing", "")]).await.unwrap();
    assert!(world.target().join(PACKAGE).join("terraform-provider-thing_v1.0.0").is_file());

    std::fs::remove_dir_all(world.path("cache")).unwrap();
    world.settings.cache = None;
    world.install(&[("acme/thing", "")]).await.unwrap();
    assert!(!world.target().join(PACKAGE).is_symlink());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_installers_share_a_cache() {
    let mut world = with_cache();
    for ty in ["a", "b", "c"] {
        world.registry.publish(&Release::new(ty, "1.0.0"), "example.com");
    }
    let asked = [("acme/thing", ""), ("acme/a", ""), ("acme/b", ""), ("acme/c", "")];
    let mut worlds = Vec::new();
    for at in 0..6 {
        let mut settings = world.settings.clone();
        settings.target = world.path(&format!("target-{at}"));
        worlds.push(settings);
    }
    let source = world.source();
    let runs = worlds.into_iter().map(|settings| {
        let installer = Installer::new(source.clone(), world.client.clone(), settings);
        tokio::spawn(
            async move { installer.ensure(&super::world::constraints(&asked), &Locks::new(), Mode::Normal).await },
        )
    });
    let mut locks = Vec::new();
    for run in runs.collect::<Vec<_>>() {
        locks.push(run.await.unwrap().unwrap().locks);
    }
    assert!(locks.windows(2).all(|pair| pair[0] == pair[1]));
    let cache = world.path("cache").join("example.com/acme/thing/1.0.0");
    let mut names: Vec<_> = std::fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["linux_amd64", "linux_amd64.lock"], "nothing is left over");
    world.locks = locks.remove(0);
    world.install(&asked).await.unwrap();
    assert!(world.locks.get(&address("acme/c")).is_some());
}

#[tokio::test]
async fn a_busy_place_is_waited_for() {
    let world = with_cache();
    let place = PackageDir::new(world.path("cache"), "linux_amd64".parse().unwrap());
    let (thing, version) = (address("acme/thing"), groma_model::version::Version::new(1, 0, 0));
    let lock = place.lock(&thing, &version, &Quiet).await.unwrap();
    let asked = [("acme/thing", "")];
    let mut run = std::pin::pin!(world.install(&asked));
    let early = tokio::time::timeout(std::time::Duration::from_millis(300), &mut run).await;
    assert!(early.is_err(), "the place is busy");
    drop(lock);
    run.await.unwrap();
}
