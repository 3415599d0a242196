//! `k8sconnect_object`: its life from making to deleting.

use groma_kubernetes::Host;
use groma_model::value::Value;
use groma_provider::api::Outcome;
use serde_json::{Value as Json, json};

use crate::cluster::{Place, owners};
use crate::driver::{Driver, Kept, changes, summaries};

const TYPE: &str = "k8sconnect_object";
const ID: &str = "k8sconnect.terraform.io/terraform-id";

fn config(place: &Place, yaml: &str) -> Json {
    json!({"yaml_body": yaml, "cluster": place.connection()})
}

fn config_map(place: &Place, name: &str, data: &str) -> Json {
    let namespace = &place.namespace;
    let head = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: {namespace}\n");
    config(place, &format!("{head}data:\n{data}"))
}

#[tokio::test]
async fn an_object_is_made_read_changed_and_deleted() {
    let (place, driver) = (Place::new("life"), Driver::new(Host::Groma).await);
    let first = config_map(&place, "a", "  app.conf: one\n");
    let plan = driver.plan(TYPE, None, &first).await;
    let planned: Json = plan_json(&plan.planned);
    assert_eq!(planned["managed_state_projection"]["data[\"app.conf\"]"], "one", "{planned}");
    assert_eq!(planned["object_ref"]["namespace"], "life");

    let made = driver.apply(TYPE, None, &first).await;
    let id = made.text("id");
    assert!(id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    let live = place.config_map("a").unwrap();
    assert_eq!(live["metadata"]["annotations"][ID], id.as_str());
    let created_at = live["metadata"]["annotations"]["k8sconnect.terraform.io/created-at"].clone();
    assert!(created_at.as_str().is_some_and(|at| at.ends_with('Z')));
    driver.assert_settled(TYPE, &made, &first).await;

    let second = config_map(&place, "a", "  app.conf: two\n");
    let changed = driver.run(TYPE, &made, &second).await;
    assert_eq!(changed.text("id"), id);
    let live = place.config_map("a").unwrap();
    assert_eq!(live["data"], json!({"app.conf": "two"}));
    assert_eq!(live["metadata"]["annotations"]["k8sconnect.terraform.io/created-at"], created_at);
    driver.assert_settled(TYPE, &changed, &second).await;

    assert_eq!(driver.delete(TYPE, &changed).await.outcome, Outcome::Done);
    assert_eq!(place.config_map("a"), None);
    assert!(driver.read(TYPE, &changed).await.is_none());
}

fn plan_json(value: &Value) -> Json {
    let known = value
        .transform::<std::convert::Infallible>(&mut |_, value| {
            Ok(if value.is_known() { value } else { Value::null(value.ty()) })
        })
        .unwrap();
    serde_json::from_str(&groma_model::codec::json::encode(&known, &known.ty()).unwrap()).unwrap()
}

#[tokio::test]
async fn other_words_are_no_change() {
    let (place, driver) = (Place::new("words"), Driver::new(Host::Groma).await);
    let made = driver.apply(TYPE, None, &config_map(&place, "a", "  x: \"1\"\n  z: two\n")).await;
    let reordered = config_map(&place, "a", "  # a comment\n  z:   'two'\n  x: '1'\n");
    driver.assert_settled(TYPE, &made, &reordered).await;

    let claim = |size: &str| {
        config(
            &place,
            &format!(
                "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: c, namespace: words}}\nspec:\n  accessModes: \
                 [ReadWriteOnce]\n  resources: {{requests: {{storage: {size}}}}}\n"
            ),
        )
    };
    let made = driver.apply(TYPE, None, &claim("1Gi")).await;
    driver.assert_settled(TYPE, &made, &claim("1024Mi")).await;
    driver.assert_settled(TYPE, &made, &claim("1Gi")).await;
}

#[tokio::test]
async fn what_others_change_is_told_and_changed_back() {
    let (place, driver) = (Place::new("drift"), Driver::new(Host::Groma).await);
    let wanted = config_map(&place, "a", "  ours: one\n");
    let made = driver.apply(TYPE, None, &wanted).await;
    let path = place.path("v1", "configmaps", "a");
    place.others_put(&path, |object| object["data"]["theirs"] = json!("x"));
    driver.assert_settled(TYPE, &made, &wanted).await;

    place.others_put(&path, |object| object["data"]["ours"] = json!("other"));
    let read = driver.read(TYPE, &made).await.unwrap();
    let plan = driver.plan(TYPE, Some(&read), &wanted).await;
    let told = summaries(&plan.diagnostics);
    assert_eq!(told, ["Fields were changed by others: ConfigMap \"drift/a\""]);
    assert_eq!(changes(&read.object, &plan.planned), ["managed_fields", "managed_state_projection"]);
    let after = driver.apply(TYPE, Some(&read), &wanted).await;
    assert_eq!(place.config_map("a").unwrap()["data"], json!({"ours": "one", "theirs": "x"}));
    driver.assert_settled(TYPE, &after, &wanted).await;
}

#[tokio::test]
async fn nothing_is_taken_over_silently() {
    let (place, driver) = (Place::new("claims"), Driver::new(Host::Groma).await);
    let path = place.path("v1", "configmaps", "a");
    place.others_make(&path, &json!({"metadata": {"name": "a"}, "data": {"x": "theirs"}}));
    let wanted = config_map(&place, "a", "  x: ours\n");
    let plan = driver.plan(TYPE, None, &wanted).await;
    assert_eq!(summaries(&plan.diagnostics), ["Object exists already"]);

    let mut adopting = wanted.clone();
    adopting["adopt"] = json!("adopt");
    let made = driver.apply(TYPE, None, &adopting).await;
    assert_eq!(place.config_map("a").unwrap()["data"]["x"], "ours");
    driver.assert_settled(TYPE, &made, &adopting).await;

    let plan = Driver::new(Host::Groma).await.plan(TYPE, None, &wanted).await;
    assert_eq!(summaries(&plan.diagnostics), ["Object is managed elsewhere"]);
}

#[tokio::test]
async fn what_is_taken_over_belongs_to_nobody_else() {
    let (place, driver) = (Place::new("successors"), Driver::new(Host::Groma).await);
    let path = place.path("v1", "configmaps", "a");
    let all = format!("{}?fieldManager=kubectl-client-side-apply", path.rsplit_once('/').unwrap().0);
    let made = json!({"metadata": {"name": "a"}, "data": {"x": "one", "z": "two"}});
    assert_eq!(place.ask("POST", &all, Some(&made)).status, 201);
    let mut wanted = config_map(&place, "a", "  x: one\n  z: two\n");
    wanted["adopt"] = json!("adopt");
    let made = driver.apply(TYPE, None, &wanted).await;
    assert_eq!(owners(&place.config_map("a").unwrap(), &["f:data", "f:x"]), ["k8sconnect"]);
    driver.assert_settled(TYPE, &made, &wanted).await;
    // So that what is taken out of the manifest goes.
    let mut fewer = config_map(&place, "a", "  x: one\n");
    fewer["adopt"] = json!("adopt");
    let made = driver.run(TYPE, &made, &fewer).await;
    assert_eq!(place.config_map("a").unwrap()["data"], json!({"x": "one"}));
    driver.assert_settled(TYPE, &made, &fewer).await;
}

#[tokio::test]
async fn two_resources_are_not_one_object() {
    let (place, driver) = (Place::new("twins"), Driver::new(Host::Groma).await);
    let wanted = config_map(&place, "a", "  x: yes-it-is\n");
    let (one, two) = (driver.plan(TYPE, None, &wanted).await, driver.plan(TYPE, None, &wanted).await);
    let applied = tokio::join!(driver.carry_out(TYPE, None, one, &wanted), driver.carry_out(TYPE, None, two, &wanted));
    let outcomes = [applied.0.outcome, applied.1.outcome];
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Done).count(), 1, "{outcomes:?}");
    assert!(outcomes.contains(&Outcome::NothingMade));
}

