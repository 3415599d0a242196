//! The provider of Kubernetes objects as a plugin: under Terraform, under OpenTofu and under groma, on a real cluster with controllers. Each
//! scenario of the specification is told here as well, by its number, in less detail than in `kubernetes_objects.rs`, since the provider is the
//! same; where the others allow less than groma, that is what is tested.
//!
//! What the others do not allow: inline waits (36, 37, 42: a resource of its own, which they do not wait for again after a write unless
//! `triggers` says so), keys that are found to be renamed (15: the object is made anew, unless a `moved` block says so), and stored
//! credentials that have ended when only a destroy is left (34: the configuration's are used if the plugin has seen them in that run).
//!
//! `cargo xtask test` says where the programs are, and the plugin is built before (`GROMA_PROVIDER_K8SCONNECT`, or beside groma).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/api.rs"]
mod api;
#[path = "kubernetes/identities.rs"]
mod identities;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;
#[path = "kubernetes/scenarios.rs"]
mod scenarios;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/space.rs"]
mod space;
#[path = "kubernetes/tool.rs"]
mod tool;

use serde_json::{Value, json};

use groma_testkit::servers::kube::ADMIN_TOKEN;

use api::eventually;
use identities::{account, end, exec_answer, inline};
use space::{Space, config_map, config_map_manifest, fresh_name, object, object_with};
use tool::Tool;

/// Each story under each tool.
macro_rules! stories {
    ($($story:ident: $($under:ident = $tool:ident),+;)+) => {$(
        mod $story {
            $(
                #[test]
                fn $under() {
                    super::tell::$story(crate::tool::Tool::$tool);
                }
            )+
        }
    )+};
}

stories! {
    objects_are_made_changed_and_destroyed: under_terraform = Terraform, under_opentofu = OpenTofu, under_groma = GromaWithPlugin;
    others_are_noticed: under_terraform = Terraform, under_opentofu = OpenTofu;
    mistakes_are_told_by_the_plan: under_terraform = Terraform, under_opentofu = OpenTofu;
    what_cannot_be_changed_is_replaced: under_terraform = Terraform, under_opentofu = OpenTofu;
    kinds_come_with_their_objects: under_terraform = Terraform, under_opentofu = OpenTofu;
    objects_are_imported: under_terraform = Terraform, under_opentofu = OpenTofu;
    the_cluster_may_come_with_the_apply: under_terraform = Terraform, under_opentofu = OpenTofu;
    objects_are_patched: under_terraform = Terraform, under_opentofu = OpenTofu;
    texts_are_taken_apart: under_terraform = Terraform, under_opentofu = OpenTofu;
    a_wait_is_a_resource_of_its_own: under_terraform = Terraform, under_opentofu = OpenTofu;
    fields_change_hands: under_terraform = Terraform, under_opentofu = OpenTofu;
    objects_are_held_and_renamed: under_terraform = Terraform, under_opentofu = OpenTofu;
    credentials_come_and_go: under_terraform = Terraform, under_opentofu = OpenTofu;
    programs_give_credentials: under_terraform = Terraform, under_opentofu = OpenTofu;
    waits_are_for_what_others_do: under_terraform = Terraform, under_opentofu = OpenTofu;
    states_of_the_published_provider_go_on: under_terraform = Terraform, under_opentofu = OpenTofu;
    many_objects_are_made_at_once: under_terraform = Terraform, under_opentofu = OpenTofu;
}

mod tell {
    use super::*;

