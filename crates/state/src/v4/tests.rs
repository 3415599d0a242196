//! What is read is written back, and damage is never taken for nothing.

mod random;

use groma_model::address::DeposedKey;
use groma_model::ty::Type;

use super::{Layout, encode};
use crate::{Attributes, CheckStatus, DecodeError, ObjectStatus, decode};

/// Every kind of thing that a state can hold, laid out as files are.
const FULL: &str = r#"{
  "version": 4,
  "terraform_version": "1.12.6",
  "serial": 3,
  "lineage": "0b6fa3d8-7a0c-4b7e-9a55-d3a6e1c0b9c1",
  "outputs": {
    "any": {
      "value": {
        "a": [
          1,
          "x"
        ]
      },
      "type": [
        "object",
        {
          "a": [
            "tuple",
            [
              "number",
              "string"
            ]
          ]
        }
      ],
      "sensitive": true
    },
    "old": {
      "value": "x",
      "type": "string",
      "deprecated": "use any"
    }
  },
  "resources": [
    {
      "mode": "data",
      "type": "time_static",
      "name": "a",
      "provider": "provider[\"registry.opentofu.org/hashicorp/time\"].west",
      "instances": [
        {
          "schema_version": 0,
          "attributes": {
            "id": "\u003cx, \"y\": {\\\u003e",
            "list": [],
            "year": 12345678901234567890
          },
          "sensitive_attributes": [
            [
              {
                "type": "get_attr",
                "value": "list"
              },
              {
                "type": "index",
                "value": {
                  "value": 0,
                  "type": "number"
                }
              },
              {
                "type": "index",
                "value": {
                  "value": "k",
                  "type": "string"
                }
              }
            ]
          ],
          "private": "YWJj",
          "dependencies": [
            "data.time_static.b",
            "module.m.time_static.c"
          ],
          "create_before_destroy": true,
          "skip_destroy": true,
          "identity": {
            "id": "x"
          },
          "identity_schema_version": 2
        }
      ]
    },
    {
      "module": "module.m[\"k\"]",
      "mode": "managed",
      "type": "time_static",
      "name": "c",
      "provider": "module.m.provider[\"registry.opentofu.org/hashicorp/time\"]",
      "instances": [
        {
          "index_key": 0,
          "status": "tainted",
          "schema_version": 1,
          "attributes_flat": {
            "a.#": "0"
          },
          "sensitive_attributes": []
        },
        {
          "index_key": 0,
          "deposed": "00000001",
          "schema_version": 1,
          "attributes": {},
          "sensitive_attributes": []
        },
        {
          "index_key": "b",
          "deposed": "0000000a",
          "schema_version": 1,
          "attributes": {},
          "sensitive_attributes": []
        }
      ]
    },
    {
      "module": "module.m[\"k\"]",
      "mode": "managed",
      "type": "time_static",
      "name": "d",
      "instances": [
        {
          "index_key": "b",
          "provider": "provider[\"registry.opentofu.org/hashicorp/time\"].by[\"eu\"]",
          "schema_version": 1,
          "attributes": {},
          "sensitive_attributes": []
        }
      ]
    }
  ],
  "check_results": [
    {
      "object_kind": "resource",
      "config_addr": "time_static.a",
      "status": "fail",
      "objects": [
        {
          "object_addr": "time_static.a",
          "status": "fail",
          "failure_messages": [
            "no"
          ]
        }
      ]
    },
    {
      "object_kind": "var",
      "config_addr": "var.x",
      "status": "unknown",
      "objects": null
    }
  ]
}
"#;

#[test]
fn a_state_is_written_as_it_was_read() {
    let state = decode(FULL).unwrap();
    assert_eq!(encode(&state, Layout::Indented).unwrap(), FULL);
    let compact = encode(&state, Layout::Compact).unwrap();
    assert_eq!(compact.lines().count(), 1);
    assert_eq!(decode(&compact).unwrap(), state);
}

#[test]
fn everything_is_understood() {
    let state = decode(FULL).unwrap();
    assert_eq!((state.serial, state.resources.len()), (3, 3));
    assert!(state.outputs["any"].sensitive);
    assert_eq!(state.outputs["old"].value.ty(), Type::String);
    assert_eq!(state.providers().len(), 1);
    let c = &state.resources[&"module.m[\"k\"].time_static.c".parse().unwrap()];
    let first = &c.instances[&groma_model::address::InstanceKey::Int(0)];
    assert_eq!(first.current.as_ref().unwrap().status, ObjectStatus::Tainted);
    assert!(matches!(first.current.as_ref().unwrap().attributes, Attributes::Flat(_)));
    assert!(first.deposed.contains_key(&DeposedKey::parse("00000001").unwrap()));
    assert_eq!(state.checks.unwrap()[0].objects[0].status, CheckStatus::Fail);
}

#[test]
fn damage_is_never_taken_for_nothing() {
    assert!(matches!(decode(""), Err(DecodeError::Empty)));
    assert!(matches!(decode(" \n"), Err(DecodeError::Empty)));
    for cut in (1..FULL.len() - 2).filter(|cut| FULL.is_char_boundary(*cut)) {
        assert!(decode(&FULL[..cut]).is_err(), "cut at {cut}");
    }
    assert!(matches!(decode(&FULL.replace("\"version\": 4", "\"version\": 5")), Err(DecodeError::NewerVersion { .. })));
}

#[test]
fn nothing_is_silently_overwritten() {
    let twice = FULL.replace("\"deposed\": \"00000001\",", "");
    assert!(matches!(decode(&twice), Err(DecodeError::Duplicate { .. })));
    let again = FULL.replace("\"name\": \"d\"", "\"name\": \"c\"");
    assert!(matches!(decode(&again), Err(DecodeError::Duplicate { .. })));
}

#[test]
fn mistakes_say_where_they_are() {
    let error = |from: &str, to: &str| decode(&FULL.replacen(from, to, 1)).unwrap_err().to_string();
    assert_eq!(error("\"serial\": 3", "\"serial\": \"3\""), "serial: expected a number");
    assert_eq!(
        error("\"deposed\": \"00000001\"", "\"deposed\": \"1\""),
        "resources[1].instances[1].deposed: expected eight hexadecimal digits"
    );
    assert_eq!(
        error("\"private\": \"YWJj\"", "\"private\": \"%\""),
        "resources[0].instances[0].private: expected base64"
    );
}

#[test]
fn addresses_from_before_providers_had_sources_are_understood() {
    let old =
        FULL.replacen("provider[\\\"registry.opentofu.org/hashicorp/time\\\"].west", "module.m.provider.time.west", 1);
    let state = decode(&old).unwrap();
    let provider = &state.resources[&"data.time_static.a".parse().unwrap()].provider;
    assert_eq!(provider.to_string(), "module.m.provider[\"registry.opentofu.org/-/time\"].west");
}