#[tokio::test]
async fn another_name_or_namespace_is_another_object() {
    let (place, driver) = (Place::new("names"), Driver::new(Host::Groma).await);
    let made = driver.apply(TYPE, None, &config_map(&place, "a", "  x: yes-it-is\n")).await;
    let other = config_map(&place, "b", "  x: yes-it-is\n");
    let plan = driver.plan(TYPE, Some(&made), &other).await;
    assert!(!plan.requires_replace.is_empty());
    let replaced = driver.apply(TYPE, Some(&made), &other).await;
    assert!(place.config_map("a").is_none() && place.config_map("b").is_some());
    assert_ne!(replaced.text("id"), made.text("id"));
}

#[tokio::test]
async fn a_namespace_that_is_written_out_is_the_same() {
    let (place, driver) = (Place::new("default-too"), Driver::new(Host::Groma).await);
    let yaml = |namespace: &str| {
        config(
            &place,
            &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: inferred{namespace}}}\ndata: {{a: b}}\n"),
        )
    };
    let made = driver.apply(TYPE, None, &yaml("")).await;
    assert_eq!(made.json()["object_ref"]["namespace"], "default");
    driver.assert_settled(TYPE, &made, &yaml(", namespace: default")).await;
    assert_eq!(driver.delete(TYPE, &made).await.outcome, Outcome::Done);
}

