//! What people write wrong is told with its place, and nothing else is touched.

use crate::stage::{AUTO, Stage, stack};

const PLAIN: &str = "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n";

#[test]
fn a_broken_file_is_told_and_takes_nothing_down() {
    let stage = Stage::new();
    let good = stack("app", AUTO, &[("main.tf", PLAIN)]);
    stage.write("app.yaml", &good);
    stage.wait_until("app", "True", "");
    let before = stage.state("app");
    stage.write("app.yaml", &good.replace("approval", "aproval"));
    stage.write("more.yaml", "a: [");
    stage.write("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n");
    let mistakes = || stage.read(".groma/mistakes.yaml");
    stage.wait_for("mistakes", || ["aproval", "more.yaml", "Pod of v1"].iter().all(|part| mistakes().contains(part)));
    let told = stage.groma(&["stack", "get"]);
    assert!(told.stderr.contains("app.yaml:6: spec.aproval: is not a field that is known"), "{}", told.stderr);
    assert!(told.stdout.contains("app"), "{}", told.stdout);
    assert!(stage.log().contains("Mistake  app.yaml:6"), "{}", stage.log());
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(stage.state("app"), before);
    stage.write("app.yaml", &good);
    stage.remove("more.yaml");
    stage.remove("pod.yaml");
    stage.wait_for("no mistakes", || mistakes().is_empty());
    assert_eq!(stage.state("app"), before);
}

#[test]
fn a_configuration_that_is_wrong_is_told_at_its_place_and_mended() {
    let stage = Stage::new();
    stage.write(
        "app.yaml",
        &stack("app", AUTO, &[("main.tf", "resource \"terraform_data\" \"a\" {\n  input = nope\n}\n")]),
    );
    stage.wait_until("app", "False", "");
    let told = stage.well(&["stack", "describe", "app"]);
    assert!(told.contains("main.tf:2"), "{told}");
    assert!(told.contains("Written in\n  app.yaml"), "{told}");
    stage.write("app.yaml", &stack("app", AUTO, &[("main.tf", PLAIN)]));
    // At once, and not when it would have been tried again.
    stage.wait_until("app", "True", "");
}
