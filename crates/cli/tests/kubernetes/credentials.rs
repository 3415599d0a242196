//! Ways to reach a cluster, and credentials that end.

use std::fs;

use groma_testkit::servers::kube::{ADMIN_TOKEN, NOBODY_TOKEN};
use serde_json::json;

use crate::identities::{account, end, exec_answer, inline};
use crate::server::OwnServer;
use crate::space::{Space, config_map, object_with};
use crate::tunnel::{Speech, Tunnel};

fn with(cluster: &str) -> String {
    config_map("settings", "{a: b}").replace("local.cluster", cluster)
}

/// Scenario 2.
#[test]
fn there_are_many_ways_in() {
    let space = Space::new();
    space.file("token", ADMIN_TOKEN);
    space.file("answer", &exec_answer(ADMIN_TOKEN, ""));
    let certificate = space.api.certificate().display().to_string();
    let url = &space.reach().url;
    let token = format!("token = {ADMIN_TOKEN:?}");
    let exec = "exec = { api_version = \"client.authentication.k8s.io/v1\", command = \"cat\", args = [\"answer\"] }";
    let ways = [
        inline(&space, &token),
        format!("{{ host = {url:?}, cluster_ca_certificate = filebase64({certificate:?}), {token} }}"),
        format!("{{ host = {url:?}, insecure = true, {token} }}"),
        inline(&space, "token_file = \"token\""),
        inline(&space, exec),
        "{ kubeconfig_path = \"kubeconfig\" }".to_owned(),
        "{ kubeconfig = file(\"kubeconfig\"), context = \"test\" }".to_owned(),
    ];
    for way in ways {
        space.main(&with(&way)).apply();
        space.is_settled();
        assert!(space.api.find(&space.core("configmaps", "settings")).is_some(), "{way}");
    }
    // Acting as somebody who may do nothing.
    space.main(&with(&inline(&space, &format!("{token}, impersonate_user = \"nobody\""))));
    let said = space.plan_fails();
    assert!(said.contains("Not allowed by the cluster") && said.contains("nobody"), "{said}");
    assert!(space.find_stored("k8sconnect_object.settings").is_some());
}

/// Scenario 2: of several contexts, one is chosen.
#[test]
fn a_context_is_chosen() {
    let space = Space::new();
    let kubeconfig = fs::read_to_string(space.path("kubeconfig")).unwrap();
    let both = kubeconfig
        .replace("contexts:\n", "contexts:\n- name: refused\n  context:\n    cluster: test\n    user: nobody\n")
        .replace("users:\n", &format!("users:\n- name: nobody\n  user:\n    token: {NOBODY_TOKEN}\n"));
    space.file("kubeconfig", &both);
    space.main(&with("{ kubeconfig = file(\"kubeconfig\"), context = \"refused\" }"));
    assert!(space.plan_fails().contains("Not allowed by the cluster"));
    space.main(&with("{ kubeconfig = file(\"kubeconfig\"), context = \"nowhere\" }"));
    let said = space.plan_fails();
    assert!(said.contains("nowhere") && said.contains("refused") && said.contains("test"), "{said}");
    space.main(&with("{ kubeconfig = file(\"kubeconfig\"), context = \"test\" }")).apply();
    space.is_settled();
    // The current one counts.
    space.main(&with("{ kubeconfig = file(\"kubeconfig\") }")).apply();
    space.is_settled();
}

/// Scenario 2: an argument of the program is known only when the apply has got there.
#[test]
fn credentials_may_depend_on_what_is_made() {
    let space = Space::new();
    space.file("credentials.sh", &format!("echo '{}'\n", exec_answer("'\"$TOKEN\"'", "")));
    let exec = "exec = { api_version = \"client.authentication.k8s.io/v1\", command = \"sh\", args = [\"credentials.sh\"], \
                env = { TOKEN = terraform_data.token.output } }";
    let token = format!("resource \"terraform_data\" \"token\" {{\n  input = {ADMIN_TOKEN:?}\n}}\n");
    space.main(&(token + &with(&inline(&space, exec))));
    let plan = space.plan();
    assert_eq!(plan.change("k8sconnect_object.settings")["after_unknown"]["managed_state_projection"], true);
    space.apply();
    space.is_settled();
    space.destroy();
}