    /// Scenarios 1, 8 and 12.
    pub(crate) fn objects_are_made_changed_and_destroyed(tool: Tool) {
        let space = Space::under(tool);
        let name = fresh_name();
        let namespace = object("namespace", &format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}"));
        let settings = |more: &str, data: &str| {
            let manifest = format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings, namespace: {name}}}\ndata: {data}"
            );
            namespace.clone()
                + &object_with("settings", &format!("depends_on = [k8sconnect_object.namespace]\n  {more}"), &manifest)
        };
        space
            .main(&settings("", "{a: b, app.conf: c}"))
            .plan()
            .does(&["create k8sconnect_object.namespace", "create k8sconnect_object.settings"]);
        space.apply();
        space.is_settled();
        let path = format!("/api/v1/namespaces/{name}/configmaps/settings");
        let id = space.attribute("k8sconnect_object.settings", "id");
        assert_eq!(space.api.get(&path)["metadata"]["annotations"]["k8sconnect.terraform.io/terraform-id"], id);
        // The same in other words.
        space.main(&settings("", "# comment\n  'app.conf':   c\n  a: \"b\"")).plan().does(&[]);
        space.main(&settings("", "{a: b, app.conf: d}")).plan().does(&["update k8sconnect_object.settings"]);
        space.apply();
        assert_eq!(space.api.get(&path)["data"]["app.conf"], "d");
        space.is_settled();
        space.main(&settings("delete_protection = true", "{a: b, app.conf: d}")).apply();
        let said = space.destroy_fails();
        assert!(said.contains("Object is protected from deletion"), "{said}");
        assert!(space.api.find(&path).is_some());
        space.main(&settings("", "{a: b, app.conf: d}")).apply();
        space.destroy();
        assert!(space.api.find(&format!("/api/v1/namespaces/{name}")).is_none());
    }

    const WEB: &str = "
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web, namespace: NAMESPACE}
        spec:
          replicas: 0
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec:
              containers:
              - {name: web, image: 'web:1', env: [{name: A, value: '1'}], resources: {limits: {memory: 1Gi, cpu: 1000m}}}
        ";

    /// Scenarios 9, 17, 18, 20, 24, 27 and 29.
    pub(crate) fn others_are_noticed(tool: Tool) {
        let space = Space::under(tool);
        let path = space.of("apps/v1", "deployments", "web");
        space.main(&object("web", WEB)).apply();
        space.is_settled();
        space.main(&object("web", &WEB.replace("1Gi", "1024Mi").replace("1000m", "'1'"))).plan().does(&[]);
        let theirs = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 2}});
        space.api.apply_as("autoscaler", &path, &theirs);
        let plan = space.main(&object("web", WEB)).plan();
        plan.does(&["update k8sconnect_object.web"])
            .says("Fields were changed by others")
            .says("now owned by autoscaler");
        let change = plan.change("k8sconnect_object.web");
        assert_eq!(change["before"]["managed_state_projection"]["spec.replicas"], "2");
        assert_eq!(change["before"]["managed_fields"]["spec.replicas"], "autoscaler");
        assert_eq!(change["after"]["managed_fields"]["spec.replicas"], "k8sconnect");
        space.apply();
        assert_eq!(space.api.get(&path)["spec"]["replicas"], 0);
        space.is_settled();
        // Left to others.
        let ignoring = object_with("web", "ignore_fields = [\"spec.replicas\"]", WEB);
        space.api.apply_as("autoscaler", &path, &theirs);
        space.main(&ignoring).apply();
        assert_eq!(space.api.get(&path)["spec"]["replicas"], 2);
        space.is_settled();
        space.api.edit(&path, &json!({"metadata": {"annotations": {"k8sconnect.terraform.io/terraform-id": null}}}));
        space.plan().does(&["update k8sconnect_object.web"]).says("Annotation was removed");
        space.apply();
        space.is_settled();
        space.api.delete(&path);
        assert!(space.api.disappears(&path));
        space.plan().does(&["create k8sconnect_object.web"]);
        space.apply();
        space.is_settled();
        space.destroy();
    }

    /// Scenarios 14, 26, 32 and 33, and bad input.
    pub(crate) fn mistakes_are_told_by_the_plan(tool: Tool) {
        let space = Space::under(tool);
        space.api.create(&space.core("configmaps", ""), &json!({"metadata": {"name": "theirs"}}));
        let map = config_map_manifest("settings", "{a: b}");
        for (manifest, expected) in [
            (WEB.replace("replicas", "replica"), "Unknown field in manifest"),
            (WEB.replace("1Gi", "1Gigabyte"), "Invalid quantity"),
            (map.replace("settings", "theirs"), "Object exists already"),
            (format!("{map}\n---\n{map}"), "Several documents in one manifest"),
            (format!("{map}\nstatus: {{a: b}}"), "Status in manifest"),
            (map.replace("name: settings, ", ""), "metadata.name"),
            (map.replace("v1\n", "apps/v1\n"), "Unknown apiVersion for this kind"),
        ] {
            space.main(&object("one", &manifest));
            let said = space.plan_fails();
            assert!(said.contains(expected) && said.contains("on main.tf line"), "{expected}: {said}");
        }
        for (more, expected) in [
            ("ignore_fields = [\"data[\"]", "ignore_fields"),
            ("delete_timeout = \"-5s\"", "delete_timeout"),
            ("adopt = \"perhaps\"", "adopt"),
        ] {
            space.main(&object_with("one", more, &map));
            let said = space.validate_fails();
            assert!(said.contains(expected), "{more}: {said}");
        }
    }

    /// Scenarios 10 and 11.
    pub(crate) fn what_cannot_be_changed_is_replaced(tool: Tool) {
        let space = Space::under(tool);
        let claim = |storage: &str| {
            let manifest = format!(
                "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: disk, namespace: NAMESPACE}}\n\
                 spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: {storage}}}}}}}"
            );
            object("disk", &manifest)
        };
        space.main(&(claim("1Gi") + &config_map("settings", "{a: b}"))).apply();
        let path = space.core("persistentvolumeclaims", "disk");
        let uid = space.api.uid(&path);
        space.main(&(claim("2Gi") + &object("settings", &config_map_manifest("other", "{a: b}"))));
        let plan = space.plan();
        plan.does(&["replace k8sconnect_object.disk", "replace k8sconnect_object.settings"])
            .says("the volume and all data on it");
        space.apply();
        assert_ne!(space.api.uid(&path), uid);
        assert!(space.api.find(&space.core("configmaps", "settings")).is_none());
        space.is_settled();
        space.destroy();
    }

    /// Scenarios 30 and 31.
    pub(crate) fn kinds_come_with_their_objects(tool: Tool) {
        for depends in ["depends_on = [k8sconnect_object.kind]", ""] {
            let space = Space::under(tool);
            let group = format!("{}.example.com", space.namespace);
            let kind = format!(
                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: cacti.{group}}}\nspec:\n  \
                 group: {group}\n  scope: Namespaced\n  names: {{kind: Cactus, plural: cacti, singular: cactus}}\n  versions:\n  \
                 - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}"
            );
            let one = format!(
                "apiVersion: {group}/v1\nkind: Cactus\nmetadata: {{name: one, namespace: NAMESPACE}}\nspec: {{a: 1}}"
            );
            space.main(&(object("kind", &kind) + &object_with("one", depends, &one))).apply();
            space.is_settled();
            let definition = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/cacti.{group}");
            space.api.delete(&definition);
            assert!(space.api.disappears(&definition));
            space.plan().does(&["create k8sconnect_object.kind", "create k8sconnect_object.one"]);
            space.apply();
            space.destroy();
        }
    }

    /// Scenario 35.
    pub(crate) fn objects_are_imported(tool: Tool) {
        let space = Space::under(tool);
        space.api.create(&space.core("configmaps", ""), &json!({"metadata": {"name": "settings"}, "data": {"a": "b"}}));
        let path = space.core("configmaps", "settings");
        let uid = space.api.uid(&path);
        let import =
            "import {\n  to = k8sconnect_object.settings\n  id = \"test:NAMESPACE:v1/ConfigMap:settings\"\n}\n";
        space.main(&(import.to_owned() + &config_map("settings", "{a: c}"))).apply();
        assert_eq!((space.api.uid(&path), space.api.get(&path)["data"].clone()), (uid, json!({"a": "c"})));
        space.is_settled();
        space.destroy();
    }

    /// Scenarios 4 and 6.
    pub(crate) fn the_cluster_may_come_with_the_apply(tool: Tool) {
        let space = Space::under(tool);
        let host = format!("resource \"terraform_data\" \"host\" {{\n  input = {:?}\n}}\n", space.reach().url);
        let cluster = format!(
            "{{ host = terraform_data.host.output, cluster_ca_certificate = file({:?}), token = \"admin-of-the-test-cluster\" }}",
            space.api.certificate().display().to_string()
        );
        let second = object("second", &config_map_manifest("second", "{of: \"${k8sconnect_object.first.id}\"}"));
        space.main(&(host + &(config_map("first", "{a: b}") + &second).replace("local.cluster", &cluster))).apply();
        let first = space.attribute("k8sconnect_object.first", "id");
        assert_eq!(space.api.get(&space.core("configmaps", "second"))["data"]["of"], first);
        space.is_settled();
        space.destroy();
    }

    /// Scenarios 43 to 45.
    pub(crate) fn objects_are_patched(tool: Tool) {
        let space = Space::under(tool);
        space.api.create(&space.core("configmaps", ""), &json!({"metadata": {"name": "theirs"}, "data": {"x": "1"}}));
        let path = space.core("configmaps", "theirs");
        let patch = |content: &str| {
            format!(
                "resource \"k8sconnect_patch\" \"one\" {{\n  cluster = local.cluster\n  target = {{ api_version = \"v1\", kind = \"ConfigMap\", \
                 name = \"theirs\", namespace = \"NAMESPACE\" }}\n  {content}\n}}\n"
            )
        };
        space.main(&patch("patch = \"data: {a: b}\"")).apply();
        space.is_settled();
        space.api.edit(&path, &json!({"data": {"a": "drifted"}}));
        space.plan().does(&["update k8sconnect_patch.one"]);
        assert_eq!(space.api.get(&path)["data"]["a"], "drifted");
        space.apply();
        space.is_settled();
        space.destroy();
        assert_eq!(space.api.get(&path)["data"], json!({"x": "1"}));
        space
            .main(&patch("json_patch = jsonencode([{ op = \"replace\", path = \"/data/x\", value = \"2\" }])"))
            .apply();
        assert_eq!(space.api.get(&path)["data"]["x"], "2");
        space.is_settled();
        space.main(&patch("merge_patch = jsonencode({ data = { x = null, y1 = \"3\" } })")).apply();
        assert_eq!(space.api.get(&path)["data"], json!({"y1": "3"}));
        space.is_settled();
    }

    /// Scenario 46.
    pub(crate) fn texts_are_taken_apart(tool: Tool) {
        let space = Space::under(tool);
        let many: Vec<String> = (0..3).map(|at| config_map_manifest(&format!("m{at}"), "{a: b}")).collect();
        space.file("many.yaml", &many.join("\n---\n"));
        space.main(
            "data \"k8sconnect_yaml_split\" \"all\" {\n  content = file(\"many.yaml\")\n}\n\
             data \"k8sconnect_yaml_scoped\" \"all\" {\n  pattern = \"*.yaml\"\n}\n\
             resource \"k8sconnect_object\" \"all\" {\n  for_each = data.k8sconnect_yaml_split.all.manifests\n  cluster = local.cluster\n  \
             yaml_body = each.value\n}\n\
             output \"count\" {\n  value = length(data.k8sconnect_yaml_scoped.all.namespaced)\n}\n",
        );
        space.apply();
        assert!((0..3).all(|at| space.api.find(&space.core("configmaps", &format!("m{at}"))).is_some()));
        assert_eq!(space.succeeds(&["output", "count"]), "3");
        space.is_settled();
        space.destroy();
    }

    /// Scenarios 36, 37 and 40, and seed 000 as far as these tools allow it: the wait fails, and not the object.
    pub(crate) fn a_wait_is_a_resource_of_its_own(tool: Tool) {
        let space = Space::under(tool);
        let wait = |timeout: &str| {
            format!(
                "resource \"k8sconnect_wait\" \"web\" {{\n  cluster = local.cluster\n  object_ref = k8sconnect_object.web.object_ref\n  \
                 wait_for = {{ rollout = true, timeout = \"{timeout}\" }}\n}}\n"
            )
        };
        let dependent =
            object_with("dependent", "depends_on = [k8sconnect_wait.web]", &config_map_manifest("dependent", "{a: b}"));
        let web = WEB.replace("replicas: 0", "replicas: 2");
        space.main(&(object("web", &web) + &wait("2s") + &dependent));
        let path = space.of("apps/v1", "deployments", "web");
        let said = space.apply_fails();
        for told in ["its rollout to finish", "2 wanted", "cannot be scheduled"] {
            assert!(said.contains(told), "{told}: {said}");
        }
        let uid = space.api.uid(&path);
        assert!(space.api.find(&space.core("configmaps", "dependent")).is_none());
        assert_eq!(space.stored("k8sconnect_object.web")["status"], Value::Null);
        // No node will ever take them, but none at all is soon there.
        space.main(&(object("web", WEB) + &wait("60s") + &dependent)).apply();
        assert_eq!(space.api.uid(&path), uid);
        assert!(space.api.find(&space.core("configmaps", "dependent")).is_some());
        space.is_settled();
        // Inside of an object nothing is waited for here; what to write instead can be pasted.
        let inline = object_with("web", "wait_for = { rollout = true, timeout = \"1m\" }", WEB);
        let refused = space.main(&inline).run(&["validate", "-no-color"]);
        assert_eq!(refused.code, 1);
        let text = refused.stderr.replace("\u{2502} ", "").replace('\u{2502}', "");
        assert!(text.contains("wait_for needs a resource of its own"), "{text}");
        let start = text.find("resource \"k8sconnect_wait\"").unwrap();
        let block = &text[start..start + text[start..].find("\n}").unwrap() + 3];
        let block = block.replace("<as in this resource>", "local.cluster");
        space.main(&(object("web", WEB) + &block)).apply();
        space.is_settled();
        space.destroy();
    }

    /// Scenarios 5, 19, 21, 22, 23, 25 and 28.
    pub(crate) fn fields_change_hands(tool: Tool) {
        let space = Space::under(tool);
        let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: NAMESPACE}\n\
                       spec: {type: NodePort, selector: {app: web}, ports: [{port: 80}]}";
        let path = space.of("apps/v1", "deployments", "web");
        let main = |more: &str| object_with("web", more, WEB) + &object("service", service);
        let plan = space.main(&main("")).plan();
        let projection = &plan.change("k8sconnect_object.web")["after"]["managed_state_projection"];
        assert_eq!(projection["spec.replicas"], "0", "{projection}");
        space.apply();
        // The server has chosen a port.
        space.is_settled();
        let theirs = |spec: &Value| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec});
        let container = |more: &Value| {
            let mut container = json!({"name": "web"});
            container.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"template": {"spec": {"containers": [container]}}})
        };
        // Who wants the same is no trouble.
        space.api.apply_as("twin", &path, &theirs(&json!({"replicas": 0})));
        space.is_settled();
        space.api.apply_as("autoscaler", &path, &theirs(&json!({"replicas": 4})));
        space.api.apply_as("updater", &path, &theirs(&container(&json!({"image": "web:9"}))));
        let ports = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"selector": {"app": "other"}}});
        space.api.apply_as("mesh", &space.core("services", "web"), &ports);
        let plan = space.plan();
        plan.does(&["update k8sconnect_object.service", "update k8sconnect_object.web"]);
        for told in ["spec.replicas (now owned by autoscaler)", "now owned by updater", "now owned by mesh"] {
            plan.says(told);
        }
        assert_eq!(plan.said.matches("Fields were changed by others: ").count(), 2, "{}", plan.said);
        space.apply();
        space.is_settled();
        // Let go, as the plan shows; and one item of a list is theirs, however often they write it.
        space.api.apply_as("autoscaler", &path, &theirs(&json!({"replicas": 4})));
        let env = "spec.template.spec.containers[?(@.name=='web')].env[?(@.name=='A')].value";
        space.main(&main(&format!("ignore_fields = [\"spec.replicas\", \"{env}\"]"))).apply();
        assert_eq!(space.attribute("k8sconnect_object.web", "managed_fields")["spec.replicas"], "autoscaler");
        for round in 2..5 {
            let value = json!({"env": [{"name": "A", "value": round.to_string()}]});
            space.api.apply_as("injector", &path, &theirs(&container(&value)));
            space.is_settled();
        }
        space.destroy();
    }

    /// Scenarios 7, 13 and 15.
    pub(crate) fn objects_are_held_and_renamed(tool: Tool) {
        let space = Space::under(tool);
        let held =
            config_map_manifest("held", "{a: b}").replace("metadata: {", "metadata: {finalizers: [example.com/hold], ");
        space.main(&object_with("held", "delete_timeout = \"1s\"", &held)).apply();
        let said = space.destroy_fails();
        assert!(said.contains("Deletion is blocked by finalizers") && said.contains("example.com/hold"), "{said}");
        let path = space.core("configmaps", "held");
        space.api.edit(&path, &json!({"metadata": {"finalizers": null}}));
        assert!(space.api.disappears(&path));
        space.destroy();
        space.main(&object_with("held", "delete_timeout = \"1s\"\n  force_destroy = true", &held)).apply();
        space.destroy();
        assert!(space.api.find(&path).is_none());
        // These hosts do not find out that a key is another one, but the object is there in the end, and once.
        let main = |key: &str| {
            let manifest = config_map_manifest("settings", "{a: b}");
            object_with("settings", &format!("for_each = toset([\"{key}\"])"), &manifest)
        };
        space.main(&main("old")).apply();
        let path = space.core("configmaps", "settings");
        space.main(&main("new")).apply();
        assert_eq!(space.api.get(&path)["data"], json!({"a": "b"}));
        space.is_settled();
        // Said, it is the same object.
        let uid = space.api.uid(&path);
        let moved =
            "moved {\n  from = k8sconnect_object.settings[\"new\"]\n  to = k8sconnect_object.settings[\"said\"]\n}\n";
        space.main(&(main("said") + moved)).apply();
        assert_eq!(space.api.uid(&path), uid);
        space.is_settled();
        // A namespace is filled in where it belongs, and dropped where it does not.
        let name = fresh_name();
        let map = object("map", &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}"));
        let role = format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: {name}, namespace: NAMESPACE}}"
        );
        space.main(&(map + &object("role", &role))).apply();
        assert!(space.api.find(&format!("/api/v1/namespaces/default/configmaps/{name}")).is_some());
        assert_eq!(space.attribute("k8sconnect_object.role", "object_ref")["namespace"], Value::Null);
        space.is_settled();
        space.destroy();
    }

    /// Scenarios 2, 16 and 34.
    pub(crate) fn credentials_come_and_go(tool: Tool) {
        let space = Space::under(tool);
        let by = |cluster: &str, value: &str| {
            config_map("settings", &format!("{{a: {value}}}")).replace("local.cluster", cluster)
        };
        space.main(&config_map("settings", "{a: b}")).apply();
        let path = space.core("configmaps", "settings");
        let uid = space.api.uid(&path);
        // Another way to the same cluster is the same object.
        let [old, new] = ["old", "new"].map(|name| account(&space, name));
        let [by_old, by_new] = [&old, &new].map(|token| inline(&space, &format!("token = {token:?}")));
        space.main(&by("{ kubeconfig_path = \"kubeconfig\", context = \"test\" }", "b")).apply();
        space.main(&by(&by_old, "b")).apply();
        space.is_settled();
        assert_eq!(space.api.uid(&path), uid);
        end(&space, "old", &old);
        let said = space.main(&by(&by_old, "c")).plan_fails();
        assert!(said.contains("Not authenticated by the cluster") && !said.contains(&old), "{said}");
        assert!(space.find_stored("k8sconnect_object.settings").is_some());
        // With a token that counts, what others did is seen; what is stored does not matter.
        space.api.edit(&path, &json!({"data": {"a": "drifted"}}));
        space.main(&by(&by_new, "b")).plan().does(&["update k8sconnect_object.settings"]);
        space.apply();
        assert_eq!((space.api.uid(&path), &space.api.get(&path)["data"]["a"]), (uid, &json!("b")));
        space.is_settled();
        space.destroy();
    }

    /// Scenarios 2 and 3.
    pub(crate) fn programs_give_credentials(tool: Tool) {
        let space = Space::under(tool);
        let expiry = ", \"expirationTimestamp\": \"'$(date -u -d '+13 seconds' +%Y-%m-%dT%H:%M:%SZ)'\"";
        let script = format!("echo asked >> asked\necho '{}'\n", exec_answer(ADMIN_TOKEN, expiry));
        space.file("credentials.sh", &script);
        let exec = "exec = { api_version = \"client.authentication.k8s.io/v1\", command = \"sh\", args = [\"credentials.sh\"] }";
        let cluster = inline(&space, exec);
        let with = |name: &str| config_map(name, "{a: b}").replace("local.cluster", &cluster);
        let pause = "resource \"terraform_data\" \"pause\" {\n  depends_on = [k8sconnect_object.first]\n  \
                     provisioner \"local-exec\" {\n    command = \"sleep 4; echo pause >> asked\"\n  }\n}\n";
        let second = with("second").replace("yaml_body", "depends_on = [terraform_data.pause]\n  yaml_body");
        space.main(&(with("first") + pause + &second)).apply();
        assert!(space.api.find(&space.core("configmaps", "second")).is_some());
        // The token had ended meanwhile.
        assert!(space.read("asked").trim_end().ends_with("pause\nasked"), "{}", space.read("asked"));
        space.is_settled();
        space.destroy();
    }

    /// Scenarios 38, 39, 41 and 42.
    pub(crate) fn waits_are_for_what_others_do(tool: Tool) {
        let space = Space::under(tool);
        let wait = |kind: &str, wait_for: &str| {
            format!(
                "resource \"k8sconnect_wait\" \"one\" {{\n  cluster = local.cluster\n  object_ref = {{ api_version = \"v1\", kind = {kind:?}, \
                 name = \"late\", namespace = \"NAMESPACE\" }}\n  wait_for = {{ {wait_for} }}\n}}\n\
                 output \"seen\" {{\n  value = try(k8sconnect_wait.one.result.data.a, \"nothing\")\n}}\n"
            )
        };
        for (kind, wait_for, expected) in [
            ("ConfigMap", "field = \"data.a\", timeout = \"0s\"", "timeout"),
            ("ConfigMap", "field = \"data.a\", timeout = \"-1s\"", "timeout"),
            ("ConfigMap", "rollout = true", "rollout"),
            ("ConfigMap", "field = \"data[\"", "Invalid JSONPath"),
        ] {
            let said = space.main(&wait(kind, wait_for)).validate_fails();
            assert!(said.contains(expected), "{wait_for}: {said}");
        }
        let said = space.main(&wait("ConfigMap", "field = \"data.a\", timeout = \"100ms\"")).apply_fails();
        assert!(said.contains("does not exist"), "{said}");
        assert!(space.find_stored("k8sconnect_wait.one").is_none());
        let late = json!({"metadata": {"name": "late"}, "data": {"a": "1"}});
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_secs(4));
                space.api.create(&space.core("configmaps", ""), &late);
            });
            space.main(&wait("ConfigMap", "field = \"data.a\", timeout = \"60s\"")).apply();
        });
        assert_eq!(space.succeeds(&["output", "-raw", "seen"]), "1");
        space.is_settled();
        // What others make of it later goes on.
        let path = space.core("configmaps", "late");
        space.api.edit(&path, &json!({"data": {"a": "2"}}));
        space.apply();
        assert_eq!(space.succeeds(&["output", "-raw", "seen"]), "2");
        // Something else is waited for anew.
        let other = wait("ConfigMap", "field_value = { \"data.a\" = \"3\" }, timeout = \"500ms\"");
        let said = space.main(&other).apply_fails();
        assert!(said.contains("\"2\""), "{said}");
        space.api.edit(&path, &json!({"data": {"a": "3"}}));
        space.apply();
        space.is_settled();
    }

    /// Scenario 47.
    pub(crate) fn states_of_the_published_provider_go_on(tool: Tool) {
        let space = Space::under(tool);
        space.main(&config_map("settings", "{a: b}")).apply();
        let path = space.core("configmaps", "settings");
        let (uid, id) = (space.api.uid(&path), space.attribute("k8sconnect_object.settings", "id"));
        for version in [0, 1] {
            let mut state: Value = serde_json::from_str(&space.read("terraform.tfstate")).unwrap();
            let instance = &mut state["resources"][0]["instances"][0];
            instance["schema_version"] = json!(version);
            let attributes = instance["attributes"].as_object_mut().unwrap();
            // They have fewer attributes.
            for ours in ["adopt", "cluster_uid", "delete_policy", "force_conflicts", "wait_for"] {
                attributes.remove(ours);
            }
            match version {
                0 => attributes.remove("managed_fields"),
                _ => attributes.insert("managed_fields".to_owned(), json!("{\"data.a\": \"k8sconnect\"}")),
            };
            space.file("terraform.tfstate", &state.to_string());
            let plan = space.plan();
            assert!(
                plan.actions().iter().all(|action| action.starts_with("update")),
                "{version}: {:?}",
                plan.actions()
            );
            space.apply();
            assert_eq!(space.api.uid(&path), uid, "{version}");
            assert_eq!(space.attribute("k8sconnect_object.settings", "id"), id);
            space.is_settled();
        }
        space.destroy();
    }

    /// Scenario 48.
    pub(crate) fn many_objects_are_made_at_once(tool: Tool) {
        let space = Space::under(tool);
        let blocks = "locals {\n  kinds = { ConfigMap = \"v1\", ServiceAccount = \"v1\", Role = \"rbac.authorization.k8s.io/v1\", \
                      Deployment = \"apps/v1\" }\n  \
                      spec = { replicas = 0, selector = { matchLabels = { a = \"b\" } }, template = { metadata = { labels = { a = \"b\" } }, \
                      spec = { containers = [{ name = \"web\", image = \"web:1\" }] } } }\n  \
                      all = { for pair in setproduct(keys(local.kinds), range(16)) : \"${pair[0]}-${pair[1]}\" => pair }\n}\n\
                      resource \"k8sconnect_object\" \"all\" {\n  for_each = local.all\n  cluster = local.cluster\n  \
                      yaml_body = yamlencode(merge({ apiVersion = local.kinds[each.value[0]], kind = each.value[0], \
                      metadata = { name = \"one-${each.value[1]}\", namespace = \"NAMESPACE\" } }, \
                      { for key, value in { spec = local.spec } : key => value if each.value[0] == \"Deployment\" }))\n}\n";
        space.main(blocks).apply();
        assert_eq!(space.api.count(&space.of("apps/v1", "deployments", "")), 16);
        space.is_settled();
        space.destroy();
        let left = || space.api.count(&space.of("apps/v1", "deployments", ""));
        assert!(eventually(|| left() == 0));
    }
}

