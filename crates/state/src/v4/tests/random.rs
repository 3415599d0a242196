//! Any state is read back as it was written.

use std::collections::BTreeMap;

use groma_model::address::{
    AbsResource, ConfigResource, DeposedKey, InstanceKey, Module, ModuleInstance, ModuleStep, Provider, ProviderConfig,
    Resource, ResourceMode,
};
use groma_model::codec::json::write_string;
use groma_model::number::Number;
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use super::super::{Layout, encode};
use crate::{
    Attributes, CheckKind, CheckObject, CheckResult, CheckStatus, InstanceState, ObjectState, ObjectStatus,
    OutputState, ResourceState, State, StoredIdentity, decode,
};

fn text() -> impl Strategy<Value = String> {
    "[a-z<&{}\\[\\]:,\"\\\\\u{2028}é\n $%]{0,6}"
}

fn name() -> impl Strategy<Value = String> {
    "[a-z_][a-z0-9_-]{0,3}"
}

fn key() -> impl Strategy<Value = InstanceKey> {
    prop_oneof![
        Just(InstanceKey::None),
        (0i64..4).prop_map(InstanceKey::Int),
        text().prop_map(|text| InstanceKey::String(text.into())),
    ]
}

fn output() -> impl Strategy<Value = OutputState> {
    let value = prop_oneof![
        text().prop_map(Value::string),
        any::<i64>().prop_map(|number| Value::number(Number::parse(&number.to_string()).unwrap())),
        vec(any::<bool>().prop_map(Value::bool), 0..3).prop_map(|items| Value::list(Type::Bool, items)),
        Just(Value::null(Type::String)),
        Just(Value::empty_object()),
    ];
    (value, any::<bool>(), option::of("[a-z<]{1,4}")).prop_map(|(value, sensitive, deprecated)| OutputState {
        value,
        sensitive,
        deprecated: deprecated.map(Str::from),
    })
}

fn mode() -> impl Strategy<Value = ResourceMode> {
    prop_oneof![Just(ResourceMode::Managed), Just(ResourceMode::Data)]
}

fn address() -> impl Strategy<Value = AbsResource> {
    let step = (name(), key()).prop_map(|(name, key)| ModuleStep { name: name.into(), key });
    (vec(step, 0..3), mode(), name(), name())
        .prop_map(|(steps, mode, ty, name)| Resource::new(mode, ty, name).absolute(ModuleInstance::new(steps)))
}

fn dependency() -> impl Strategy<Value = ConfigResource> {
    address().prop_map(|address| address.config())
}

fn provider() -> impl Strategy<Value = ProviderConfig> {
    (vec(name(), 0..2), "[a-z]{1,4}", option::of(name())).prop_map(|(module, ty, alias)| ProviderConfig {
        module: Module::new(module),
        provider: Provider::new("registry.opentofu.org", "hashicorp", ty),
        alias: alias.map(Str::from),
    })
}

/// An object of strings as compact JSON.
fn json_object() -> impl Strategy<Value = String> {
    btree_map(text(), text(), 0..4).prop_map(|members| {
        let mut out = String::from("{");
        for (name, value) in members {
            if out.len() > 1 {
                out.push(',');
            }
            write_string(&mut out, &name);
            out.push_str(":[1.50,{\"a\":");
            write_string(&mut out, &value);
            out.push_str("},{},[]]");
        }
        out.push('}');
        out
    })
}

fn path() -> impl Strategy<Value = Path> {
    let step = prop_oneof![
        text().prop_map(|name| PathStep::Attr(name.into())),
        text().prop_map(|key| PathStep::Index(PathKey::String(key.into()))),
        (0u32..9).prop_map(|at| PathStep::Index(PathKey::Number(Number::parse(&at.to_string()).unwrap()))),
    ];
    vec(step, 0..3).prop_map(Path::from)
}

