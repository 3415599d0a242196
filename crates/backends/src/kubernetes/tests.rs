//! Settings, as they are given and as the environment has them.

use std::path::Path;

use super::*;

fn surroundings(dir: &Path, variables: &'static [(&'static str, &'static str)]) -> Surroundings {
    static RUNTIME: std::sync::OnceLock<tokio::runtime::Runtime> = std::sync::OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| tokio::runtime::Runtime::new().unwrap());
    let find =
        move |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    Surroundings {
        variable: Arc::new(find),
        working_dir: dir.to_owned(),
        home: Some(dir.join("home")),
        runtime: runtime.handle().clone(),
        random: Arc::new(|| [7; 16]),
        spool: dir.join("spool"),
        cluster: None,
        limits: crate::Limits::default(),
        is_gone: None,
    }
}

fn given(settings: &[(&str, &str)]) -> Value {
    Value::object(settings.iter().map(|(name, value)| (*name, Value::from(*value))))
}

fn wrong(dir: &Path, settings: &[(&str, &str)], variables: &'static [(&'static str, &'static str)]) -> String {
    match Kubernetes.configure(&given(settings), &surroundings(dir, variables)) {
        Ok(_) => String::new(),
        Err(wrong) => {
            let all: Vec<String> = wrong.iter().map(|one| format!("{}: {}", one.summary, one.detail)).collect();
            all.join("\n")
        }
    }
}

const CONFIG: &str = "apiVersion: v1
kind: Config
current-context: one
clusters:
- name: a
  cluster: {server: 'https://a.example'}
- name: b
  cluster: {server: 'https://b.example'}
users:
- name: u
  user: {token: t}
contexts:
- name: one
  context: {cluster: a, user: u}
";

#[test]
fn a_cluster_has_to_be_named() {
    let dir = tempfile::tempdir().unwrap();
    let suffix = ("secret_suffix", "app");
    assert!(wrong(dir.path(), &[suffix], &[]).contains("no configuration has been provided"));
    assert!(wrong(dir.path(), &[("host", "h")], &[]).contains("The argument \"secret_suffix\" is required"));
    assert_eq!(wrong(dir.path(), &[suffix, ("host", "https://cluster.example"), ("token", "t")], &[]), "");
    assert_eq!(wrong(dir.path(), &[suffix], &[("KUBE_HOST", "cluster.example")]), "");
    assert!(wrong(dir.path(), &[suffix, ("host", "a b")], &[]).contains("\"host\""));
    let text = wrong(dir.path(), &[suffix, ("host", "h"), ("cluster_ca_certificate", "x")], &[]);
    assert!(text.contains("there is no certificate in it"), "{text}");
    assert!(wrong(dir.path(), &[suffix], &[("KUBE_HOST", "h"), ("KUBE_INSECURE", "maybe")]).contains("KUBE_INSECURE"));
}

#[test]
fn files_are_found_from_where_people_are() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("home")).unwrap();
    std::fs::write(dir.path().join("here"), CONFIG).unwrap();
    std::fs::write(dir.path().join("home/there"), CONFIG).unwrap();
    let suffix = ("secret_suffix", "app");
    let check = |settings: &[(&str, &str)], variables| wrong(dir.path(), &[&[suffix], settings].concat(), variables);
    assert_eq!(check(&[("config_path", "here")], &[]), "");
    assert_eq!(check(&[("config_path", "~/there")], &[]), "");
    assert_eq!(check(&[], &[("KUBE_CONFIG_PATH", "here")]), "");
    assert_eq!(check(&[], &[("KUBE_CONFIG_PATHS", "gone:here")]), "");
    let text = check(&[("config_path", "gone")], &[]);
    assert!(text.contains("gone") && text.contains("Failed to initialize kubernetes configuration"), "{text}");
    let text = check(&[("config_path", "here"), ("config_context", "two")], &[]);
    assert!(text.contains("failed to load current context: two"), "{text}");
    assert_eq!(check(&[("config_path", "here"), ("config_context_cluster", "b")], &[]), "");
    let text = check(&[("config_path", "here"), ("config_context_cluster", "c")], &[]);
    assert!(text.contains("failed to load the cluster of context: c"), "{text}");
}
