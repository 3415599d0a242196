//! Stories of objects, with the real Stack controller beside: only what runs do is made up.

mod world;

use serde_json::json;

use super::*;
use crate::api::run::Phase;
use crate::blueprint::shipped::sample;
use world::{World, blueprint_place, place, stack_place};

#[tokio::test]
async fn an_object_becomes_a_stack_and_goes_again() {
    let world = World::new().await;
    Box::pin(story(&world)).await;
}

/// Created, ready, changed, deleted.
async fn story(world: &World) {
    world.apply(sample()).await;
    world.settle().await;
    assert_eq!(world.phase().await, "Applying: Running Terraform apply");
    assert_eq!(world.object().await.metadata.finalizers.unwrap(), ["infra.opr8r/simple-finalizer"]);
    let stack = world.stack().await.unwrap();
    assert_eq!(json!(stack.spec.inputs.values["length"]), json!(16));

    world.run_ends(Phase::Succeeded, json!({"random_value": "Xy9k", "file_path": "/tmp/x", "length": "16"})).await;
    world.settle().await;
    assert_eq!(world.phase().await, "Ready: SimpleResource is ready");
    let first = world.status().await;
    assert_eq!((&first["randomValue"], &first["filePath"]), (&json!("Xy9k"), &json!("/tmp/x")));
    assert_eq!(first["outputs"], json!({"random_value": "Xy9k", "file_path": "/tmp/x", "length": "16"}));
    assert_eq!(first["lastAppliedHash"].as_str().unwrap().len(), 64);
    assert_eq!(first["observedGeneration"], json!(world.object().await.metadata.generation));

    world.change(|object| object.data["spec"]["length"] = json!(20)).await;
    world.settle().await;
    assert_eq!(world.phase().await, "Applying: Running Terraform apply");
    assert_eq!(world.status().await["lastAppliedHash"], first["lastAppliedHash"]);
    world.run_ends(Phase::Succeeded, json!({"random_value": "Zz"})).await;
    world.settle().await;
    let second = world.status().await;
    assert_eq!((&second["randomValue"], second.get("filePath")), (&json!("Zz"), None));
    assert_ne!(second["lastAppliedHash"], first["lastAppliedHash"]);

    world.delete().await;
    world.settle().await;
    assert_eq!(world.phase().await, "Destroying: Running Terraform destroy");
    world.run_ends(Phase::Succeeded, json!({})).await;
    world.settle().await;
    assert!(world.is_gone().await);
}

/// At every write somebody else was faster once, or the server did not answer.
#[tokio::test]
async fn whoever_writes_meanwhile_changes_nothing_in_the_end() {
    let writes = {
        let world = World::new().await;
        Box::pin(story(&world)).await;
        world.writes()
    };
    assert!(writes > 20, "{writes}");
    for at in 0..writes {
        let world = World::unlucky(at).await;
        Box::pin(story(&world)).await;
    }
}

#[tokio::test]
async fn what_is_wrong_is_told_and_mended_by_itself() {
    let world = World::new().await;
    let mut object = sample();
    let name = "x".repeat(70);
    object.metadata.name = Some(name.clone());
    world.apply(object).await;
    world.settle().await;
    let status = world.status_of(&name).await;
    let expected = "metadata.name: it has 70 characters, and the label infra.opr8r/simpleresource takes 63 at most";
    assert_eq!((&status["phase"], &status["message"]), (&json!("Error"), &json!(expected)));
    let kinds: Vec<&str> =
        status["conditions"].as_array().unwrap().iter().map(|known| known["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Ready", "Stalled"]);
    // The Blueprint asks for no label any more.
    world.change_blueprint(|blueprint| blueprint.spec.label = None).await;
    world.settle().await;
    assert_eq!(world.status_of(&name).await["phase"], "Applying");
    // And again, and it goes although it is wrong.
    world.change_blueprint(|blueprint| blueprint.spec.label = Some("infra.opr8r/simpleresource".to_owned())).await;
    world.settle().await;
    assert_eq!(world.status_of(&name).await["phase"], "Error");
    world.delete_named(&name).await;
    world.settle().await;
    assert!(world.is_gone_named(&name).await);
}

