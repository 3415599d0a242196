//! Every form parses and prints; mistakes say where.

use proptest::prelude::*;

use super::*;
use crate::text::Str;

/// Prints what it parses.
fn round_trip<A: std::str::FromStr<Err = AddressError> + std::fmt::Display>(texts: &[&str]) {
    for text in texts {
        let address = text.parse::<A>().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(address.to_string(), *text);
    }
}

fn refused<A: std::str::FromStr<Err = AddressError> + std::fmt::Display>(cases: &[(&str, usize, &str)]) {
    for (text, offset, detail) in cases {
        match text.parse::<A>() {
            Ok(address) => panic!("{text:?} parsed as {address}"),
            Err(error) => {
                assert_eq!(error.offset, *offset, "{text:?}: {error}");
                assert!(error.detail.contains(detail), "{text:?}: {error}");
            }
        }
    }
}

#[test]
fn modules() {
    round_trip::<Module>(&["module.a", "module.a.module.b-c", "module.größe"]);
    round_trip::<ModuleInstance>(&["module.a[0].module.b[\"k\"]", "module.a.module.b", "module.x[\"a.b\\\"c\"]"]);
    refused::<Module>(&[("module.a[0].module.b", 8, "cannot be a module instance")]);
    refused::<ModuleInstance>(&[
        ("", 0, "variable name"),
        ("module", 0, "followed by a module name"),
        ("module[0]", 6, "followed by a module name"),
        ("module.a[0][1]", 11, "dot and then a name"),
        ("module.a.b", 8, "additional invalid content"),
        ("a.b", 0, "must begin with"),
        ("module.a[1.5]", 8, "whole number"),
        ("module.a[-1]", 9, "Index brackets"),
        ("module.a[*]", 9, "Splat"),
        ("module.a[0", 10, "closing bracket"),
        ("module.", 7, "attribute name"),
        ("module.a b", 9, "attribute access"),
    ]);
}

#[test]
fn resources() {
    round_trip::<AbsInstance>(&[
        "a_b.c",
        "a_b.c[0]",
        "data.a_b.c[\"k\"]",
        "ephemeral.a.b",
        "module.m[1].data.a_b.c[\"$${x} %%{y} \\\\ \\n \\u0001 é\"]",
        "module.m[\"\"].a_b.c[\"\"]",
    ]);
    round_trip::<ConfigResource>(&["module.a.module.b.data.c.d", "x.y"]);
    round_trip::<AbsResource>(&["module.a[\"k\"].x.y"]);
    refused::<AbsInstance>(&[
        ("a", 0, "type and name"),
        ("data.a", 0, "type and name"),
        ("data[0].a.b", 4, "data source name"),
        ("a[0].b", 1, "resource name is required"),
        ("a.b.c", 3, "square brackets"),
        ("a.b[0].c", 6, "extra operators"),
        ("a.b.c.d", 3, "extra operators"),
        ("module.a", 0, "resource instance address is required"),
        ("a.b[\"${x}\"]", 5, "template"),
        ("a.b[\"x]", 4, "closing quote"),
        ("a.b[\"\\q\"]", 5, "backslash"),
        ("a.b[c]", 4, "literal"),
        ("a.b[0x1]", 4, "number literal"),
        ("a.0", 2, "attribute name"),
    ]);
    refused::<AbsResource>(&[("a.b[0]", 3, "not expected here"), ("module.a", 0, "resource specification")]);
    refused::<ConfigResource>(&[
        ("a.b[0]", 3, "cannot be a resource instance"),
        ("module.a[0].b.c", 8, "module instance"),
    ]);
}

#[test]
fn spaces_between_steps_are_allowed() {
    let instance: AbsInstance = " module . a [ 0 ] . b . c ".parse().unwrap();
    assert_eq!(instance.to_string(), "module.a[0].b.c");
}

#[test]
fn order_is_that_of_plans() {
    let texts = [
        "ephemeral.b.a",
        "data.a.z",
        "a.a",
        "a.b",
        "a.b[2]",
        "a.b[10]",
        "a.b[\"1\"]",
        "a.b[\"a\"]",
        "b.a",
        "module.a.a.a",
        "module.a[0].a.a",
        "module.a[\"x\"].a.a",
        "module.b.a.a",
        "module.a.module.a.a.a",
    ];
    let addresses: Vec<AbsInstance> = texts.iter().map(|text| text.parse().unwrap()).collect();
    assert!(addresses.is_sorted(), "{:?}", {
        let mut sorted = addresses.clone();
        sorted.sort();
        sorted.iter().map(ToString::to_string).collect::<Vec<_>>()
    });
}

