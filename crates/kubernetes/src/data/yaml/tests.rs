//! Both data sources, with content, files and programs of our own.

use std::sync::Arc;

use groma_kit::InProcess;
use groma_model::text::Str;
use groma_provider::api::{Provider, ReadDataRequest};

use super::*;
use crate::api::Connections;
use crate::data::{YamlScoped, YamlSplit};
use crate::provider::{Host, Shared};

const SPLIT: &str = "k8sconnect_yaml_split";
const SCOPED: &str = "k8sconnect_yaml_scoped";

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";
const SHOP: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";

fn provider(outside: &Outside) -> InProcess {
    let shared =
        Arc::new(Shared { connections: Connections::new(outside), outside: outside.clone(), host: Host::Groma });
    InProcess::new("k8sconnect").data_source(YamlSplit::new(shared.clone())).data_source(YamlScoped::new(shared))
}

fn config(type_name: &str, name: &str, value: Value) -> Value {
    let outputs: &[&str] = if type_name == SPLIT { &["manifests"] } else { &["crds", "cluster_scoped", "namespaced"] };
    let mut entries: BTreeMap<Str, Value> = ["content", "pattern", "kustomize_path", "id"]
        .iter()
        .map(|name| (Str::from(*name), Value::null(Type::String)))
        .collect();
    entries.extend(outputs.iter().map(|name| (Str::from(*name), Value::null(Type::map(Type::String)))));
    entries.insert(Str::from(name), value);
    Value::object(entries)
}

/// The object, and what was said.
async fn read_in(outside: &Outside, type_name: &str, name: &str, value: &str) -> (Object, Vec<String>) {
    let config = config(type_name, name, Value::string(value));
    let request = ReadDataRequest { type_name: Str::from(type_name), config, provider_meta: None, address: None };
    let answer = provider(outside).read_data(request).await.unwrap();
    let said = answer.diagnostics.iter().map(|found| format!("{}: {}", found.summary, found.detail)).collect();
    (Object::of(&answer.object), said)
}

async fn read(type_name: &str, name: &str, value: &str) -> (Object, Vec<String>) {
    read_in(&Outside::system(std::env::temp_dir()), type_name, name, value).await
}

fn keys(object: &Object, name: &str) -> Vec<String> {
    object.text_map(name).unwrap().into_iter().map(|(key, _)| key.to_owned()).collect()
}

#[tokio::test]
async fn content_is_taken_apart() {
    let (object, said) = read(SPLIT, "content", &format!("{WEB}---\n# nothing\n---\n{SHOP}")).await;
    assert!(said.is_empty(), "{said:?}");
    assert_eq!(keys(&object, "manifests"), ["apps.deployment.shop.web", "namespace.shop"]);
    assert_eq!(object.text_map("manifests").unwrap()[1].1, SHOP.trim());
    let id = object.text("id").unwrap();
    assert!(id.starts_with("content-") && id.len() == "content-".len() + 8, "{id}");
}

#[tokio::test]
async fn lists_in_content_are_taken_apart_too() {
    let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n";
    let (object, _) = read(SPLIT, "content", list).await;
    assert_eq!(keys(&object, "manifests"), ["configmap.a"]);
}

#[tokio::test]
async fn what_is_wrong_with_content_is_said() {
    for (content, expected) in [
        ("", "Empty content"),
        ("# a\n---\n", "No objects in YAML"),
        ("a: b\n", "Incomplete manifest: Line 1 of the content (`a: b`): apiVersion is missing"),
        ("a: [", "Invalid YAML: Line 1 of the content"),
    ] {
        let (_, said) = read(SPLIT, "content", content).await;
        assert!(said.first().is_some_and(|said| said.starts_with(expected)), "{content:?}: {said:?}");
    }
}

#[tokio::test]
async fn the_same_object_twice_names_both_places() {
    let (_, said) = read(SPLIT, "content", &format!("{WEB}---\n{SHOP}---\n{WEB}")).await;
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("line 10 of the content") && said[0].contains("line 2 of the content"), "{said:?}");
}

#[tokio::test]
async fn exactly_one_input_is_expected() {
    let provider = provider(&Outside::system("."));
    let both = {
        let mut both = Object::of(&config(SPLIT, "content", Value::string("a")));
        both.set_text("pattern", Some("b"));
        both.into_value()
    };
    let none = config(SPLIT, "content", Value::null(Type::String));
    let unknown = config(SPLIT, "content", Value::unknown(Type::String));
    for (config, expected) in [(both, Some("Conflicting inputs")), (none, Some("Missing input")), (unknown, None)] {
        let found = provider.validate_data_source(SPLIT, config).await.unwrap();
        assert_eq!(found.iter().next().map(|found| found.summary.as_str()), expected);
    }
}

