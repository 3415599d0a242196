//! Tests of versions and constraints, in both dialects.

use proptest::prelude::*;

use super::*;

fn admits(constraint: &str, version: &str) -> bool {
    Constraints::parse(constraint).unwrap().admits(&Version::parse(version).unwrap())
}

fn admits_release(constraint: &str, version: &str) -> bool {
    Constraints::parse_provider(constraint).unwrap().admits_release(&Version::parse_release(version).unwrap())
}

#[test]
fn comparisons_hold_as_documented() {
    assert!(admits(">= 1.2, < 2.0", "1.5.0"));
    assert!(!admits(">= 1.2, < 2.0", "2.0.0"));
    assert!(admits("~> 1.2", "1.9.0"));
    assert!(!admits("~> 1.2.3", "1.3.0"));
    assert!(admits("~> 1.2.3", "1.2.9"));
    assert!(admits("~> 1", "7.0.0"));
    assert!(admits("1.2", "1.2.0"));
    assert!(admits("!= 1.2.0", "1.2.1"));
    assert!(!admits(">= 1.2", "1.3.0-beta1"));
    assert!(admits(">= 1.3.0-alpha", "1.3.0-beta1"));
}

#[test]
fn nonsense_is_no_constraint() {
    for text in ["", "abc", ">= ", "1..2", ">> 1", "1.2,", "1.x"] {
        assert!(Constraints::parse(text).is_none(), "{text}");
    }
    assert!(Version::parse("v1.2.3-beta.1+b").is_some());
}

#[test]
fn providers_have_their_own_rules() {
    assert!(admits_release("", "1.0.0"));
    assert!(!admits_release("", "1.0.0-beta1"));
    assert!(admits_release("~> 1.2", "1.9.0"));
    assert!(!admits_release("~> 1.2", "2.0.0"));
    assert!(admits_release("~> 1", "1.9.0"));
    assert!(!admits_release("~> 1", "2.0.0"));
    assert!(admits_release("~> 1.2.3", "1.2.9"));
    assert!(!admits_release("~> 1.2.3", "1.3.0"));
    assert!(!admits_release("~> 1.2.3", "1.2.2"));
    assert!(admits_release("> 1.2, != 1.3.0", "1.3.1"));
    assert!(!admits_release("> 1.2, != 1.3.0", "1.3.0"));
    assert!(admits_release(">=1.0", "1.0.0"));
}

#[test]
fn prereleases_of_providers_are_taken_only_by_name() {
    assert!(admits_release("1.3.0-beta1", "1.3.0-beta1"));
    assert!(admits_release("= 1.3.0-beta1, >= 1.0", "1.3.0-beta1"));
    assert!(!admits_release(">= 1.3.0-alpha", "1.3.0-beta1"));
    assert!(!admits_release(">= 1.3.0-beta1", "1.3.0-beta1"));
    assert!(!admits_release("1.3.0-beta1, >= 1.3.0", "1.3.0-beta1"));
    assert!(admits_release(">= 1.3.0-beta1", "1.3.0"));
}

#[test]
fn build_metadata_counts_only_for_equality() {
    assert!(admits_release("1.0.0+a", "1.0.0+a"));
    assert!(!admits_release("1.0.0", "1.0.0+a"));
    assert!(admits_release(">= 1.0.0", "1.0.0+a"));
    assert!(admits_release("!= 1.0.0", "1.0.0+a"));
}

#[test]
fn constraints_have_one_normal_form() {
    let cases = [
        ("", ""),
        ("1.0", "1.0.0"),
        ("= 1", "1.0.0"),
        (">= 1, < 2", ">= 1.0.0, < 2.0.0"),
        ("< 2, >= 1.0.0,>= 1", ">= 1.0.0, < 2.0.0"),
        ("~> 1", "~> 1.0"),
        ("~> 1.2", "~> 1.2"),
        ("~> 1.2.3", "~> 1.2.3"),
        ("~> 1.2.0, ~> 1.2", "~> 1.2.0, ~> 1.2"),
        ("!= 1.1, 1.1, > 1.1, <= 1.1, < 1.1, >= 1.1", "> 1.1.0, >= 1.1.0, 1.1.0, <= 1.1.0, < 1.1.0, != 1.1.0"),
        (">= 1.0.0-beta, 1.0+x", ">= 1.0.0-beta, 1.0.0+x"),
    ];
    for (given, expected) in cases {
        let parsed = Constraints::parse_provider(given).unwrap();
        assert_eq!(parsed.canonical(), expected, "{given}");
        assert_eq!(Constraints::parse_provider(expected).unwrap().canonical(), expected);
    }
}

#[test]
fn mistakes_in_provider_constraints_are_named() {
    let cases = [
        ("v1.0", "a \"v\" prefix should not be used"),
        (">= v1.0", "a \"v\" prefix should not be used"),
        ("=> 1.0", "did you mean \">=\"?"),
        (">=  1.0", "only one space is expected after the operator \">=\""),
        ("1.2.3.4", "too many numbered portions"),
        ("1.*", "wildcard"),
        ("^ 1.0", "invalid constraint operator \"^\""),
        ("1.0 2.0", "invalid specification"),
        (">= ", "empty specification"),
        ("99999999999999999999", "invalid specification"),
    ];
    for (given, expected) in cases {
        let error = Constraints::parse_provider(given).unwrap_err().to_string();
        assert!(error.contains(expected), "{given}: {error}");
    }
}

#[test]
fn versions_of_providers_are_read_strictly() {
    assert_eq!(Version::parse_release("1.2").unwrap(), Version::new(1, 2, 0));
    assert_eq!(Version::parse_release("1.2.3-rc.1+b-2").unwrap().to_string(), "1.2.3-rc.1+b-2");
    for bad in ["", " 1", "v1", "1.2.3.4", "1.+2", "1.2.3-", "../1", "1.2.3-a/b", "1.0.0+"] {
        assert!(Version::parse_release(bad).is_err(), "{bad}");
    }
}

#[test]
fn newer_is_greater() {
    let mut versions: Vec<Version> = ["1.10.0", "1.2.0", "1.2.0-beta.2", "1.2.0-beta.10", "1.2.0-alpha", "0.9"]
        .iter()
        .map(|text| Version::parse_release(text).unwrap())
        .collect();
    versions.sort();
    let sorted: Vec<String> = versions.iter().map(Version::to_string).collect();
    assert_eq!(sorted, ["0.9.0", "1.2.0-alpha", "1.2.0-beta.2", "1.2.0-beta.10", "1.2.0", "1.10.0"]);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[ -~]{0,24}") {
        if let Ok(constraints) = Constraints::parse_provider(&text) {
            let canonical = constraints.canonical();
            prop_assert_eq!(Constraints::parse_provider(&canonical).unwrap().canonical(), canonical);
        }
        if let Ok(version) = Version::parse_release(&text) {
            prop_assert_eq!(&Version::parse_release(&version.to_string()).unwrap(), &version);
            prop_assert!(Constraints::exactly(version.clone()).admits_release(&version));
        }
        let _ = Constraints::parse(&text);
    }
}