#[tokio::test]
async fn another_version_of_the_same_group_is_in_place() {
    let (place, driver) = (Place::new("versions"), Driver::new(Host::Groma).await);
    let scaler = |version: &str| {
        let target = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}";
        let head = format!("apiVersion: autoscaling/{version}\nkind: HorizontalPodAutoscaler\n");
        config(
            &place,
            &format!("{head}metadata: {{name: h, namespace: versions}}\nspec:\n  maxReplicas: 3\n  {target}\n"),
        )
    };
    let made = driver.apply(TYPE, None, &scaler("v1")).await;
    let path = place.path("autoscaling/v2", "horizontalpodautoscalers", "h");
    let uid = place.get(&path).unwrap()["metadata"]["uid"].clone();
    let changed = driver.run(TYPE, &made, &scaler("v2")).await;
    assert_eq!(changed.json()["object_ref"]["api_version"], "autoscaling/v2");
    assert_eq!(place.get(&path).unwrap()["metadata"]["uid"], uid);
    driver.assert_settled(TYPE, &changed, &scaler("v2")).await;
}

#[tokio::test]
async fn a_field_that_cannot_be_changed_needs_a_new_object() {
    let (place, driver) = (Place::new("immutable"), Driver::new(Host::Groma).await);
    let job = |image: &str| {
        config(
            &place,
            &format!(
                "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j, namespace: immutable}}\nspec:\n  suspend: true\n  template:\n    \
                 spec:\n      restartPolicy: Never\n      containers: [{{name: c, image: {image}}}]\n"
            ),
        )
    };
    let made = driver.apply(TYPE, None, &job("one")).await;
    driver.assert_settled(TYPE, &made, &job("one")).await;
    let plan = driver.plan(TYPE, Some(&made), &job("two")).await;
    assert_eq!(summaries(&plan.diagnostics), ["Object is replaced: Job \"immutable/j\""]);
    assert_eq!(plan.requires_replace.len(), 1);
    let replaced = driver.apply(TYPE, Some(&made), &job("two")).await;
    let live = place.get(&place.path("batch/v1", "jobs", "j")).unwrap();
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "two");
    driver.assert_settled(TYPE, &replaced, &job("two")).await;
}

#[tokio::test]
async fn mistakes_are_told_by_the_plan() {
    let (place, driver) = (Place::new("mistakes"), Driver::new(Host::Groma).await);
    let deployment = |spec: &str| {
        let head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: mistakes}\nspec:\n";
        config(&place, &format!("{head}{spec}"))
    };
    let typo = deployment("  replica: 1\n  selector: {matchLabels: {a: b}}\n");
    let told = driver.plan(TYPE, None, &typo).await.diagnostics;
    assert_eq!(summaries(&told), ["Unknown field in manifest"]);
    let lacking = deployment("  replicas: 1\n");
    let told = driver.plan(TYPE, None, &lacking).await.diagnostics;
    assert!(told.has_errors(), "{told:?}");
    assert!(told.iter().any(|told| told.detail.contains("selector")), "{told:?}");
    let name = config(&place, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not_A_Name, namespace: mistakes}\n");
    assert!(driver.plan(TYPE, None, &name).await.diagnostics.has_errors());
}

