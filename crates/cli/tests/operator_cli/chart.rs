//! The chart and the base for kustomize, as those use them who install with them: real Helm renders, installs and removes the chart, and a real
//! API server takes what comes of it. Both come to what `groma operator install` prints.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use groma_testkit::servers::kube::{ADMIN_TOKEN, Extent, KubeServer};
use serde_json::{Value, json};

use crate::api::Api;
use crate::sandbox::Sandbox;
use crate::team::{cluster, path_of};

fn deploy(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(path)
}

/// Helm, with a home of its own.
struct Helm {
    home: tempfile::TempDir,
}

impl Helm {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    fn run(&self, words: &[&str]) -> Output {
        #[expect(clippy::disallowed_methods, reason = "it says where the real program is")]
        let program = std::env::var_os("GROMA_HELM").expect("GROMA_HELM is not set: run `cargo xtask test`");
        let mut command = Command::new(program);
        command
            .args(words)
            .env_clear()
            .env("HOME", self.home.path())
            .env("KUBECONFIG", self.home.path().join("kubeconfig"));
        command.output().unwrap()
    }

    #[track_caller]
    fn says(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "helm {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What the chart comes to, by kind and name.
    #[track_caller]
    fn template(&self, more: &[&str]) -> BTreeMap<(String, String), Value> {
        let chart = deploy("helm/groma");
        let given = ["template", "groma", chart.to_str().unwrap(), "--include-crds", "--kube-version=1.34.4"];
        let words = [&given[..], more].concat();
        by_name(&self.says(&words))
    }
}

/// Objects by kind and name, without what Helm adds that nobody else says.
fn by_name(text: &str) -> BTreeMap<(String, String), Value> {
    let objects: Vec<Value> = serde_saphyr::from_multiple(text).unwrap();
    let named = objects.into_iter().filter(|object| !object.is_null()).map(|mut object| {
        if let Some(container) = object.pointer_mut("/spec/template/spec/containers/0").and_then(Value::as_object_mut) {
            container.remove("imagePullPolicy");
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        ((text(&object["kind"]), text(&object["metadata"]["name"])), object)
    });
    named.collect()
}

/// What is printed to be installed, but for the namespace, which Helm makes itself.
fn printed(more: &[&str]) -> BTreeMap<(String, String), Value> {
    let printed = Sandbox::new().run(&[&["operator", "install"], more].concat());
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let mut objects = by_name(&printed.stdout);
    objects.retain(|(kind, _), _| kind != "Namespace");
    objects
}

#[track_caller]
fn assert_same(ours: &BTreeMap<(String, String), Value>, theirs: &BTreeMap<(String, String), Value>) {
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (name, object) in ours {
        assert_eq!(object, &theirs[name], "{name:?}");
    }
}

#[test]
fn the_chart_comes_to_what_is_printed() {
    let helm = Helm::new();
    let chart = deploy("helm/groma");
    let said = helm.says(&["lint", "--strict", chart.to_str().unwrap()]);
    assert!(said.contains("0 chart(s) failed"), "{said}");

    assert_same(&printed(&[]), &helm.template(&["--namespace", "groma-system"]));
    let image = "registry.example/groma:1";
    let elsewhere = ["--namespace", "elsewhere", "--set-string", "image.repository=registry.example/groma,image.tag=1"];
    assert_same(&printed(&["-namespace=elsewhere", "--image", image]), &helm.template(&elsewhere));

    // What can be chosen is chosen, and nothing else changes.
    let policy = ("NetworkPolicy".to_owned(), "groma-operator".to_owned());
    let mut without = printed(&[]);
    without.remove(&policy);
    assert_same(&without, &helm.template(&["--namespace", "groma-system", "--set", "networkPolicy.enabled=false"]));
    let chosen = helm.template(&[
        "--namespace",
        "groma-system",
        "--set",
        "networks.allow={10.96.0.1,10.0.0.0/8},networks.deny={10.96.0.0/12},extraArgs={-runs=3},terminationGracePeriodSeconds=9",
        "--set",
        "nodeSelector.disk=fast,podAnnotations.team=a,imagePullSecrets[0].name=pull",
        "--set-json",
        "extraEnv=[{\"name\":\"HTTPS_PROXY\",\"value\":\"http://proxy.example\"}]",
    ]);
    let pod = &chosen[&("Deployment".to_owned(), "groma-operator".to_owned())]["spec"]["template"];
    let args = pod["spec"]["containers"][0]["args"].as_array().unwrap();
    let last: Vec<&str> = args[args.len() - 3..].iter().filter_map(Value::as_str).collect();
    assert_eq!(last, ["-allow-networks=10.96.0.1,10.0.0.0/8", "-deny-networks=10.96.0.0/12", "-runs=3"]);
    assert_eq!(pod["spec"]["terminationGracePeriodSeconds"], 9);
    assert_eq!(pod["spec"]["nodeSelector"], json!({"disk": "fast"}));
    assert_eq!(pod["spec"]["imagePullSecrets"], json!([{"name": "pull"}]));
    assert_eq!(pod["metadata"]["annotations"], json!({"team": "a"}));
    assert_eq!(pod["spec"]["containers"][0]["env"][2]["name"], "HTTPS_PROXY");
}

#[test]
fn values_that_nobody_knows_are_refused() {
    let helm = Helm::new();
    let chart = deploy("helm/groma");
    for (wrong, named) in [
        ("imagee.tag=1", "imagee"),
        ("image.tags=1", "tags"),
        ("image.pullPolicy=Sometimes", "pullPolicy"),
        ("networks.allow={ten}", "allow"),
        ("networkPolicy.enabled=perhaps", "enabled"),
        ("extraArgs={runs}", "extraArgs"),
        ("terminationGracePeriodSeconds=-1", "terminationGracePeriodSeconds"),
    ] {
        let output = helm.run(&["template", "groma", chart.to_str().unwrap(), "--set", wrong]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(named), "{wrong}: {said}");
    }
}

#[test]
fn the_chart_is_installed_and_removed() {
    let server = KubeServer::fresh(Extent::Api, Vec::new());
    let reach = server.reach();
    let api = Api::new(reach);
    let helm = Helm::new();
    fs::write(helm.home.path().join("kubeconfig"), reach.kubeconfig_text(ADMIN_TOKEN).unwrap()).unwrap();
    let chart = deploy("helm/groma");
    let chart = chart.to_str().unwrap();
    helm.says(&["install", "groma", chart, "--namespace", "groma-system", "--create-namespace", "--wait=false"]);
    let objects = printed(&[]);
    for object in objects.values() {
        assert!(api.find(&path_of(object)).is_some(), "{}", path_of(object));
    }
    let deployment = "/apis/apps/v1/namespaces/groma-system/deployments/groma-operator";
    helm.says(&[
        "upgrade",
        "groma",
        chart,
        "--namespace",
        "groma-system",
        "--set",
        "extraArgs={-runs=3}",
        "--wait=false",
    ]);
    let args = api.get(deployment)["spec"]["template"]["spec"]["containers"][0]["args"].clone();
    assert_eq!(args.as_array().unwrap().last(), Some(&json!("-runs=3")));
    helm.says(&["uninstall", "groma", "--namespace", "groma-system", "--wait=false"]);
    for object in objects.values() {
        // What people have made is of these kinds, and goes with them: so they stay.
        let is_definition = object["kind"] == "CustomResourceDefinition";
        assert_eq!(api.find(&path_of(object)).is_some(), is_definition, "{}", path_of(object));
    }
}

#[test]
fn the_base_for_kustomize_is_taken_as_it_is() {
    let base = deploy("kustomize/base");
    let read = |name: &str| fs::read_to_string(base.join(name)).unwrap();
    let kustomization: Value = serde_saphyr::from_str(&read("kustomization.yaml")).unwrap();
    let named: Vec<String> =
        kustomization["resources"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    let there = fs::read_dir(&base).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut there: Vec<String> = there.filter(|name| name != "kustomization.yaml").collect();
    there.sort();
    let mut sorted = named.clone();
    sorted.sort();
    assert_eq!(sorted, there);
    let text: String = named.iter().map(|name| read(name)).collect();
    let mut objects = by_name(&text);
    let api = Api::new(cluster());
    for object in objects.values() {
        let path = format!("{}?fieldManager=kubectl&force=true&fieldValidation=Strict&dryRun=All", path_of(object));
        let (status, said) = api.ask("PATCH", &path, "application/apply-patch+yaml", Some(object)).unwrap();
        assert!(status == 200 || status == 201, "{path}: {said}");
    }
    objects.retain(|(kind, _), _| kind != "Namespace");
    assert_same(&printed(&[]), &objects);
    // And what is there for namespaces with Jobs.
    let mut policy: Value = serde_saphyr::from_str(&fs::read_to_string(deploy("network/runs.yaml")).unwrap()).unwrap();
    policy["metadata"]["namespace"] = json!("default");
    let path = format!("{}?fieldManager=kubectl&fieldValidation=Strict&dryRun=All", path_of(&policy));
    let (status, said) = api.ask("PATCH", &path, "application/apply-patch+yaml", Some(&policy)).unwrap();
    assert!(status == 200 || status == 201, "{said}");
}