#[test]
fn every_scenario_is_told() {
    scenarios::all_are_told(&[include_str!("kubernetes_plugin.rs")]);
}

/// What a story under groma is about where groma is told through the plugin.
#[test]
fn inline_waits_work_through_the_plugin_under_groma() {
    let space = Space::under(Tool::GromaWithPlugin);
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: disk, namespace: NAMESPACE}\n\
                 spec: {accessModes: [ReadWriteOnce], storageClassName: '', resources: {requests: {storage: 1Gi}}}";
    let main = |timeout: &str| {
        let wait =
            format!("wait_for = {{ field_value = {{ \"status.phase\" = \"Bound\" }}, timeout = \"{timeout}\" }}");
        let dependent = object_with(
            "dependent",
            "depends_on = [k8sconnect_object.disk]",
            &config_map_manifest("dependent", "{a: b}"),
        );
        object_with("disk", &wait, claim) + &dependent
    };
    space.main(&main("2s"));
    let said = space.apply_fails();
    assert!(said.contains("Resource not ready") && said.contains("status.phase is \"Pending\""), "{said}");
    let path = space.core("persistentvolumeclaims", "disk");
    let uid = space.api.uid(&path);
    assert_eq!(space.stored("k8sconnect_object.disk")["status"], Value::Null, "tainted");
    assert!(space.api.find(&space.core("configmaps", "dependent")).is_none());
    let volume = json!({
        "metadata": {"name": space.namespace},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
                 "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/nowhere"},
                 "claimRef": {"namespace": space.namespace, "name": "disk"}},
    });
    space.api.create("/api/v1/persistentvolumes", &volume);
    space.main(&main("60s")).apply();
    assert_eq!(space.api.uid(&path), uid);
    space.is_settled();
    space.destroy();
}

