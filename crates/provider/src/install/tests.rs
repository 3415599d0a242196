//! Tests of whole installations, against a registry on the loopback interface.

mod commands;
mod faults;
mod mirrors;
mod sharing;
mod world;

use std::path::Path;

use groma_model::version::{Constraints, Version};

use super::testing::{Release, Reply};
use super::*;
use world::{World, address, constraints, version_of};

#[tokio::test]
async fn a_provider_is_installed_and_locked() {
    let world = World::new();
    for version in ["1.0.0", "1.1.0", "2.0.0"] {
        world.publish("thing", version);
    }
    let installed = world.install(&[("acme/thing", "~> 1.0")]).await.unwrap();
    let thing = address("acme/thing");
    let Selected::Package { package, executable, .. } = &installed.packages[&thing] else { panic!("no package") };
    assert_eq!(package.version, Version::new(1, 1, 0));
    let directory = world.target().join("example.com/acme/thing/1.1.0/linux_amd64");
    assert_eq!(*executable, directory.join("terraform-provider-thing_v1.1.0"));
    assert!(std::fs::read_to_string(executable).unwrap().contains("linux_amd64"));

    let lock = installed.locks.get(&thing).unwrap();
    assert_eq!(lock.constraints.canonical(), "~> 1.0");
    let release = Release::new("thing", "1.1.0");
    let mut expected = vec![groma_fetch::dirhash::h1_directory(&directory).unwrap()];
    expected.extend(release.platforms.iter().map(|platform| world::zh(&release.archive(platform))));
    expected.sort();
    let hashes: Vec<String> = lock.hashes().iter().map(Hash::to_string).collect();
    assert_eq!(hashes, expected, "the hash of the files, and those of all archives that were signed");
    assert!(installed.packages[&thing].is_intact(&world.memory()).unwrap());
}

#[tokio::test]
async fn hashes_are_those_that_opentofu_locks() {
    let world = World::new();
    let mut locks = Locks::new();
    for (ty, version, namespace) in [("thing", "1.2.0", "acme"), ("nokey", "0.3.0", "hashicorp")] {
        let release = Release { namespace: namespace.to_owned(), ..Release::new(ty, version) };
        world.registry.publish(&release, "example.com");
        let asked = format!("{namespace}/{ty}");
        for lock in &world.install(&[(asked.as_str(), "")]).await.unwrap().locks {
            locks.set(lock.clone());
        }
    }
    let of_files = |source: &str| {
        let lock = locks.get(&address(source)).unwrap();
        let files: Vec<&Hash> = lock.hashes().iter().filter(|hash| hash.scheme() == HashScheme::Files).collect();
        assert_eq!(files.len(), 1);
        files[0].to_string()
    };
    // What `tofu init` (1.12.6) wrote when it installed the same packages.
    assert_eq!(of_files("acme/thing"), "h1:xfdzojKslhr4Z50CaobA/9hw8Yr9CXXjYLzDpoGScI0=");
    assert_eq!(of_files("hashicorp/nokey"), "h1:DbG9Ei+oKNznWN88cBlTuvX2JCNKeRE1RRS5EygdJDs=");
}

#[tokio::test]
async fn a_signature_is_told_with_its_key() {
    let world = World::new();
    world.publish("thing", "1.0.0");
    world.install(&[("acme/thing", "")]).await.unwrap();
    let trust = world.fetched_with_trust();
    assert_eq!(trust, [Trust::Signed(vec![world.registry.key().id()])]);
    assert_eq!(trust[0].to_string(), "signed");
    let total: u64 = world.downloaded();
    assert_eq!(total, Release::new("thing", "1.0.0").archive("linux_amd64").len() as u64);
}

#[tokio::test]
async fn credentials_go_to_the_registry_and_nowhere_else() {
    let mut world = World::new();
    world.publish("thing", "1.0.0");
    world.token = Some("hunter2".to_owned());
    world.install(&[("acme/thing", "")]).await.unwrap();
    for seen in world.registry.server().seen() {
        let expected = seen.path.starts_with("/v1/").then_some("Bearer hunter2");
        assert_eq!(seen.authorization.as_deref(), expected, "{}", seen.path);
    }
    let release = Release::new("thing", "1.0.0");
    world.registry.server().set(&release.versions_path(), Reply::status(401));
    let (_, detail) = world.failure(&[("acme/thing", "")]).await;
    assert!(detail.contains("host example.com rejected the given authentication credentials"), "{detail}");
}

#[tokio::test]
async fn what_is_locked_stays_until_upgraded() {
    let mut world = World::new();
    world.publish("thing", "1.0.0");
    world.locks = world.install(&[("acme/thing", "")]).await.unwrap().locks;
    world.publish("thing", "1.1.0");
    let again = world.install(&[("acme/thing", "")]).await.unwrap();
    assert_eq!(again.locks, world.locks);
    assert_eq!(version_of(&again, "acme/thing"), "1.0.0");
    let upgraded = world.install_as(&[("acme/thing", "")], Mode::Upgrade).await.unwrap();
    assert_eq!(version_of(&upgraded, "acme/thing"), "1.1.0");
    let hashes = upgraded.locks.get(&address("acme/thing")).unwrap().hashes();
    let before = world.locks.get(&address("acme/thing")).unwrap().hashes();
    assert!(before.iter().all(|hash| !hashes.contains(hash)), "another version has other hashes");
}