/// Scenario 2: client certificates, as PEM and as base64 of it. The server is one of its own, which is told whom to trust.
#[test]
fn certificates_let_in() {
    let mut own = OwnServer::start();
    let key = || rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = key();
    fs::write(own.folder().join("clients.crt"), authority.self_signed(&authority_key).unwrap().pem()).unwrap();
    own.kill();
    own.start_again(&["--client-ca-file=clients.crt"]);
    let mut client = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
    client.distinguished_name.push(rcgen::DnType::CommonName, "somebody");
    client.distinguished_name.push(rcgen::DnType::OrganizationName, "system:masters");
    client.extended_key_usages.push(rcgen::ExtendedKeyUsagePurpose::ClientAuth);
    let client_key = key();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let space = Space::on(own.reach());
    space.file("client.crt", &client.signed_by(&client_key, &issuer).unwrap().pem());
    space.file("client.key", &client_key.serialize_pem());
    for read in ["file", "filebase64"] {
        let identity = format!("client_certificate = {read}(\"client.crt\"), client_key = {read}(\"client.key\")");
        space.main(&with(&inline(&space, &identity))).apply();
        space.is_settled();
    }
    let managed = space.api.get(&space.core("configmaps", "settings"));
    assert_eq!(managed["data"]["a"], "b");
    space.destroy();
}

/// Scenario 3.
#[test]
fn a_program_is_asked_again_when_its_token_ends() {
    let space = Space::new();
    let expiry = ", \"expirationTimestamp\": \"'$(date -u -d '+13 seconds' +%Y-%m-%dT%H:%M:%SZ)'\"";
    let script = format!("echo asked >> asked\necho '{}'\n", exec_answer(ADMIN_TOKEN, expiry));
    space.file("credentials.sh", &script);
    let exec =
        "exec = { api_version = \"client.authentication.k8s.io/v1\", command = \"sh\", args = [\"credentials.sh\"] }";
    let cluster = inline(&space, exec);
    let later = config_map("later", "{a: b}")
        .replace("local.cluster", &cluster)
        .replace("yaml_body", "depends_on = [terraform_data.pause]\n  yaml_body");
    let pause = "resource \"terraform_data\" \"pause\" {\n  depends_on = [k8sconnect_object.settings]\n  \
                 provisioner \"local-exec\" {\n    command = \"sleep 4\"\n  }\n}\n";
    space.main(&(with(&cluster) + pause + &later)).apply();
    assert!(space.api.find(&space.core("configmaps", "later")).is_some());
    let asked = space.read("asked").lines().count();
    assert!((2..=5).contains(&asked), "{asked}");
}

/// Scenario 4.
#[test]
fn the_address_of_the_cluster_may_come_with_the_apply() {
    let space = Space::new();
    let host = format!("resource \"terraform_data\" \"host\" {{\n  input = {:?}\n}}\n", space.reach().url);
    let cluster = inline(&space, &format!("token = {ADMIN_TOKEN:?}"));
    let cluster = cluster.replace(&format!("host = {:?}", space.reach().url), "host = terraform_data.host.output");
    let more = config_map("more", "{a: b}").replace("local.cluster", &cluster);
    space.main(&(host + &with(&cluster) + &more));
    space.plan().does(&[
        "create k8sconnect_object.more",
        "create k8sconnect_object.settings",
        "create terraform_data.host",
    ]);
    space.apply();
    space.is_settled();
    space.destroy();
    assert!(space.api.find(&space.core("configmaps", "more")).is_none());
}

/// Proxies are asked for every connection, whatever they speak.
#[test]
fn a_cluster_is_reached_by_proxies() {
    let space = Space::new();
    for (speech, scheme) in [(Speech::Http, "http"), (Speech::Socks, "socks5"), (Speech::Socks, "socks5h")] {
        let tunnel = Tunnel::start(speech);
        let proxy = format!("{scheme}://127.0.0.1:{}", tunnel.port);
        space.main(&with(&inline(&space, &format!("token = {ADMIN_TOKEN:?}, proxy_url = {proxy:?}")))).apply();
        assert!(tunnel.made() > 0, "{proxy} was not asked");
        space.is_settled();
        // A kubeconfig may name it too.
        let kubeconfig = space.reach().kubeconfig_text(ADMIN_TOKEN).unwrap();
        space.file("proxied", &kubeconfig.replace("    server:", &format!("    proxy-url: {proxy}\n    server:")));
        let before = tunnel.made();
        space.main(&with("{ kubeconfig_path = \"proxied\" }")).apply();
        assert!(tunnel.made() > before, "{proxy} was not asked");
    }
    let wrong = inline(&space, &format!("token = {ADMIN_TOKEN:?}, proxy_url = \"socks4://127.0.0.1:1\""));
    let said = space.main(&with(&wrong)).plan_fails();
    assert!(said.contains("not one of http, https or socks5"), "{said}");
    space.main(&with(&inline(&space, &format!("token = {ADMIN_TOKEN:?}")))).destroy();
}