fn object() -> impl Strategy<Value = ObjectState> {
    let attributes = prop_oneof![
        3 => json_object().prop_map(Attributes::Json),
        1 => btree_map(text(), text(), 0..3).prop_map(Attributes::Flat),
    ];
    let identity = option::of((json_object(), option::of(any::<u64>())));
    let identity =
        identity.prop_map(|given| given.map(|(json, schema_version)| StoredIdentity { json, schema_version }));
    let lists = (vec(path(), 0..3), vec(any::<u8>(), 0..9), vec(dependency(), 0..3));
    (any::<[bool; 3]>(), any::<u64>(), attributes, lists, identity).prop_map(
        |([tainted, create_before_destroy, skip_destroy], schema_version, attributes, lists, identity)| ObjectState {
            status: if tainted { ObjectStatus::Tainted } else { ObjectStatus::Ready },
            schema_version,
            attributes,
            sensitive: lists.0,
            private: lists.1,
            dependencies: lists.2,
            create_before_destroy,
            skip_destroy,
            identity,
        },
    )
}

fn instance() -> impl Strategy<Value = InstanceState> {
    let deposed = btree_map(any::<u32>().prop_map(DeposedKey::new), object(), 0..3);
    (key(), option::of(object()), deposed)
        .prop_map(|(provider_key, current, deposed)| InstanceState { provider_key, current, deposed })
        .prop_filter("nothing is written of an instance without objects", |instance| {
            instance.current.is_some() || !instance.deposed.is_empty()
        })
}

fn status() -> impl Strategy<Value = CheckStatus> {
    prop_oneof![Just(CheckStatus::Pass), Just(CheckStatus::Fail), Just(CheckStatus::Error), Just(CheckStatus::Unknown)]
}

fn check() -> impl Strategy<Value = CheckResult> {
    let kind = prop_oneof![
        Just(CheckKind::Resource),
        Just(CheckKind::Output),
        Just(CheckKind::Check),
        Just(CheckKind::Variable)
    ];
    let object = (text(), status(), vec(text(), 0..2)).prop_map(|(address, status, failures)| CheckObject {
        address,
        status,
        failures,
    });
    (kind, text(), status(), vec(object, 0..3)).prop_map(|(kind, config_address, status, objects)| CheckResult {
        kind,
        config_address,
        status,
        objects,
    })
}

fn state() -> impl Strategy<Value = State> {
    let resource = (provider(), btree_map(key(), instance(), 0..3)).prop_map(|(provider, mut instances)| {
        if provider.alias.is_none() {
            // Only configurations with an alias have instances.
            for instance in instances.values_mut() {
                instance.provider_key = InstanceKey::None;
            }
        }
        ResourceState { provider, instances }
    });
    let outputs = btree_map(text().prop_map(Str::from), output(), 0..3);
    let resources = btree_map(address(), resource, 0..4);
    let checks = option::of(vec(check(), 1..3));
    (text(), any::<u64>(), text(), outputs, resources, checks).prop_map(
        |(tool_version, serial, lineage, outputs, resources, checks)| State {
            tool_version,
            serial,
            lineage,
            outputs,
            resources: BTreeMap::from_iter(resources),
            checks,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(state in state()) {
        for layout in [Layout::Indented, Layout::Compact] {
            let written = encode(&state, layout).unwrap();
            let read = decode(&written).unwrap();
            prop_assert_eq!(&read, &state);
            prop_assert!(read.same_content(&state));
            prop_assert_eq!(encode(&read, layout).unwrap(), written);
        }
    }

    #[test]
    fn no_text_is_too_odd(text in "\\PC{0,60}", version in 0u64..6, cut in 0usize..2000, state in state()) {
        let _ = decode(&text);
        let _ = decode(&format!("{{\"version\": {version}, {text}"));
        let whole = encode(&state, Layout::Compact).unwrap();
        let old = whole.replacen("\"version\":4", &format!("\"version\":{version}"), 1);
        let _ = decode(&old.replace("\"resources\"", "\"modules\""));
        // Cut off anywhere, it is no state.
        let cut = cut.min(whole.trim_end().len() - 1);
        let cut = (0..=cut).rev().find(|at| whole.is_char_boundary(*at)).unwrap();
        prop_assert!(decode(&whole[..cut]).is_err());
    }
}
