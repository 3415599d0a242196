//! Encrypted states on servers: nothing that a server keeps, neither the state nor the journal of a run that was killed, can be read there.

use std::fs;
use std::path::Path;

use groma_testkit::servers::postgres::{PgServer, programs};
use groma_testkit::servers::s3::{ACCESS_KEY, REGION, S3Server, SECRET_KEY};

use crate::sandbox::Sandbox;
use crate::{CHAINED, groma, prepared, target, tofu};

/// Whether any file in a folder has the text that is to be kept.
fn can_be_read(dir: &Path) -> bool {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut found = entries.map(|path| {
        // What goes away meanwhile has nothing.
        let has_text = |bytes: Vec<u8>| bytes.windows(12).any(|window| window == b"canary-first");
        if path.is_dir() { can_be_read(&path) } else { fs::read(&path).is_ok_and(has_text) }
    });
    found.any(|found| found)
}

fn with_backend(sandbox: Sandbox, backend: &str) -> Sandbox {
    sandbox.file("backend.tf", &format!("terraform {{\n backend {backend}\n}}\n"))
}

/// Applies, is killed, goes on, and lets the other tool look. What the server keeps is in the folder.
fn nothing_can_be_read(backend: &str, kept: &Path) {
    let sandbox = with_backend(prepared(&[CHAINED, &target("aes_gcm.mine", None)]), backend);
    groma(&sandbox, &["init"]);
    let sandbox = sandbox.env("GROMA_DIE_AT", "outcome.safe#1");
    assert_ne!(sandbox.run(&["apply", "-auto-approve"]).code, 0, "{backend}");
    assert!(!can_be_read(kept), "{backend}: the journal");
    let sandbox = sandbox.env("GROMA_DIE_AT", "");
    groma(&sandbox, &["apply", "-auto-approve"]);
    assert!(!can_be_read(kept), "{backend}: the state");
    tofu(&sandbox, &["init", "-reconfigure"]);
    assert_eq!(tofu(&sandbox, &["output", "-raw", "text"]), "canary-first", "{backend}");
}

/// Without encryption the text is found there, so that looking for it means something.
fn would_be_found(backend: &str, kept: &Path) {
    let sandbox = with_backend(prepared(&[]), backend);
    groma(&sandbox, &["init"]);
    groma(&sandbox, &["apply", "-auto-approve"]);
    assert!(can_be_read(kept), "{backend}");
}

#[test]
fn a_bucket_keeps_nothing_that_can_be_read() {
    #[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
    let program = std::env::var_os("GROMA_VERSITYGW").expect("GROMA_VERSITYGW is not set: run `cargo xtask test`");
    let dir = tempfile::tempdir().unwrap();
    let server = S3Server::start(dir.path(), Path::new(&program)).unwrap();
    let backend = |bucket: &str| {
        server.make_bucket(bucket).unwrap();
        format!(
            "\"s3\" {{\n bucket = {bucket:?}\n key = \"state\"\n region = {REGION:?}\n access_key = {ACCESS_KEY:?}\n \
             secret_key = {SECRET_KEY:?}\n use_path_style = true\n use_lockfile = true\n endpoints = {{ s3 = {:?} }}\n \
             skip_credentials_validation = true\n skip_region_validation = true\n skip_requesting_account_id = true\n \
             skip_metadata_api_check = true\n }}",
            server.url()
        )
    };
    nothing_can_be_read(&backend("sealed"), dir.path());
    would_be_found(&backend("open"), dir.path());
}

#[test]
fn a_database_keeps_nothing_that_can_be_read() {
    let programs = programs().expect("PostgreSQL is not installed: install the package `postgresql`");
    let dir = tempfile::tempdir().unwrap();
    let server = PgServer::start(dir.path(), &programs).unwrap();
    let backend = |database: &str| {
        server.sql(&format!("CREATE DATABASE {database}")).unwrap();
        format!("\"pg\" {{\n conn_str = {:?}\n }}", server.url_of(database))
    };
    nothing_can_be_read(&backend("sealed"), dir.path());
    would_be_found(&backend("open"), dir.path());
}
