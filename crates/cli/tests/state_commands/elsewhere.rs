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

/// The journal of a state on an http server is on the machine that wrote it: where is said before anything begins, and the next command
/// there goes on with it.
#[test]
fn the_place_of_the_journal_is_said_where_the_server_keeps_none() {
    let server = StateServer::start(Rules::default());
    let config = format!(
        "terraform {{\n backend \"http\" {{\n address = {0:?}\n lock_address = {0:?}\n unlock_address = {0:?}\n }}\n}}\n\
         resource \"terraform_data\" \"a\" {{\n input = 1\n}}\n",
        server.address("made")
    );
    let sandbox = Sandbox::new().file("main.tf", &config);
    assert_eq!(sandbox.run(&["init"]).code, 0);
    let sandbox = sandbox.env("GROMA_DIE_AT", "outcome.safe#1");
    let killed = sandbox.run(&["apply", "-auto-approve"]);
    let said: String = format!("{}{}", killed.stdout, killed.stderr).replace("│ ", "").replace('\n', " ");
    let journal = said.split(' ').map(|word| word.trim_end_matches('.')).find(|word| word.ends_with(".groma-journal"));
    let journal = journal.unwrap_or_else(|| panic!("no journal is named: {said}"));
    assert!(std::fs::metadata(sandbox.path("").join(journal)).is_ok_and(|file| file.len() > 0), "{journal}");

    // Somebody has seen that nobody holds it any more.
    server.change("made", |shelf| shelf.lock = None);
    let sandbox = sandbox.env("GROMA_DIE_AT", "");
    let outcome = sandbox.run(&["apply", "-auto-approve"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("0 added, 0 changed, 0 destroyed"), "{}", outcome.stdout);
    assert!(!sandbox.path("").join(journal).exists());
}