/// A cluster is often made together with the file that says how to reach it.
#[test]
fn a_kubeconfig_may_come_with_the_apply() {
    let space = Space::new();
    let written = "resource \"local_file\" \"later\" {\n  filename = \"later\"\n  content = file(\"kubeconfig\")\n}\n";
    let settings = |more: &str, value: &str| {
        let manifest = crate::space::config_map_manifest("settings", &format!("{{a: {value}}}"));
        object_with("settings", more, &manifest).replace("local.cluster", "{ kubeconfig_path = \"later\" }")
    };
    let after = "depends_on = [local_file.later]";
    space.main(&(written.to_owned() + &settings(after, "b")));
    let plan = space.plan();
    plan.does(&["create k8sconnect_object.settings", "create local_file.later"]);
    plan.says("Kubeconfig does not exist yet").says("later does not exist");
    space.apply();
    space.is_settled();
    let path = space.core("configmaps", "settings");
    let uid = space.api.uid(&path);
    // Whoever checks it out anew has no such file, and nothing is lost by that.
    fs::remove_file(space.path("later")).unwrap();
    let plan = space.plan();
    plan.does(&["create local_file.later", "update k8sconnect_object.settings"]);
    plan.says("Object was not refreshed").says("Kubeconfig does not exist yet");
    space.apply();
    space.is_settled();
    assert_eq!(space.api.uid(&path), uid);
    // If nobody writes it, nothing can be done, and nothing is lost either.
    fs::remove_file(space.path("later")).unwrap();
    space.main(&settings("", "c"));
    let said = space.apply_fails();
    assert!(said.contains("Invalid cluster") && said.contains("later does not exist"), "{said}");
    let said = space.destroy_fails();
    assert!(said.contains("later does not exist"), "{said}");
    assert!(space.find_stored("k8sconnect_object.settings").is_some());
    space.file("later", &space.read("kubeconfig")).apply();
    assert_eq!((space.api.uid(&path), &space.api.get(&path)["data"]["a"]), (uid, &json!("c")));
    space.destroy();
}

/// Scenario 34, and the fault of an expired token.
#[test]
fn expired_credentials_cost_nothing_but_a_warning() {
    let space = Space::new();
    let [old, new] = ["old", "new"].map(|name| account(&space, name));
    let by = |token: &str, value: &str| {
        let cluster = inline(&space, &format!("token = {token:?}"));
        config_map("settings", &format!("{{a: {value}}}")).replace("local.cluster", &cluster)
    };
    space.main(&by(&old, "b")).apply();
    let path = space.core("configmaps", "settings");
    end(&space, "old", &old);
    // Nobody can look, and nothing is lost.
    let before = space.read("terraform.tfstate");
    let said = space.plan_fails();
    assert!(said.contains("Not authenticated by the cluster"), "{said}");
    assert!(!said.contains(&old), "a token was shown");
    let said = space.apply_fails();
    assert!(said.contains("Not authenticated by the cluster"), "{said}");
    space.destroy_fails();
    assert_eq!(space.stored("k8sconnect_object.settings")["attributes"], state_of(&before));
    // With another token in the configuration, everything works.
    space.api.edit(&path, &json!({"data": {"a": "drifted"}}));
    space.main(&by(&new, "b")).plan().does(&["update k8sconnect_object.settings"]).says("kubectl-edit");
    space.apply();
    assert_eq!(space.api.get(&path)["data"]["a"], "b");
    space.is_settled();
    assert!(space.read("terraform.tfstate").contains(&new));
    assert!(!space.read("terraform.tfstate").contains(&old));
}

fn state_of(state: &str) -> serde_json::Value {
    let state: serde_json::Value = serde_json::from_str(state).unwrap();
    state["resources"][0]["instances"][0]["attributes"].clone()
}

/// Scenario 34, exceeded: the end of an object needs the credentials of now, not those of then.
#[test]
fn objects_are_destroyed_with_the_credentials_of_the_configuration() {
    let space = Space::new();
    let [old, new] = ["old", "new"].map(|name| account(&space, name));
    let by = |token: &str| with(&inline(&space, &format!("token = {token:?}")));
    space.main(&by(&old)).apply();
    end(&space, "old", &old);
    space.main(&by(&new)).destroy();
    assert!(space.api.find(&space.core("configmaps", "settings")).is_none());
    // The connection of the provider is always that of now.
    let newest = account(&space, "newest");
    let provider = |token: &str| {
        format!("provider \"k8sconnect\" {{\n  cluster = {}\n}}\n", inline(&space, &format!("token = {token:?}")))
    };
    space
        .main(&(provider(&new) + &config_map("settings", "{a: b}").replace("  cluster = local.cluster\n", "")))
        .apply();
    end(&space, "new", &new);
    space.main(&provider(&newest)).apply();
    assert!(space.api.find(&space.core("configmaps", "settings")).is_none());
}