#[tokio::test]
async fn a_secret_is_stored_as_fingerprints() {
    let (place, driver) = (Place::new("secrets"), Driver::new(Host::Groma).await);
    let secret = |value: &str| {
        let head = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: secrets}\n";
        config(&place, &format!("{head}stringData: {{password: {value}}}\n"))
    };
    let made = driver.apply(TYPE, None, &secret("hunter2")).await;
    let projection = made.json()["managed_state_projection"].to_string();
    assert!(projection.contains("data.password"), "{projection}");
    assert!(!projection.contains("hunter2") && !projection.contains("aHVudGVyMg"), "{projection}");
    driver.assert_settled(TYPE, &made, &secret("hunter2")).await;
    let changed = driver.run(TYPE, &made, &secret("other")).await;
    assert_eq!(place.get(&place.path("v1", "secrets", "s")).unwrap()["data"]["password"], "b3RoZXI=");
    driver.assert_settled(TYPE, &changed, &secret("other")).await;
}

#[tokio::test]
async fn what_is_not_there_yet_may_come_with_the_same_apply() {
    let (place, driver) = (Place::new("later"), Driver::new(Host::Groma).await);
    let wanted =
        config(&place, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: later-b}\ndata: {x: why}\n");
    let plan = driver.plan(TYPE, None, &wanted).await;
    assert!(plan.diagnostics.is_empty(), "{:?}", plan.diagnostics);
    let namespace = config(&place, "apiVersion: v1\nkind: Namespace\nmetadata: {name: later-b}\n");
    let (made, namespace) = tokio::join!(driver.apply(TYPE, None, &wanted), async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        driver.apply(TYPE, None, &namespace).await
    });
    assert_eq!(driver.delete(TYPE, &made).await.outcome, Outcome::Done);
    assert_eq!(driver.delete(TYPE, &namespace).await.outcome, Outcome::Done);
    assert!(driver.read(TYPE, &namespace).await.is_none());
}

#[tokio::test]
async fn a_kind_may_come_with_the_same_apply() {
    let (place, driver) = (Place::new("kinds"), Driver::new(Host::Groma).await);
    let definition = |plural: &str, kind: &str| {
        let names = format!("{{plural: {plural}, kind: {kind}}}");
        let schema = "{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}";
        config(
            &place,
            &format!(
                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.kinds.dev}}\nspec:\n  \
                 group: kinds.dev\n  scope: Namespaced\n  names: {names}\n  versions: [{{name: v1, served: true, storage: true, \
                 schema: {schema}}}]\n"
            ),
        )
    };
    let object = |kind: &str| {
        let head = format!("apiVersion: kinds.dev/v1\nkind: {kind}\nmetadata: {{name: a, namespace: kinds}}\n");
        config(&place, &format!("{head}spec: {{size: 3}}\n"))
    };
    // The second kind comes to a group that is served already.
    for (plural, kind) in [("cacti", "Cactus"), ("ferns", "Fern")] {
        let wanted = object(kind);
        let made = definition(plural, kind);
        let (made, _) = tokio::join!(driver.apply(TYPE, None, &wanted), driver.apply(TYPE, None, &made));
        driver.assert_settled(TYPE, &made, &wanted).await;
    }
}

#[tokio::test]
async fn delete_protection_protects() {
    let (place, driver) = (Place::new("protected"), Driver::new(Host::Groma).await);
    let mut wanted = config_map(&place, "a", "  x: yes-it-is\n");
    wanted["delete_protection"] = json!(true);
    let made = driver.apply(TYPE, None, &wanted).await;
    let refused = driver.delete(TYPE, &made).await;
    assert_eq!(summaries(&refused.diagnostics), ["Object is protected from deletion"]);
    wanted["delete_protection"] = json!(false);
    let plan = driver.plan(TYPE, Some(&made), &wanted).await;
    assert_eq!(changes(&made.object, &plan.planned), ["delete_protection"]);
    let open = driver.apply(TYPE, Some(&made), &wanted).await;
    assert_eq!(driver.delete(TYPE, &open).await.outcome, Outcome::Done);
}

#[tokio::test]
async fn finalizers_are_explained_and_removed_by_force() {
    let (place, driver) = (Place::new("stuck"), Driver::new(Host::Groma).await);
    let yaml =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: stuck, finalizers: [example.com/mine]}\n";
    let mut wanted = config(&place, yaml);
    wanted["delete_timeout"] = json!("1s");
    let made = driver.apply(TYPE, None, &wanted).await;
    driver.assert_settled(TYPE, &made, &wanted).await;
    let stuck = driver.delete(TYPE, &made).await;
    assert_eq!(summaries(&stuck.diagnostics), ["Deletion is blocked by finalizers"]);
    assert!(stuck.diagnostics.iter().any(|told| told.detail.contains("example.com/mine")));
    let forced = driver.delete(TYPE, &made.with("force_destroy", Value::bool(true))).await;
    assert_eq!(forced.outcome, Outcome::Done, "{:?}", forced.diagnostics);
    assert_eq!(place.config_map("a"), None);
}

