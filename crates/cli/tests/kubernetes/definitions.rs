//! Kinds that come with the configuration, and what the server does not accept.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::api::eventually;
use crate::space::{Space, config_map, config_map_manifest, fresh_name, object, object_with};
use crate::webhook::Webhook;

/// A kind of our own in a group of its own.
pub(crate) struct OwnKind {
    pub(crate) group: String,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
}

impl OwnKind {
    pub(crate) fn new(kind: &'static str, plural: &'static str) -> Self {
        Self { group: format!("{}.example.com", fresh_name()), kind, plural }
    }

    /// The manifest of its definition. `spec` describes what `spec` has.
    pub(crate) fn definition(&self, spec: &str) -> String {
        let Self { group, kind, plural } = self;
        let singular = kind.to_lowercase();
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.{group}}}\nspec:\n  \
             group: {group}\n  scope: Namespaced\n  names: {{kind: {kind}, plural: {plural}, singular: {singular}}}\n  versions:\n  \
             - name: v1\n    served: true\n    storage: true\n    subresources: {{status: {{}}}}\n    schema:\n      \
             openAPIV3Schema:\n        type: object\n        properties:\n          spec: {spec}\n          \
             status: {{type: object, x-kubernetes-preserve-unknown-fields: true}}"
        )
    }

    pub(crate) fn manifest(&self, name: &str, spec: &str) -> String {
        let Self { group, kind, .. } = self;
        format!("apiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: NAMESPACE}}\nspec: {spec}")
    }

    pub(crate) fn path(&self, space: &Space, name: &str) -> String {
        space.of(&format!("{}/v1", self.group), self.plural, name)
    }

    /// Has the cluster know it, whoever defined it.
    pub(crate) fn define(&self, space: &Space, spec: &str) {
        let Self { group, kind, plural } = self;
        let spec = serde_json::from_str::<Value>(spec).unwrap();
        let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": open}}});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {
                "group": group, "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
                "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": schema}],
            },
        });
        space.api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
        assert!(space.api.appears(&self.path(space, "")), "{kind} is not served");
    }
}

pub(crate) const ANYTHING: &str = r#"{"type": "object", "x-kubernetes-preserve-unknown-fields": true}"#;
const SIZED: &str = "{type: object, required: [size], properties: {size: {type: integer, maximum: 10}, color: {type: string, enum: [red, green]}}, \
                     x-kubernetes-validations: [{rule: '!has(self.color) || self.size > 1', message: 'colors need size'}, \
                     {rule: 'self.size != 7', message: 'seven is unlucky'}]}";

