//! Ways to reach a cluster, and credentials that end.

use std::fs;

use groma_testkit::servers::kube::{ADMIN_TOKEN, NOBODY_TOKEN};
use serde_json::json;

use crate::api::eventually;
use crate::server::OwnServer;
use crate::space::{Space, config_map, fresh_name};

fn with(cluster: &str) -> String {
    config_map("settings", "{a: b}").replace("local.cluster", cluster)
}

fn inline(space: &Space, more: &str) -> String {
    let certificate = space.api.certificate().display().to_string();
    format!("{{ host = {:?}, cluster_ca_certificate = file({certificate:?}), {more} }}", space.reach().url)
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

fn exec_answer(token: &str, more: &str) -> String {
    format!(
        "{{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {{\"token\": \"{token}\"{more}}}}}"
    )
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

/// A token of a service account that may do everything.
fn account(space: &Space, name: &str) -> String {
    space.api.create(&space.core("serviceaccounts", ""), &json!({"metadata": {"name": name}}));
    let binding = json!({
        "metadata": {"name": fresh_name()},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": space.namespace}],
    });
    space.api.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding);
    let path = format!("{}/token", space.core("serviceaccounts", name));
    let token = space.api.create(&path, &json!({"spec": {"expirationSeconds": 3600}}));
    token["status"]["token"].as_str().unwrap().to_owned()
}

/// From now on a token is worth nothing.
fn end(space: &Space, name: &str, token: &str) {
    space.api.delete(&space.core("serviceaccounts", name));
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}});
    let path = "/apis/authentication.k8s.io/v1/tokenreviews";
    let is_known = || space.api.create(path, &review)["status"]["authenticated"] == json!(true);
    assert!(eventually(|| !is_known()), "the token still counts");
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