#[tokio::test]
async fn an_orphan_stays_and_is_nobodys() {
    let (place, driver) = (Place::new("orphans"), Driver::new(Host::Groma).await);
    let mut wanted = config_map(&place, "a", "  x: yes-it-is\n");
    wanted["delete_policy"] = json!("orphan");
    let made = driver.apply(TYPE, None, &wanted).await;
    assert_eq!(driver.delete(TYPE, &made).await.outcome, Outcome::Done);
    let live = place.config_map("a").unwrap();
    assert_eq!(live["metadata"].get("annotations"), None);
    assert_eq!(live["data"], json!({"x": "yes-it-is"}));
}

#[tokio::test]
async fn an_annotation_that_was_removed_is_written_again() {
    let (place, driver) = (Place::new("annotations"), Driver::new(Host::Groma).await);
    let wanted = config_map(&place, "a", "  x: yes-it-is\n");
    let made = driver.apply(TYPE, None, &wanted).await;
    let path = place.path("v1", "configmaps", "a");
    place.others_put(&path, |object| {
        object["metadata"].as_object_mut().unwrap().remove("annotations");
    });
    let response = driver.try_read(TYPE, &made).await;
    assert_eq!(summaries(&response.diagnostics), ["Annotation was removed: ConfigMap \"annotations/a\""]);
    let after = driver.run(TYPE, &made, &wanted).await;
    assert_eq!(place.config_map("a").unwrap()["metadata"]["annotations"][ID], made.text("id").as_str());
    driver.assert_settled(TYPE, &after, &wanted).await;
}

#[tokio::test]
async fn an_object_of_another_resource_is_left_alone() {
    let (place, driver) = (Place::new("foreign"), Driver::new(Host::Groma).await);
    let made = driver.apply(TYPE, None, &config_map(&place, "a", "  x: yes-it-is\n")).await;
    let path = place.path("v1", "configmaps", "a");
    place.others_put(&path, |object| object["metadata"]["annotations"][ID] = json!("somebodyelse"));
    let read = driver.try_read(TYPE, &made).await;
    assert_eq!(summaries(&read.diagnostics), ["Object is managed elsewhere"]);
    assert_eq!(driver.delete(TYPE, &made).await.outcome, Outcome::Done);
    assert!(place.config_map("a").is_some());
}

#[tokio::test]
async fn an_import_is_settled_by_the_first_apply() {
    let place = Place::new("imports");
    let environment = [("KUBECONFIG", place.kubeconfig())];
    let driver = Driver::configured(Host::Groma, &json!({}), &environment).await;
    place.others_make(&place.path("v1", "configmaps", "a"), &json!({"metadata": {"name": "a"}, "data": {"x": "y"}}));
    let kept = driver.import(TYPE, "imports:v1/ConfigMap:a").await.unwrap();
    let wanted = json!({"yaml_body": kept.text("yaml_body"), "cluster": kept.json()["cluster"]});
    assert!(kept.json()["cluster"]["kubeconfig"].is_null());
    let after = driver.run(TYPE, &kept, &wanted).await;
    let live = place.config_map("a").unwrap();
    assert_eq!(live["metadata"]["annotations"][ID], kept.text("id").as_str());
    assert!(owners(&live, &["f:data", "f:x"]).contains(&"k8sconnect".to_owned()));
    driver.assert_settled(TYPE, &after, &wanted).await;

    let role = "imports-role:with:colons";
    let path = format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{role}");
    place.others_make(&path, &json!({"metadata": {"name": role}}));
    let kept = driver.import(TYPE, &format!("rbac.authorization.k8s.io/v1/ClusterRole:{role}")).await.unwrap();
    assert_eq!(kept.json()["object_ref"]["name"], role);
    let missing = driver.import(TYPE, "imports:v1/ConfigMap:none").await.unwrap_err();
    assert_eq!(summaries(&missing), ["Cannot import non-existent remote object"]);
}