#[test]
fn targets_select() {
    let selects = |target: &str, instance: &str| {
        let target: Target = target.parse().unwrap();
        target.selects(&instance.parse().unwrap())
    };
    assert!(selects("module.a", "module.a[0].x.y"));
    assert!(selects("module.a", "module.a[\"k\"].module.b.x.y[1]"));
    assert!(!selects("module.a", "x.y"));
    assert!(!selects("module.a.module.b", "module.a[0].module.b.x.y"));
    assert!(selects("module.a[0].module.b", "module.a[0].module.b[1].x.y"));
    assert!(selects("x.y", "x.y[3]"));
    assert!(!selects("x.y", "module.a.x.y"));
    assert!(selects("x.y[\"a\"]", "x.y[\"a\"]"));
    assert!(!selects("x.y[\"a\"]", "x.y[\"b\"]"));
    let relative: Target = "x.y[0]".parse().unwrap();
    assert_eq!(relative.inside(&"module.a[1]".parse().unwrap()).to_string(), "module.a[1].x.y[0]");
}

#[test]
fn providers() {
    let source = |text: &str| Provider::parse_source(text).map(|provider| provider.to_string());
    assert_eq!(source("time").unwrap(), "registry.opentofu.org/hashicorp/time");
    assert_eq!(source("Foo/Bar").unwrap(), "registry.opentofu.org/foo/bar");
    assert_eq!(source("Example.COM:443/a/b").unwrap(), "example.com/a/b");
    assert_eq!(source("example.com:8080/a/b").unwrap(), "example.com:8080/a/b");
    assert_eq!(source("-/aws").unwrap(), "registry.opentofu.org/-/aws");
    assert_eq!(source("BÜCHER.example/a/b").unwrap(), "bücher.example/a/b");
    for wrong in [
        "",
        "/",
        "a/",
        "a/b/c/d",
        "a/b--c",
        "a/-b",
        "a/b_c",
        "a.b/c",
        "-/a/b",
        "example.com/-/aws",
        "a/terraform-provider-x",
        "a/terraform-x",
        "a/opentofu-x",
        "http://x/a/b",
        "x:99999/a/b",
        "x:/a/b",
        "xn--a.com/a/b",
        "a..b/a/b",
        "ab--c.com/a/b",
    ] {
        assert!(source(wrong).is_err(), "{wrong:?}");
    }
    assert!(source("a/terraform-provider-x").unwrap_err().contains_suggestion("\"a/x\""));
    assert!(Provider::implied("terraform").unwrap().is_builtin());
    let here = Provider::parse_source("hashicorp/aws").unwrap();
    let there = Provider::parse_source("registry.terraform.io/hashicorp/aws").unwrap();
    assert!(here != there && here.same_as(&there));
    assert!(!here.same_as(&Provider::parse_source("example.com/hashicorp/aws").unwrap()));
    assert_eq!(here.for_display(), "hashicorp/aws");
}

impl AddressError {
    fn contains_suggestion(&self, text: &str) -> bool {
        self.detail.contains(&format!("Did you mean {text}?"))
    }
}

#[test]
fn provider_configurations() {
    round_trip::<ProviderInstance>(&[
        "provider[\"registry.opentofu.org/hashicorp/aws\"]",
        "provider[\"registry.terraform.io/hashicorp/aws\"].west",
        "module.a.module.b.provider[\"registry.opentofu.org/x/y\"].west[\"k\"]",
        "provider[\"registry.opentofu.org/x/y\"].west[0]",
    ]);
    refused::<ProviderConfig>(&[
        ("provider[\"x/y\"].a[0]", 17, "must not include an instance key"),
        ("provider.aws", 8, "provider type name"),
        ("provider[0]", 8, "provider type name"),
        ("provider[\"a/b/c/d\"]", 8, "in the format"),
        ("provider[\"a/b\"][0]", 15, "alias name"),
        ("provider[\"a/b\"].c.d", 17, "Extraneous"),
        ("module.a[0].provider[\"a/b\"]", 0, "count or for_each"),
        ("aws.west", 0, "must begin with"),
    ]);
    let config: ProviderConfig = "module.a.provider[\"x/y\"]".parse().unwrap();
    assert_eq!(config.inherited().unwrap().to_string(), "provider[\"registry.opentofu.org/x/y\"]");
    assert!(config.inherited().unwrap().inherited().is_none());
}

