//! Tests of what is decided about each provider.

use super::*;
use crate::install::builtins::NoBuiltins;
use crate::install::hash::Hash;
use crate::install::locks::ProviderLock;

struct Known;

impl Builtins for Known {
    fn find(&self, provider: &Provider) -> Option<BuiltIn> {
        match (provider.host.as_str(), provider.ty.as_str()) {
            ("terraform.io", "terraform") => Some(BuiltIn::Unversioned),
            ("groma.dev", "rest") => Some(BuiltIn::Own(Version::new(1, 0, 0))),
            (_, "random") => Some(BuiltIn::Mirrors(Version::new(3, 7, 2))),
            _ => None,
        }
    }
}

fn provider(source: &str) -> Provider {
    Provider::parse_source(source).unwrap()
}

fn constraints(text: &str) -> Constraints {
    Constraints::parse_provider(text).unwrap()
}

fn locked(source: &str, version: &str) -> Locks {
    let hashes = vec![Hash::parse("h1:x").unwrap()];
    let version = Version::parse_release(version).unwrap();
    [ProviderLock::new(provider(source), version, Constraints::default(), hashes)].into_iter().collect()
}

fn decided(source: &str, asked: &str, locks: &Locks, change: impl FnOnce(&mut Settings)) -> Result<Decision, Failure> {
    let mut settings = Settings::new("unused");
    change(&mut settings);
    decide(&provider(source), &constraints(asked), locks, Mode::Normal, (&settings, &Known))
}

fn install(locked: Option<Version>) -> Decision {
    Decision::Install { locked, not_admitted: None }
}

#[test]
fn what_is_built_in_is_used_unless_locked() {
    let mirrors = Decision::BuiltIn { mirrors: Some(Version::new(3, 7, 2)) };
    let none = Locks::new();
    let random = "hashicorp/random";
    assert_eq!(decided(random, "", &none, |_| {}).unwrap(), mirrors);
    assert_eq!(decided(random, "~> 3.0", &none, |_| {}).unwrap(), mirrors);
    let lock = locked(random, "3.1.0");
    assert_eq!(decided(random, "", &lock, |_| {}).unwrap(), install(Some(Version::new(3, 1, 0))));
    let always = |settings: &mut Settings| settings.built_in_use = BuiltInUse::Always;
    assert_eq!(decided(random, "", &lock, always).unwrap(), mirrors);
    let never = |settings: &mut Settings| settings.built_in_use = BuiltInUse::Never;
    assert_eq!(decided(random, "", &none, never).unwrap(), install(None));
}

#[test]
fn what_is_built_in_must_be_admitted() {
    let wanted = decided("hashicorp/random", "~> 2.0", &Locks::new(), |_| {}).unwrap();
    assert_eq!(wanted, Decision::Install { locked: None, not_admitted: Some(Version::new(3, 7, 2)) });
}

#[test]
fn what_exists_only_here_is_never_installed() {
    let none = Locks::new();
    assert!(matches!(decided("groma.dev/builtin/rest", "~> 1.0", &none, |_| {}), Ok(Decision::BuiltIn { .. })));
    let error = decided("groma.dev/builtin/rest", "~> 2.0", &none, |_| {}).unwrap_err();
    assert!(error.to_string().contains("1.0.0") && error.to_string().contains("~> 2.0"), "{error}");
    let terraform = "terraform.io/builtin/terraform";
    assert_eq!(decided(terraform, "", &none, |_| {}).unwrap(), Decision::BuiltIn { mirrors: None });
    let error = decided(terraform, "1.0.0", &none, |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "built-in providers do not support explicit version constraints");
    let error = decided("terraform.io/builtin/other", "", &none, |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "this release has no built-in provider named \"other\"");
}

#[test]
fn overrides_and_running_providers_come_first() {
    let random = provider("hashicorp/random");
    let lock = locked("hashicorp/random", "1.0.0");
    let overriding = |settings: &mut Settings| {
        settings.overrides.insert(random.clone(), PathBuf::from("dir"));
    };
    assert_eq!(decided("hashicorp/random", "~> 9.0", &lock, overriding).unwrap(), Decision::Overridden("dir".into()));
    let running = |settings: &mut Settings| {
        settings.unmanaged.insert(random.clone());
    };
    assert_eq!(decided("hashicorp/random", "~> 9.0", &lock, running).unwrap(), Decision::Unmanaged);
}

#[test]
fn a_locked_version_is_kept_and_must_fit() {
    let lock = locked("a/b", "1.2.0");
    assert_eq!(decided("a/b", ">= 1.0", &lock, |_| {}).unwrap(), install(Some(Version::new(1, 2, 0))));
    let error = decided("a/b", ">= 2.0", &lock, |_| {}).unwrap_err();
    let expected = "locked provider registry.opentofu.org/a/b 1.2.0 does not match configured version constraint >= 2.0.0; \
                    must use groma init -upgrade to allow selection of new versions";
    assert_eq!(error.to_string(), expected);
    let settings = Settings::new("unused");
    let upgraded =
        decide(&provider("a/b"), &constraints(">= 2.0"), &lock, Mode::Upgrade, (&settings, &NoBuiltins)).unwrap();
    assert_eq!(upgraded, install(None));
}

#[test]
fn version_zero_is_nobodys() {
    let error = decided("a/b", "0.0.0", &Locks::new(), |_| {}).unwrap_err();
    assert!(error.to_string().starts_with("0.0.0 is not a valid provider version"), "{error}");
}

fn selected(asked: &str, locked: Option<&str>, available: &[&str]) -> Result<String, String> {
    let mut available: Vec<Version> = available.iter().map(|text| Version::parse_release(text).unwrap()).collect();
    available.sort();
    let locked = locked.map(|text| Version::parse_release(text).unwrap());
    let result = select(&constraints(asked), locked.as_ref(), &available);
    result.map(|version| version.to_string()).map_err(|failure| failure.to_string())
}

#[test]
fn the_newest_admitted_version_is_selected() {
    let available = ["1.0.0", "1.10.0", "1.9.0", "2.0.0", "2.1.0-beta1"];
    assert_eq!(selected("", None, &available).unwrap(), "2.0.0");
    assert_eq!(selected("~> 1.0", None, &available).unwrap(), "1.10.0");
    assert_eq!(selected("2.1.0-beta1", None, &available).unwrap(), "2.1.0-beta1");
    assert_eq!(selected("", Some("1.9.0"), &available).unwrap(), "1.9.0");
    assert_eq!(
        selected("", Some("1.8.0"), &available).unwrap_err(),
        "the previously-selected version 1.8.0 is no longer available"
    );
    assert_eq!(
        selected("~> 3.0", None, &available).unwrap_err(),
        "no available releases match the given constraints ~> 3.0"
    );
    assert!(selected("", None, &["0.0.0"]).is_err());
    assert!(selected("", None, &[]).is_err());
}