/// Scenario 30.
#[test]
fn a_kind_and_its_objects_come_in_one_apply() {
    for depends in ["depends_on = [k8sconnect_object.kind]", ""] {
        let space = Space::new();
        let kind = OwnKind::new("Cactus", "cacti");
        let main =
            object("kind", &kind.definition(ANYTHING)) + &object_with("one", depends, &kind.manifest("one", "{a: 1}"));
        space.main(&main).plan().does(&["create k8sconnect_object.kind", "create k8sconnect_object.one"]);
        space.apply();
        space.is_settled();
        assert_eq!(space.api.get(&kind.path(&space, "one"))["spec"]["a"], 1);
        space.destroy();
        assert!(
            space
                .api
                .find(&format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/cacti.{}", kind.group))
                .is_none()
        );
    }
}

/// Scenario 30, exceeded: the group is served already, the kind is not.
#[test]
fn a_second_kind_of_a_group_comes_with_its_objects() {
    let space = Space::new();
    let first = OwnKind::new("Cactus", "cacti");
    let second = OwnKind { group: first.group.clone(), kind: "Flower", plural: "flowers" };
    let one = object("cactus", &first.definition(ANYTHING)) + &object("one", &first.manifest("one", "{a: 1}"));
    space.main(&one).apply();
    let two = object("flower", &second.definition(ANYTHING)) + &object("two", &second.manifest("two", "{a: 1}"));
    space.main(&(one + &two)).apply();
    assert_eq!(space.api.get(&second.path(&space, "two"))["spec"]["a"], 1);
    space.is_settled();
    space.destroy();
}

/// Scenario 30, exceeded: those that wait for their kind or their namespace hold nobody up, least of all those who bring them.
#[test]
fn objects_do_not_keep_away_what_they_wait_for() {
    let space = Space::with_controllers();
    let kind = OwnKind::new("Cactus", "cacti");
    let name = fresh_name();
    let many = |of: &str, manifest: &str| {
        let manifest = manifest.replace("name: x", "name: \"x${each.key}\"").replace("NAMESPACE", &name);
        object_with(of, "for_each = toset([for n in range(20) : tostring(n)])", &manifest)
    };
    // The names are chosen so that whoever goes by them begins with those that wait.
    let blocks = many("a_cacti", &kind.manifest("x", "{a: 1}"))
        + &many("b_maps", &config_map_manifest("x", "{a: b}"))
        + &object("y_kind", &kind.definition(ANYTHING))
        + &object("z_namespace", &format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}"));
    space.main(&blocks);
    space.succeeds(&["apply", "-auto-approve", "-no-color", "-parallelism=2"]);
    space.is_settled();
    space.destroy();
}

/// Scenario 31.
#[test]
fn a_kind_that_somebody_removed_takes_its_objects_along() {
    let space = Space::new();
    let kind = OwnKind::new("Cactus", "cacti");
    let main = object("kind", &kind.definition(ANYTHING)) + &object("one", &kind.manifest("one", "{a: 1}"));
    let definition = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/cacti.{}", kind.group);
    space.main(&main).apply();
    space.api.delete(&definition);
    assert!(space.api.disappears(&definition));
    space.plan().does(&["create k8sconnect_object.kind", "create k8sconnect_object.one"]);
    space.apply();
    space.is_settled();
    space.api.delete(&definition);
    assert!(space.api.disappears(&definition));
    space.destroy();
}

/// Scenario 32.
#[test]
fn what_the_server_does_not_accept_is_told_by_the_plan() {
    let space = Space::new();
    let deployment = "
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web, namespace: NAMESPACE}
        spec:
          replicas: 1
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec:
              containers:
              - {name: web, image: web:1, imagePullPolicy: Always, resources: {limits: {memory: 1Gi}}}
        ";
    let wrong = [
        ("replicas:", "replica:", "Unknown field in manifest", ".spec.replica"),
        ("replicas: 1", "replicas: one", "", "replicas"),
        ("image:", "imag:", "Unknown field in manifest", "imag"),
        ("1Gi", "1Gigabyte", "Invalid quantity", "1Gigabyte"),
        ("Always", "Sometimes", "Object is not valid", "imagePullPolicy"),
        ("{app: web}}\n        spec", "{app: other}}\n        spec", "", "selector"),
        ("name: web,", "name: Web,", "Object is not valid", "metadata.name"),
    ];
    for (from, to, summary, field) in wrong {
        let manifest = deployment.replace(from, to);
        if manifest == deployment {
            continue;
        }
        space.main(&object("web", &manifest));
        let said = space.plan_fails();
        assert!(said.contains(summary) && said.contains(field) && said.contains("on main.tf line"), "{to}: {said}");
    }
    // All at once.
    let both = deployment.replace("replicas:", "replica:").replace("image:", "imag:");
    space.main(&object("web", &both));
    let said = space.plan_fails();
    assert!(said.contains("replica") && said.contains("imag"), "{said}");
    // And when it is there already.
    space.main(&object("web", deployment)).apply();
    let before = space.read("terraform.tfstate");
    for (from, to) in [("replicas:", "replica:"), ("1Gi", "1Gigabyte"), ("Always", "Sometimes")] {
        space.main(&object("web", &deployment.replace(from, to)));
        assert!(space.plan_fails().contains("Error: "));
        space.apply_fails();
    }
    assert_eq!(space.read("terraform.tfstate"), before);
}