#[tokio::test]
async fn nobody_is_asked_about_what_is_locked_and_there() {
    let mut world = World::new();
    world.publish("thing", "1.0.0");
    world.locks = world.install(&[("acme/thing", "")]).await.unwrap().locks;
    let asked = world.registry.server().seen().len();
    world.install(&[("acme/thing", "~> 1.0")]).await.unwrap();
    assert_eq!(world.registry.server().seen().len(), asked);
}

#[tokio::test]
async fn a_damaged_installation_is_noticed() {
    let mut world = World::new();
    world.publish("thing", "1.0.0");
    let installed = world.install(&[("acme/thing", "")]).await.unwrap();
    world.locks = installed.locks.clone();
    let directory = world.target().join("example.com/acme/thing/1.0.0/linux_amd64");
    std::fs::write(directory.join("terraform-provider-thing_v1.0.0"), "evil").unwrap();
    assert!(!installed.packages[&address("acme/thing")].is_intact(&world.memory()).unwrap());
    let error = world.install(&[("acme/thing", "")]).await.unwrap_err();
    assert!(error.to_string().contains("does not match the content of the downloaded package"), "{error}");
    // Removed, it is installed again.
    std::fs::remove_dir_all(&directory).unwrap();
    world.install(&[("acme/thing", "")]).await.unwrap();
    assert!(installed.packages[&address("acme/thing")].is_intact(&world.memory()).unwrap());
}

#[tokio::test]
async fn a_lock_file_that_may_not_change_is_checked_first() {
    let mut world = World::new();
    world.publish("thing", "1.0.0");
    world.publish("other", "1.0.0");
    let error = world.install_as(&[("acme/thing", "")], Mode::ReadOnly).await.unwrap_err();
    assert!(matches!(&error, InstallError::ReadOnly { missing, .. } if missing == &[address("acme/thing")]));
    let diagnostics = error.diagnostics();
    assert_eq!(diagnostics.iter().next().unwrap().summary, "Provider dependency changes detected");
    assert!(!world.target().exists(), "nothing was installed");
    world.locks = world.install(&[("acme/thing", "")]).await.unwrap().locks;
    world.install_as(&[("acme/thing", "")], Mode::ReadOnly).await.unwrap();
    assert!(world.install_as(&[("acme/other", "")], Mode::ReadOnly).await.is_err());
    assert!(world.install_as(&[], Mode::ReadOnly).await.is_err(), "a lock would have to go");
}

#[tokio::test]
async fn locks_of_what_is_not_needed_go() {
    let mut world = World::new();
    world.publish("thing", "1.0.0");
    world.publish("other", "1.0.0");
    world.locks = world.install(&[("acme/thing", ""), ("acme/other", "")]).await.unwrap().locks;
    assert_eq!(world.locks.iter().count(), 2);
    let fewer = world.install(&[("acme/other", "")]).await.unwrap();
    assert_eq!(fewer.locks.iter().map(|lock| lock.provider.ty.to_string()).collect::<Vec<_>>(), ["other"]);
}

#[tokio::test]
async fn terraforms_selection_is_taken_over_for_the_public_registry() {
    let mut world = World::for_host("registry.opentofu.org");
    for version in ["3.0.0", "3.1.0"] {
        world.registry.publish(&Release { namespace: "hashicorp".to_owned(), ..Release::new("null", version) }, "x");
    }
    let theirs = address("registry.terraform.io/hashicorp/null");
    let hashes = vec![Hash::parse("h1:of-another-package").unwrap()];
    world.locks.set(ProviderLock::new(theirs.clone(), Version::new(3, 0, 0), Constraints::default(), hashes));
    world.locks.adopt_terraform_selections();
    let installed = world.install(&[("registry.opentofu.org/hashicorp/null", "")]).await.unwrap();
    assert_eq!(version_of(&installed, "registry.opentofu.org/hashicorp/null"), "3.0.0");
    assert!(installed.locks.get(&theirs).is_none());
}

