//! Writing YAML, and reading it back.

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::path::Literal;

#[test]
fn yaml_is_written_as_people_write_it() {
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "labels": {"app.kubernetes.io/name": "x", "on": "yes", "empty": ""}, "annotations": {}},
        "data": {"a.conf": "line 1\n  line 2\n", "no-break": "a\nb", "many": "a\n\n", "port": "80", "tab": "\tx\n"},
        "spec": {
            "containers": [{"name": "c", "image": "nginx:1.25", "args": ["--a=b", "- x", "# y"], "ports": []}],
            "matrix": [[1, 2.5], [true, null]],
            "limit": "100m", "size": "1Gi", "ip": "10.0.0.1", "date": "2001-01-01", "star": "*", "colon": "a: b",
        },
    });
    expect![[r##"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: a
          labels:
            app.kubernetes.io/name: x
            "on": "yes"
            empty: ""
          annotations: {}
        data:
          a.conf: |
            line 1
              line 2
          no-break: |-
            a
            b
          many: |+
            a

          port: "80"
          tab: "\tx\n"
        spec:
          containers:
          - name: c
            image: nginx:1.25
            args:
            - "--a=b"
            - "- x"
            - "# y"
            ports: []
          matrix:
          - - 1
            - 2.5
          - - true
            - null
          limit: 100m
          size: 1Gi
          ip: "10.0.0.1"
          date: "2001-01-01"
          star: "*"
          colon: "a: b"
    "##]]
    .assert_eq(&to_yaml(&object));
    assert_eq!(json(&to_yaml(&object)), object);
}

#[test]
fn an_import_leaves_out_what_the_server_adds() {
    let live = json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {
            "name": "a", "namespace": "n", "uid": "u", "resourceVersion": "1", "generation": 2, "creationTimestamp": "t",
            "managedFields": [{}], "labels": {"x": "y"},
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "k8sconnect.terraform.io/terraform-id": "i"},
        },
        "spec": {"jobTemplate": {"metadata": {"creationTimestamp": null}, "spec": {"template": {
            "metadata": {"creationTimestamp": null, "labels": {"a": "b"}}, "spec": {"restartPolicy": "Never"}}}}},
        "status": {"active": []},
    });
    let expected = json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": "a", "namespace": "n", "labels": {"x": "y"}},
        "spec": {"jobTemplate": {"spec": {"template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"restartPolicy": "Never"}}}}},
    });
    assert_eq!(cleaned(&live), expected);
    assert!(Manifest::parse(&to_yaml(&cleaned(&live))).is_ok());
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        "[a-zA-Z0-9 :#\\-?\n\t'\"|>{}\\[\\],&*!%@`~.+_=<]{0,16}",
        "(yes|no|on|off|y|n|true|null|~|1|0x1|1e3|2001-01-01|\\.inf|<<|---|\\.\\.\\.|- |\\? |: )[a-z:\n ]{0,3}",
        any::<String>(),
    ]
}

fn tree() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        texts().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<bool>().prop_map(Json::from),
        Just(Json::Null),
    ];
    scalar.prop_recursive(4, 30, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            proptest::collection::vec((texts(), inner), 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_written_is_read_back(members in proptest::collection::vec((texts(), tree()), 1..4)) {
        let object = Json::Object(members.into_iter().collect());
        let text = to_yaml(&object);
        let read = Manifest::parse_part(&text);
        prop_assert!(read.is_ok(), "{:?}\n{}", read, text);
        prop_assert_eq!(Literal::of(&read.unwrap().object), Literal::of(&object), "{}", text);
    }
}