/// Scenario 32, exceeded: rules of kinds of one's own are told by the plan as well.
#[test]
fn rules_of_own_kinds_are_told_by_the_plan() {
    let space = Space::new();
    let kind = OwnKind::new("Cactus", "cacti");
    space.main(&object("kind", &kind.definition(SIZED))).apply();
    let cases = [
        ("{size: 7}", &["seven is unlucky"][..]),
        ("{size: 1, color: red}", &["colors need size"]),
        ("{color: red}", &["spec.size"]),
        ("{size: 2, color: blue}", &["spec.color", "blue"]),
        ("{size: 11}", &["spec.size"]),
        ("{size: big}", &["spec.size"]),
        ("{size: 2, colour: red}", &["colour"]),
    ];
    for (spec, expected) in cases {
        space.main(&(object("kind", &kind.definition(SIZED)) + &object("one", &kind.manifest("one", spec))));
        let said = space.plan_fails();
        assert!(expected.iter().all(|expected| said.contains(expected)), "{spec}: {said}");
    }
    space.main(&(object("kind", &kind.definition(SIZED)) + &object("one", &kind.manifest("one", "{size: 2}")))).apply();
    space.is_settled();
    space.destroy();
}

/// Scenario 32, exceeded: quotas and policies are told by the plan.
#[test]
fn quotas_and_policies_are_told_by_the_plan() {
    let space = Space::with_controllers();
    space.api.create(
        &space.core("resourcequotas", ""),
        &json!({"metadata": {"name": "few"}, "spec": {"hard": {"secrets": "0"}}}),
    );
    let quota = space.core("resourcequotas", "few");
    assert!(eventually(|| space.api.get(&quota)["status"]["hard"]["secrets"] == "0"));
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: one, namespace: NAMESPACE}\nstringData: {a: b}";
    space.main(&object("one", secret));
    let said = space.plan_fails();
    assert!(said.contains("Quota exceeded") && said.contains("few"), "{said}");

    let name = &space.namespace;
    let policy = json!({
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
                "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}],
            },
            "validations": [{"expression": "has(object.metadata.labels)", "message": "labels are a must"}],
        },
    });
    let group = "/apis/admissionregistration.k8s.io/v1";
    space.api.create(&format!("{group}/validatingadmissionpolicies"), &policy);
    let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name, "validationActions": ["Deny"]}});
    space.api.create(&format!("{group}/validatingadmissionpolicybindings"), &binding);
    // It takes the server a moment to heed it.
    let trial = json!({"metadata": {"name": "trial"}});
    let dry = format!("{}?dryRun=All", space.core("configmaps", ""));
    assert!(eventually(|| space.api.ask("POST", &dry, "application/json", Some(&trial)).unwrap().0 == 422));
    space.main(&config_map("one", "{a: b}"));
    let said = space.plan_fails();
    assert!(said.contains("Denied by an admission policy") && said.contains("labels are a must"), "{said}");
    let labelled = config_map_manifest("one", "{a: b}").replace("metadata: {", "metadata: {labels: {a: b}, ");
    space.main(&object("one", &labelled)).apply();
    space.is_settled();
    space.destroy();
    for kind in ["validatingadmissionpolicybindings", "validatingadmissionpolicies"] {
        space.api.delete(&format!("{group}/{kind}/{name}"));
    }
}

/// Has a webhook be asked about ConfigMaps of a space, until it is dropped.
struct Asked<'s> {
    space: &'s Space,
    name: String,
}

const WEBHOOKS: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