#[tokio::test]
async fn refused_reads_keep_what_is_stored() {
    let (place, driver) = (Place::new("refused"), Driver::new(Host::Groma).await);
    let wanted = config_map(&place, "a", "  x: yes-it-is\n");
    let made = driver.apply(TYPE, None, &wanted).await;
    let mut expired = wanted.clone();
    expired["cluster"] = place.connection_of("expired");
    let cluster = driver.plan(TYPE, Some(&made), &expired).await;
    // Another process, which knows no other credentials.
    let other = Driver::new(Host::Groma).await;
    let stale = made.with("cluster", groma_kit::Object::of(&cluster.planned).get("cluster"));
    let read = other.try_read(TYPE, &stale).await;
    assert_eq!(summaries(&read.diagnostics), ["Object was not refreshed: ConfigMap \"refused/a\""]);
    assert_eq!(read.object, stale.object);
}

#[tokio::test]
async fn groma_looks_again_until_an_object_is_ready() {
    let (place, driver) = (Place::new("ready"), Driver::new(Host::Groma).await);
    let mut wanted = config_map(&place, "a", "  x: one\n");
    wanted["wait_for"] = json!({"field": "data.ready", "timeout": "3m"});
    let response = driver.try_apply(TYPE, None, &wanted).await;
    let Outcome::NotReady(lacks) = &response.outcome else { panic!("{:?}", response.outcome) };
    assert_eq!(lacks.patience.unwrap().timeout.as_secs(), 180);
    let made = Kept { object: response.object, private: response.private };
    assert!(driver.try_read(TYPE, &made).await.not_ready.is_some());
    place.others_put(&place.path("v1", "configmaps", "a"), |object| object["data"]["ready"] = json!("now"));
    let read = driver.try_read(TYPE, &made).await;
    assert_eq!(read.not_ready, None);
    // From then on nobody looks any more.
    let made = Kept { object: read.object, private: read.private };
    place.others_put(&place.path("v1", "configmaps", "a"), |object| {
        object["data"].as_object_mut().unwrap().remove("ready");
    });
    assert_eq!(driver.try_read(TYPE, &made).await.not_ready, None);
    driver.assert_settled(TYPE, &made, &wanted).await;
}

#[tokio::test]
async fn other_tools_are_told_to_wait_elsewhere() {
    let (place, driver) = (Place::new("elsewhere"), Driver::new(Host::Other).await);
    let mut wanted = config_map(&place, "a", "  x: one\n");
    wanted["wait_for"] = json!({"field": "data.ready"});
    let told = driver.validate(TYPE, &wanted).await;
    assert_eq!(summaries(&told), ["wait_for needs a resource of its own"]);
    assert!(told.iter().all(|told| told.detail.contains("resource \"k8sconnect_wait\" \"a\" {")));
}

#[tokio::test]
async fn an_object_that_is_gone_is_made_again() {
    let (place, driver) = (Place::new("gone"), Driver::new(Host::Groma).await);
    let wanted = config_map(&place, "a", "  x: one\n");
    let made = driver.apply(TYPE, None, &wanted).await;
    place.others_delete(&place.path("v1", "configmaps", "a"));
    assert!(driver.read(TYPE, &made).await.is_none());
    // Without a refresh it is found out as well.
    let again = driver.apply(TYPE, Some(&made), &wanted).await;
    assert_eq!(again.text("id"), made.text("id"));
    driver.assert_settled(TYPE, &again, &wanted).await;
    assert_eq!(driver.delete(TYPE, &again).await.outcome, Outcome::Done);
}

#[tokio::test]
async fn conflicts_are_told_to_who_does_not_force() {
    let (place, driver) = (Place::new("conflicts"), Driver::new(Host::Groma).await);
    let mut wanted = config_map(&place, "a", "  x: one\n");
    wanted["force_conflicts"] = json!(false);
    let made = driver.apply(TYPE, None, &wanted).await;
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "theirs"}});
    place.others_apply(&place.path("v1", "configmaps", "a"), &body);
    let read = driver.read(TYPE, &made).await.unwrap();
    let told = driver.plan(TYPE, Some(&read), &wanted).await.diagnostics;
    assert_eq!(summaries(&told), ["Fields are managed by others"]);
}