/// Seed 000: what groma leaves after a wait in vain is in good health as the others see it, and they go on with it.
fn the_others_see_nothing_tainted(tool: Tool) {
    let space = Space::under(Tool::Groma);
    let kept = config_map_manifest("kept", "{a: b}");
    space.main(&object_with("kept", "wait_for = { field = \"data.never\", timeout = \"300ms\" }", &kept));
    let said = space.apply_fails();
    assert!(said.contains("Resource not ready"), "{said}");
    let uid = space.api.uid(&space.core("configmaps", "kept"));
    let host = if tool == Tool::Terraform { "registry.terraform.io" } else { "registry.opentofu.org" };
    space.file("terraform.tfstate", &space.read("terraform.tfstate").replace("registry.opentofu.org", host));
    let space = space.now_under(tool);
    space.main(&object("kept", &kept));
    let shown: Value = serde_json::from_str(&space.run(&["show", "-json"]).stdout).unwrap();
    let resource = &shown["values"]["root_module"]["resources"][0];
    assert_eq!((&resource["name"], resource.get("tainted")), (&json!("kept"), None));
    space.plan().does(&["update k8sconnect_object.kept"]);
    space.apply();
    assert_eq!(space.api.uid(&space.core("configmaps", "kept")), uid);
    space.is_settled();
    // And back.
    space.file("terraform.tfstate", &space.read("terraform.tfstate").replace(host, "registry.opentofu.org"));
    let space = space.now_under(Tool::Groma);
    space.main(&object("kept", &kept));
    space.plan().does(&[]);
    space.destroy();
    assert!(space.api.find(&space.core("configmaps", "kept")).is_none());
}

#[test]
fn terraform_sees_nothing_tainted() {
    the_others_see_nothing_tainted(Tool::Terraform);
}

#[test]
fn opentofu_sees_nothing_tainted() {
    the_others_see_nothing_tainted(Tool::OpenTofu);
}