#[tokio::test]
async fn built_in_providers_are_used_and_not_locked() {
    let mut world = World::new();
    world.publish("random", "3.1.0");
    world.settings.built_in_use = BuiltInUse::Never;
    world.locks = world.install(&[("acme/random", "")]).await.unwrap().locks;
    assert_eq!(version_of(&world.install(&[("acme/random", "")]).await.unwrap(), "acme/random"), "3.1.0");

    world.settings.built_in_use = BuiltInUse::UnlessLocked;
    let random = address("acme/random");
    let real = world.install(&[("acme/random", "")]).await.unwrap();
    assert!(matches!(real.packages[&random], Selected::Package { .. }), "the lock file decides");

    world.settings.built_in_use = BuiltInUse::Always;
    let built_in = world.install(&[("acme/random", "~> 3.0")]).await.unwrap();
    assert_eq!(built_in.packages[&random], Selected::BuiltIn { mirrors: Some(Version::new(3, 7, 2)) });
    assert!(built_in.locks.is_empty(), "so that later commands use it, too");
    assert!(world.events().iter().any(|event| matches!(event, Event::BuiltIn { mirrors: Some(_), .. })));

    world.settings.built_in_use = BuiltInUse::UnlessLocked;
    world.locks = Locks::new();
    let real = world.install(&[("acme/random", "3.1.0")]).await.unwrap();
    assert!(matches!(real.packages[&random], Selected::Package { .. }), "the constraint does not admit it");
    assert!(world.events().iter().any(|event| matches!(event, Event::BuiltInNotAdmitted { .. })));
}

#[tokio::test]
async fn overridden_providers_are_not_installed() {
    let mut world = World::new();
    let thing = address("acme/thing");
    world.settings.overrides.insert(thing.clone(), world.path("dev"));
    let installed = world.install(&[("acme/thing", "~> 9.0")]).await.unwrap();
    assert_eq!(installed.packages[&thing], Selected::Overridden { directory: world.path("dev") });
    assert!(installed.locks.is_empty() && world.registry.server().seen().is_empty());
    assert!(installed.packages[&thing].executable(&thing).is_err());
    std::fs::create_dir(world.path("dev")).unwrap();
    std::fs::write(world.path("dev/terraform-provider-thing"), "").unwrap();
    let executable = installed.packages[&thing].executable(&thing).unwrap().unwrap();
    assert_eq!(executable, world.path("dev/terraform-provider-thing"));
}

#[tokio::test]
async fn later_commands_find_what_was_installed() {
    let mut world = World::new();
    world.publish("thing", "1.0.0");
    let none = find_selected(&constraints(&[("acme/thing", "")]), &world.locks, &world.settings, &NoBuiltins);
    let error = none.unwrap_err();
    assert_eq!(error.diagnostic().summary, "Inconsistent dependency lock file");
    assert!(error.to_string().contains("required by this configuration but no version is selected"), "{error}");

    let installed = world.install(&[("acme/thing", "")]).await.unwrap();
    world.locks = installed.locks.clone();
    let wanted = constraints(&[("acme/thing", "~> 1.0")]);
    let found = find_selected(&wanted, &world.locks, &world.settings, &NoBuiltins).unwrap();
    assert_eq!(found, installed.packages);

    let changed = constraints(&[("acme/thing", "~> 2.0")]);
    let error = find_selected(&changed, &world.locks, &world.settings, &NoBuiltins).unwrap_err();
    assert!(error.to_string().contains("doesn't match the updated version constraints \"~> 2.0\""), "{error}");

    std::fs::remove_dir_all(world.target()).unwrap();
    let error = find_selected(&wanted, &world.locks, &world.settings, &NoBuiltins).unwrap_err();
    assert_eq!(error.diagnostic().summary, "Required plugins are not installed");
}

#[tokio::test]
async fn what_the_other_public_registry_gave_is_used() {
    let mut world = World::new();
    let at = |host: &str| groma_model::address::Provider::parse_source_at("hashicorp/thing", host).unwrap();
    let (theirs, ours) = (at("registry.terraform.io"), at("registry.opentofu.org"));
    let lock = ProviderLock::new(theirs.clone(), Version::new(1, 0, 0), Constraints::default(), Vec::new());
    world.locks = [lock].into_iter().collect();
    let wanted: Requirements = [(ours.clone(), Constraints::default())].into();
    // What is locked there and not installed says nothing.
    let error = find_selected(&wanted, &world.locks, &world.settings, &NoBuiltins).unwrap_err();
    assert_eq!(error.diagnostic().summary, "Inconsistent dependency lock file");

    let platform = world.settings.platform.to_string();
    let package = world.target().join("registry.terraform.io/hashicorp/thing/1.0.0").join(platform);
    std::fs::create_dir_all(&package).unwrap();
    std::fs::write(package.join("terraform-provider-thing_v1.0.0"), "").unwrap();
    let found = find_selected(&wanted, &world.locks, &world.settings, &NoBuiltins).unwrap();
    let executable = found[&ours].executable(&ours).unwrap().unwrap();
    assert!(executable.starts_with(&package), "{}", executable.display());
}

/// Nothing but lock files may be left where something failed.
fn assert_nothing_installed(root: &Path) {
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        let Ok(entries) = std::fs::read_dir(&path) else { continue };
        for entry in entries {
            let entry = entry.unwrap().path();
            assert!(!entry.is_symlink(), "{} is left", entry.display());
            if entry.is_dir() {
                pending.push(entry);
            } else {
                assert_eq!(
                    entry.extension().and_then(|name| name.to_str()),
                    Some("lock"),
                    "{} is left",
                    entry.display()
                );
            }
        }
    }
}