#[test]
fn references() {
    for (text, referent, remaining) in [
        ("var.a.b[0]", "var.a", 2),
        ("local.a", "local.a", 0),
        ("self.id", "self", 1),
        ("aws_x.y", "aws_x.y", 0),
        ("aws_x.y.id", "aws_x.y", 1),
        ("aws_x.y[\"k\"].id", "aws_x.y[\"k\"]", 1),
        ("resource.template.y.id", "template.y", 1),
        ("data.a.b[0].c", "data.a.b[0]", 1),
        ("module.m", "module.m", 0),
        ("module.m[0]", "module.m[0]", 0),
        ("module.m[0].out.x", "module.m[0].out", 1),
        ("tofu.workspace", "terraform.workspace", 0),
        ("path.module", "path.module", 0),
        ("each.value.x", "each.value", 1),
    ] {
        let reference: Reference = text.parse().unwrap();
        assert_eq!(
            (reference.referent.to_string().as_str(), reference.remaining.len()),
            (referent, remaining),
            "{text}"
        );
    }
    refused::<Reference>(&[
        ("var", 0, "cannot be accessed directly"),
        ("var[0]", 3, "does not support this operation"),
        ("data.a", 0, "two attribute names"),
        ("a", 0, "at least one attribute access"),
        ("a[0]", 1, "at least one attribute access"),
        ("lazy.x", 0, "reserved"),
        ("module.m[0][1]", 11, "do not support"),
        ("a.b[1.5]", 3, "whole number"),
    ]);
    let function = ProviderFunction::parse("provider::aws::west::f").unwrap();
    assert_eq!(function.to_string(), "provider::aws::west::f");
    assert!(ProviderFunction::parse("core::f").is_none());
}

#[test]
fn named_objects() {
    round_trip::<AbsNamed>(&["var.a", "module.a[0].output.b", "module.a.check.c", "local.d"]);
    round_trip::<ConfigNamed>(&["module.a.output.b"]);
    refused::<AbsNamed>(&[("a.b", 0, "Expected"), ("var", 0, "Expected"), ("var.a.b", 5, "extra")]);
}

#[test]
fn deposed_objects() {
    let key = DeposedKey::parse("0a1b2c3d").unwrap();
    assert_eq!(key, DeposedKey::new(0x0a1b_2c3d));
    assert!(DeposedKey::parse("0A1b2c3d").is_none() && DeposedKey::parse("0a1b2c3").is_none());
    let instance: AbsInstance = "a.b".parse().unwrap();
    assert_eq!(instance.object(Some(key)).to_string(), "a.b deposed object \"0a1b2c3d\"");
}

fn any_key() -> impl Strategy<Value = InstanceKey> {
    prop_oneof![
        Just(InstanceKey::None),
        (0i64..=i64::MAX).prop_map(InstanceKey::Int),
        "[${}%\"\\\\\n\t\u{1}\u{a0}\u{e000}\u{10ffff}a-c.\\[\\]]{0,8}|\\PC{0,8}"
            .prop_map(|key| InstanceKey::String(key.into())),
    ]
}

fn any_name() -> impl Strategy<Value = Str> {
    "[a-zA-Z_é][a-zA-Z0-9_-]{0,5}".prop_filter_map("keyword", |name| {
        (!["module", "data", "ephemeral"].contains(&name.as_str())).then(|| Str::from(name))
    })
}

fn any_instance() -> impl Strategy<Value = AbsInstance> {
    let modules = proptest::collection::vec((any_name(), any_key()), 0..3);
    let mode = prop_oneof![Just(ResourceMode::Managed), Just(ResourceMode::Data), Just(ResourceMode::Ephemeral)];
    (modules, mode, any_name(), any_name(), any_key()).prop_map(|(modules, mode, ty, name, key)| AbsInstance {
        module: ModuleInstance::new(modules.into_iter().map(|(name, key)| ModuleStep { name, key })),
        instance: Resource::new(mode, ty, name).instance(key),
    })
}

proptest! {
    #[test]
    fn instances_come_back(instance in any_instance()) {
        prop_assert_eq!(instance.to_string().parse::<AbsInstance>().unwrap(), instance);
    }

    #[test]
    fn any_text_is_safe(text in "\\PC{0,30}|[a-c.\\[\\]\"\\\\${}%u0-9 *-]{0,30}") {
        let _ = text.parse::<Target>();
        let _ = text.parse::<Reference>();
        let _ = text.parse::<ProviderInstance>();
        let _ = text.parse::<AbsNamed>();
        if let Ok(provider) = Provider::parse_source(&text) {
            prop_assert_eq!(Provider::parse_source(&provider.to_string()).unwrap(), provider);
        }
        if let Ok(target) = text.parse::<Target>() {
            prop_assert_eq!(target.to_string().parse::<Target>().unwrap(), target);
        }
    }
}