#[tokio::test]
async fn files_are_read_by_pattern() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("sub")).unwrap();
    std::fs::write(directory.path().join("a.yaml"), WEB).unwrap();
    std::fs::write(directory.path().join("sub/b.yaml"), SHOP).unwrap();
    let outside = Outside::system(directory.path());
    let (object, said) = read_in(&outside, SPLIT, "pattern", "**/*.yaml").await;
    assert!(said.is_empty(), "{said:?}");
    assert_eq!(keys(&object, "manifests"), ["apps.deployment.shop.web", "namespace.shop"]);
    assert!(object.text("id").unwrap().starts_with("pattern-"));

    let (_, said) = read_in(&outside, SPLIT, "pattern", "*.json").await;
    assert!(said[0].starts_with("No files match: There is no file that \"*.json\" stands for."), "{said:?}");
    let (_, said) = read_in(&outside, SPLIT, "pattern", "[").await;
    assert!(said[0].starts_with("Invalid file pattern"), "{said:?}");
    std::fs::write(directory.path().join("c.yaml"), SHOP).unwrap();
    let (_, said) = read_in(&outside, SPLIT, "pattern", "**/*.yaml").await;
    assert!(said[0].contains("line 2 of sub/b.yaml") && said[0].contains("line 2 of c.yaml"), "{said:?}");
    std::fs::write(directory.path().join("c.yaml"), b"\xff\xfe").unwrap();
    let (_, said) = read_in(&outside, SPLIT, "pattern", "c.yaml").await;
    assert!(said[0].starts_with("Unreadable file: c.yaml cannot be read"), "{said:?}");
}

#[tokio::test]
async fn objects_are_told_apart_by_what_they_need() {
    let crd = |kind: &str, scope: &str| {
        format!(
            "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {kind}.x.io}}\nspec:\n  \
             group: x.io\n  scope: {scope}\n  names: {{kind: {kind}}}\n"
        )
    };
    let thing = |kind: &str| format!("---\napiVersion: x.io/v1\nkind: {kind}\nmetadata: {{name: a}}\n");
    let content = [
        crd("Wide", "Cluster"),
        crd("Narrow", "Namespaced"),
        thing("Wide"),
        thing("Narrow"),
        "---\n".into(),
        WEB.into(),
        "---\n".into(),
        SHOP.into(),
    ]
    .concat();
    let (object, said) = read(SCOPED, "content", &content).await;
    assert!(said.is_empty(), "{said:?}");
    assert_eq!(
        keys(&object, "crds"),
        [
            "apiextensions.k8s.io.customresourcedefinition.Narrow.x.io",
            "apiextensions.k8s.io.customresourcedefinition.Wide.x.io"
        ]
    );
    assert_eq!(keys(&object, "cluster_scoped"), ["namespace.shop", "x.io.wide.a"]);
    assert_eq!(keys(&object, "namespaced"), ["apps.deployment.shop.web", "x.io.narrow.a"]);
}

#[cfg(unix)]
mod programs {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A directory with programs of our own, and an outside that finds them.
    fn with_programs(programs: &[(&str, &str)]) -> (tempfile::TempDir, Outside) {
        let directory = tempfile::tempdir().unwrap();
        for (name, script) in programs {
            let path = directory.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let environment = [("PATH".to_owned(), directory.path().display().to_string())].into();
        let outside = Outside { environment: Arc::new(environment), ..Outside::system(directory.path()) };
        (directory, outside)
    }

    const NAMESPACE: &str = "echo '{apiVersion: v1, kind: Namespace, metadata: {name: '\"$2\"'}}'";

    #[tokio::test]
    async fn a_kustomization_is_built_and_its_warnings_are_told() {
        let script =
            format!("[ \"$1\" = build ] || exit 3\necho \"# Warning: 'commonLabels' is deprecated.\" >&2\n{NAMESPACE}");
        let (_directory, outside) = with_programs(&[("kustomize", &script), ("kubectl", "exit 4")]);
        let (object, said) = read_in(&outside, SPLIT, "kustomize_path", "overlay").await;
        assert_eq!(said, ["Kustomize warning: overlay: 'commonLabels' is deprecated."]);
        assert_eq!(keys(&object, "manifests"), ["namespace.overlay"]);
        assert!(object.text("id").unwrap().starts_with("kustomize-"));
    }

    #[tokio::test]
    async fn kubectl_will_do() {
        let (_directory, outside) =
            with_programs(&[("kubectl", &format!("[ \"$1\" = kustomize ] || exit 3\n{NAMESPACE}"))]);
        let (object, said) = read_in(&outside, SCOPED, "kustomize_path", "overlay").await;
        assert!(said.is_empty(), "{said:?}");
        assert_eq!(keys(&object, "cluster_scoped"), ["namespace.overlay"]);
    }

    #[tokio::test]
    async fn failures_are_told_in_the_words_of_the_program() {
        let (_directory, outside) = with_programs(&[("kustomize", "echo 'Error: no kustomization' >&2; exit 1")]);
        let (_, said) = read_in(&outside, SPLIT, "kustomize_path", "overlay").await;
        assert_eq!(said, ["Kustomize build failed: kustomize build overlay failed: no kustomization"]);
    }

    #[tokio::test]
    async fn without_a_program_it_is_said_what_is_missing() {
        let (_directory, outside) = with_programs(&[]);
        let (_, said) = read_in(&outside, SPLIT, "kustomize_path", "overlay").await;
        assert!(said[0].starts_with("Kustomize not available") && said[0].contains("search path"), "{said:?}");
        let outside = Outside { no_programs: Some("Set this.".to_owned()), ..outside };
        let (_, said) = read_in(&outside, SPLIT, "kustomize_path", "overlay").await;
        assert!(said[0].contains("Set this."), "{said:?}");
    }
}
