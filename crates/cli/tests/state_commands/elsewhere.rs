//! Outputs of other configurations whose states are on a server.

use groma_testkit::servers::http::{Rules, StateServer};

use crate::sandbox::Sandbox;

fn producer(address: &str) -> Sandbox {
    let config = format!(
        "terraform {{\n backend \"http\" {{\n address = {address:?}\n }}\n}}\n\
         output \"zone\" {{\n value = \"north\"\n}}\n\
         output \"token\" {{\n value = sensitive(\"hush-hush\")\n sensitive = true\n}}\n"
    );
    Sandbox::new().file("main.tf", &config)
}

fn consumer(backend: &str, config: &str) -> Sandbox {
    let text = format!(
        "data \"terraform_remote_state\" \"other\" {{\n backend = {backend:?}\n config = {{ {config} }}\n}}\n\
         output \"zone\" {{\n value = data.terraform_remote_state.other.outputs.zone\n}}\n\
         output \"token\" {{\n value = data.terraform_remote_state.other.outputs.token\n sensitive = true\n}}\n"
    );
    Sandbox::new().file("main.tf", &text)
}

#[test]
fn outputs_are_read_from_a_server() {
    let server = StateServer::start(Rules::default());
    let producer = producer(&server.address("made"));
    for arguments in [&["init"][..], &["apply", "-auto-approve"]] {
        let outcome = producer.run(arguments);
        assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    }
    let stored = server.shelf("made").stored;
    let consumer = consumer("http", &format!("address = {:?}", server.address("made")));
    let outcome = consumer.run(&["apply", "-auto-approve"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert!(!outcome.stdout.contains("hush-hush"), "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(consumer.run(&["output", "-raw", "zone"]).stdout, "north");
    assert_eq!(consumer.run(&["output", "-raw", "token"]).stdout, "hush-hush");
    // Nobody locks or writes what is only read.
    let shelf = server.shelf("made");
    assert_eq!((shelf.stored, shelf.lock), (stored, None));
}

#[test]
fn what_cannot_be_read_is_said() {
    let server = StateServer::start(Rules { authorization: Some("Basic bm9ib2R5Om5vdGhpbmc="), ..Rules::default() });
    let address = server.address("made");
    for (backend, config, expected) in [
        ("http", format!("address = {address:?}"), "Error loading state"),
        ("http", format!("adress = {address:?}"), "no argument named \"adress\""),
        ("s3", "bucket = \"b\"".to_owned(), "\"key\""),
        ("gcs", "bucket = \"b\"".to_owned(), "interoperability endpoint"),
        ("nowhere", String::new(), "There is no backend type named \"nowhere\""),
    ] {
        let outcome = consumer(backend, &config).run(&["plan"]);
        assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
        let said: String = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
        assert!(said.contains(expected), "{backend} {config}: {said}");
    }
    let password = format!("address = {address:?}, username = \"nobody\", password = \"nothing\"");
    let outcome = consumer("http", &password).run(&["plan"]);
    assert!(outcome.stderr.contains("Unable to find remote state"), "{}{}", outcome.stdout, outcome.stderr);
}