#[tokio::test]
async fn a_run_that_fails_is_told_and_what_is_mended_is_applied() {
    let world = World::new().await;
    world.apply(sample()).await;
    world.settle().await;
    world.run_ends(Phase::Failed, json!({})).await;
    world.settle().await;
    assert_eq!(world.phase().await, "Error: simpleresource-simpleresource-sample-1: it did not work");
    world.change(|object| object.data["spec"]["length"] = json!(8)).await;
    world.settle().await;
    world.run_ends(Phase::Succeeded, json!({"random_value": "ok"})).await;
    world.settle().await;
    assert_eq!(world.phase().await, "Ready: SimpleResource is ready");
}

#[tokio::test]
async fn a_schema_without_room_for_outputs_is_told_of() {
    let world = World::new().await;
    world.take_outputs(false);
    world.apply(sample()).await;
    world.settle().await;
    world.run_ends(Phase::Succeeded, json!({"random_value": "Xy"})).await;
    world.settle().await;
    let told = world.phase().await;
    assert!(
        told.starts_with("Error: Its status does not take what the Blueprint puts there: status.randomValue"),
        "{told}"
    );
    world.take_outputs(true);
    world.settle().await;
    assert_eq!(world.phase().await, "Ready: SimpleResource is ready");
}

#[tokio::test]
async fn a_stack_of_somebody_else_is_left_alone() {
    let world = World::new().await;
    world.foreign_stack().await;
    world.apply(sample()).await;
    world.settle().await;
    let told = world.phase().await;
    assert!(told.starts_with("Error: Stack default/simpleresource-simpleresource-sample is there already"), "{told}");
    world.delete().await;
    world.settle().await;
    assert!(world.store.get(&place("simpleresource-sample")).await.unwrap().is_none());
    assert!(world.stack().await.is_some());
}

#[tokio::test]
async fn an_object_that_is_made_anew_waits_for_what_the_earlier_one_has_left() {
    let world = World::new().await;
    world.apply(sample()).await;
    world.settle().await;
    world.run_ends(Phase::Succeeded, json!({"random_value": "old"})).await;
    world.settle().await;
    // Somebody takes it away by force, and makes it again at once.
    world.change(|object| object.metadata.finalizers = None).await;
    world.delete().await;
    world.apply(sample()).await;
    world.settle().await;
    let told = world.phase().await;
    assert!(
        told.starts_with("Pending: Stack default/simpleresource-simpleresource-sample belongs to an earlier"),
        "{told}"
    );
    world.run_ends(Phase::Succeeded, json!({})).await;
    world.settle().await;
    assert_eq!(world.phase().await, "Applying: Running Terraform apply");
}

#[tokio::test]
async fn a_stack_that_somebody_deletes_is_made_again() {
    let world = World::new().await;
    world.apply(sample()).await;
    world.settle().await;
    world.store.delete(&stack_place(), None).await.unwrap();
    world.settle().await;
    assert_eq!(world.phase().await, "Applying: Running Terraform apply");
    assert!(world.stack().await.unwrap().metadata.deletion_timestamp.is_none());
}

#[tokio::test]
async fn an_object_goes_even_if_its_blueprint_was_taken_away_by_force() {
    let world = World::new().await;
    world.apply(sample()).await;
    world.settle().await;
    world.run_ends(Phase::Succeeded, json!({})).await;
    world.settle().await;
    world.change_blueprint(|blueprint| blueprint.metadata.finalizers = None).await;
    world.store.delete(&blueprint_place(), None).await.unwrap();
    world.delete().await;
    world.settle().await;
    assert!(world.store.get(&place("simpleresource-sample")).await.unwrap().is_none());
    // What it has made is taken down all the same.
    world.run_ends(Phase::Succeeded, json!({})).await;
    world.settle().await;
    assert!(world.stack().await.is_none());
}

#[tokio::test]
async fn a_finalizer_of_kubernetes_is_never_taken_for_ours() {
    let world = World::new().await;
    world.apply(sample()).await;
    world.settle().await;
    let mut stack = world.stack().await.unwrap();
    for (finalizer, expected) in [("infra.opr8r/simple-finalizer", true), ("kubernetes.io/pv-protection", false)] {
        let notes = stack.metadata.annotations.get_or_insert_default();
        notes.insert(names::OBJECT_FINALIZER.to_owned(), finalizer.to_owned());
        assert_eq!(orphaned(&stack, "simple-resource", "simpleresource-sample").is_some(), expected, "{finalizer}");
    }
}