impl<'s> Asked<'s> {
    fn new(space: &'s Space, client: &Value, answer: u16) -> Self {
        let name = format!("{}.example.com", space.namespace);
        let webhook = json!({
            "name": name, "clientConfig": client, "failurePolicy": "Fail", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "timeoutSeconds": 2,
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": space.namespace}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}],
        });
        space.api.create(WEBHOOKS, &json!({"metadata": {"name": name}, "webhooks": [webhook]}));
        // It takes the server a moment to heed it.
        let trial = json!({"metadata": {"name": "trial"}});
        let dry = format!("{}?dryRun=All", space.core("configmaps", ""));
        assert!(eventually(|| space.api.ask("POST", &dry, "application/json", Some(&trial)).unwrap().0 == answer));
        Self { space, name }
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.space.api.delete(&format!("{WEBHOOKS}/{}", self.name));
    }
}

/// Scenario 32, exceeded: what a webhook says is told by the plan, and that it says nothing as well.
#[test]
fn webhooks_are_told_by_the_plan() {
    let space = Space::new();
    space.main(&config_map("settings", "{a: b}"));
    let webhook = Webhook::refusing("not on a Friday");
    {
        let bundle = BASE64_STANDARD.encode(&webhook.certificate);
        let asked = Asked::new(&space, &json!({"url": webhook.url, "caBundle": bundle}), 400);
        let said = space.plan_fails();
        assert!(said.contains("Denied by an admission webhook") && said.contains("not on a Friday"), "{said}");
        assert!(said.contains(&asked.name), "{said}");
    }
    let asked = Asked::new(&space, &json!({"url": "https://127.0.0.1:1/"}), 500);
    let said = space.plan_fails();
    assert!(said.contains(&asked.name) && said.contains("webhook"), "{said}");
}

/// Scenario 33.
#[test]
fn every_mistake_has_its_own_words() {
    let space = Space::new();
    space.main(&config_map("kept", "{a: b}")).apply();
    let before = space.read("terraform.tfstate");
    let manifest = config_map_manifest("one", "{a: b}");
    let closed = "{ host = \"https://127.0.0.1:1\", insecure = true, token = \"t\" }";
    let no_host = "{ host = \"https://no-such-host.invalid:6443\", insecure = true, token = \"t\" }";
    let cases = [
        (object("one", &manifest.replace("v1\n", "apps/v1\n")), "Unknown apiVersion for this kind", "`apiVersion: v1`"),
        (object("one", &manifest.replace("v1\n", "apps/v1/x\n")), "apiVersion", "ine 1"),
        (
            object("one", &manifest.replace("metadata: {", "metadata: {labels: {a: 'not a label!'}, ")),
            "Object is not valid",
            "not a label!",
        ),
        (object("one", ""), "yaml_body", "empty"),
        (
            object("one", &manifest).replace("local.cluster", closed),
            "Cluster cannot be reached",
            "Nothing listens there",
        ),
        (object("one", &manifest).replace("local.cluster", no_host), "Cluster cannot be reached", "no such host"),
        (object("one", &manifest).replace("local.cluster", &closed.replace("https://", "")), "Invalid URL", "host"),
    ];
    for (block, summary, more) in cases {
        space.main(&(config_map("kept", "{a: b}") + &block));
        let said = space.apply_fails();
        assert!(said.contains(summary) && said.contains(more), "{block}: {said}");
        assert_eq!(space.read("terraform.tfstate"), before);
    }
    // A kind that exists, in a group that does not have it: the right one is named.
    let ingress = "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: a, namespace: NAMESPACE}\nspec: {}";
    space.main(&(config_map("kept", "{a: b}") + &object("one", ingress)));
    let said = space.apply_fails();
    assert!(said.contains("networking.k8s.io/v1"), "{said}");
}

/// Scenario 33. A namespace may come while the object waits for it; if none comes, that is said.
#[test]
fn a_namespace_that_does_not_come_is_named() {
    let space = Space::new();
    let name = fresh_name();
    space.main(&object("one", &config_map_manifest("one", "{a: b}").replace("NAMESPACE", &name)));
    space.plan().does(&["create k8sconnect_object.one"]);
    let said = space.apply_fails();
    assert!(said.contains("Namespace does not exist") && said.contains(&name), "{said}");
    assert!(space.find_stored("k8sconnect_object.one").is_none());
}
