//! Ways to a cluster, and what is said when there is none, or when something is not allowed there.

use std::os::unix::fs::symlink;
use std::process::Command;

use groma_testkit::servers::kube::{self, ADMIN_TOKEN, NOBODY_TOKEN};

use crate::sandbox::Sandbox;
use crate::team::{Team, cluster, plain, said};

#[test]
fn what_is_not_there_has_similar_names() {
    let team = Team::new();
    team.stack("network", &plain(), &serde_json::Value::Null);
    let told = team.fails(&["describe", "netwrok"]);
    let expected = format!("Did you mean one of these? - {}/network", team.namespace);
    assert!(told.contains("No such Stack") && told.contains(&expected), "{told}");
    for command in ["suspend", "reconcile", "cancel", "outputs", "logs", "unlock"] {
        assert!(team.fails(&[command, "netwrok"]).contains("No such Stack"), "{command}");
    }
}

#[test]
fn what_is_not_allowed_is_named() {
    let team = Team::new();
    team.file("nobody", &cluster().kubeconfig_text(NOBODY_TOKEN).unwrap());
    let told = said(&team.run_as("nobody", &["get"]));
    for expected in
        ["Not allowed", "\"nobody\" cannot list resource \"stacks\" in API group \"groma.dev\"", &team.namespace]
    {
        assert!(told.contains(expected), "{expected:?} is not in: {told}");
    }
    let told = said(&team.run_as("nobody", &["suspend", "app"]));
    assert!(told.contains("cannot get resource \"stacks\""), "{told}");
}

#[test]
fn who_has_no_groma_is_told_how_to_get_it() {
    let sandbox = Sandbox::new().file("kubeconfig", &kube::shared().kubeconfig_text(ADMIN_TOKEN).unwrap());
    for words in [&["get"][..], &["describe", "app"], &["suspend", "app"], &["plan", "app"]] {
        let words = [&["stack"], words, &["-kubeconfig", "kubeconfig"]].concat();
        let outcome = sandbox.run(&words);
        assert_eq!(outcome.code, 1, "{words:?}");
        assert!(said(&outcome).contains("groma operator crds | kubectl apply -f -"), "{words:?}: {}", said(&outcome));
    }
}

#[test]
fn no_cluster_is_no_riddle() {
    let nothing = Sandbox::new().run(&["stack", "get"]);
    assert_eq!(nothing.code, 1);
    assert!(said(&nothing).contains("There is no kubeconfig, and this is no pod"), "{}", said(&nothing));
    let away = cluster().kubeconfig_text(ADMIN_TOKEN).unwrap().replace(&cluster().url, "https://127.0.0.1:1");
    let sandbox = Sandbox::new().file("kubeconfig", &away);
    let outcome = sandbox.run(&["stack", "get", "-kubeconfig=kubeconfig"]);
    assert_eq!(outcome.code, 1);
    assert!(
        said(&outcome).contains("No answer from the cluster") && said(&outcome).contains("refused"),
        "{}",
        said(&outcome)
    );
    let outcome = sandbox.run(&["stack", "get", "-kubeconfig=kubeconfig", "-context=nope"]);
    assert!(said(&outcome).contains("nope"), "{}", said(&outcome));
    let outcome = sandbox.run(&["stack", "get", "-kubeconfig=nowhere"]);
    assert!(said(&outcome).contains("nowhere"), "{}", said(&outcome));
}

#[test]
fn kubeconfigs_are_found_as_kubectl_finds_them() {
    let team = Team::new();
    team.stack("app", &plain(), &serde_json::Value::Null);
    let text = cluster().kubeconfig_text(ADMIN_TOKEN).unwrap();
    let with_namespace =
        text.replace("    user: user\n", &format!("    user: user\n    namespace: {}\n", team.namespace));
    assert_ne!(text, with_namespace, "{text}");
    let ways = [
        Sandbox::new().file(".kube/config", &with_namespace),
        Sandbox::new().file("a", &with_namespace).env("KUBECONFIG", "nowhere:a"),
    ];
    for sandbox in ways {
        let outcome = sandbox.run(&["stack", "get"]);
        assert_eq!(outcome.code, 0, "{}", said(&outcome));
        assert!(outcome.stdout.contains("\napp "), "{}", outcome.stdout);
    }
}

#[test]
fn kubectl_has_it_as_a_plugin() {
    let team = Team::new();
    team.stack("app", &plain(), &serde_json::Value::Null);
    let folder = team.sandbox().path("bin");
    std::fs::create_dir(&folder).unwrap();
    symlink(env!("CARGO_BIN_EXE_groma"), folder.join("kubectl-groma")).unwrap();
    // As kubectl starts it for `kubectl groma get`.
    let output = Command::new(folder.join("kubectl-groma"))
        .args(["get", "-n", &team.namespace])
        .env_clear()
        .env("KUBECONFIG", team.sandbox().path("kubeconfig"))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("\napp "), "{told}{}", String::from_utf8_lossy(&output.stderr));
}
