//! Sources that somebody has made to do harm, or that are too much. It is said what is wrong, nothing that is there is lost, and what comes next is
//! carried out as if nothing had been.

use std::io::{Read as _, Write as _};

use groma_testkit::servers::artifacts::{ArtifactServer, archive};
use groma_testkit::servers::git::{Change, GitServer};
use serde_json::{Value, json};

use crate::fetched::{self, FIRST};
use crate::lake::state;
use crate::sources::{MAIN, NAME, ONE, applied, revision};
use crate::stage::{Stage, condition, message};

/// How large sources may be here, in mebibytes.
const LIMIT: &str = "1";

fn packed(tar: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(tar).unwrap();
    gzip.finish().unwrap()
}

/// An archive with a file whose name is written as it is, whatever it says.
fn with_name(name: &str) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_size(4);
    header.set_mode(0o644);
    header.set_cksum();
    let mut builder = tar::Builder::new(Vec::new());
    builder.append(&header, &b"evil"[..]).unwrap();
    packed(&builder.into_inner().unwrap())
}

/// A few kilobytes that are many megabytes.
fn bomb() -> Vec<u8> {
    let size = 32 << 20;
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o644);
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_data(&mut header, "main.tf", std::io::repeat(b' ').take(size)).unwrap();
    packed(&builder.into_inner().unwrap())
}

/// A link out of the tree, and a file that would be written through it.
fn through_a_link(to: &str) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    builder.append_link(&mut link, "out", to).unwrap();
    let mut file = tar::Header::new_gnu();
    file.set_size(4);
    file.set_mode(0o644);
    builder.append_data(&mut file, "out/evil.tf", &b"evil"[..]).unwrap();
    packed(&builder.into_inner().unwrap())
}

/// Waits until it is said what is wrong with the source: in which words.
#[track_caller]
fn refused(stage: &Stage, what: &str, before: &str) -> String {
    let stack = stage.until(&format!("{what} is refused"), || {
        let stack = stage.get(NAME);
        let ready = condition(&stack, "Ready")?;
        (ready["status"] == "False" && ready["message"] != *before).then_some(stack)
    });
    assert_eq!(condition(&stack, "Ready").unwrap()["reason"], "SourceFailed", "{what}: {}", message(&stack));
    message(&stack)
}

/// Archives with the right digest that nobody should unpack.
#[test]
fn a_malicious_archive_is_refused_and_the_next_one_is_applied() {
    let (mut stage, server) = (Stage::idle(&["-source-limit", LIMIT]), ArtifactServer::new());
    fetched::make_known(&stage);
    fetched::make_source(&stage, "lake");
    stage.start();
    let flux = json!({"kind": "GitRepository", "name": "lake"});
    stage.stack(NAME, json!({"source": {"flux": flux}, "interval": "1h", "retry": {"interval": "1h"}}));
    fetched::has(&stage, "lake", &server.publish("good", &[("main.tf", ONE)]), FIRST);
    applied(&stage, FIRST);
    let (before, outside) = (state(&stage, NAME), stage.path("outside"));
    std::fs::create_dir(&outside).unwrap();
    let mut whole = archive(&[("main.tf", ONE)]);
    whole.truncate(whole.len() / 2);
    let rows: [(&str, Vec<u8>); 6] = [
        ("a file above the tree", with_name("../../../evil.tf")),
        ("a file anywhere", with_name(outside.join("evil.tf").to_str().unwrap())),
        ("a file behind a link", through_a_link(outside.to_str().unwrap())),
        ("a bomb", bomb()),
        ("half of an archive", whole),
        ("no archive", b"<html>Please log in</html>".to_vec()),
    ];
    let mut told = String::new();
    for (number, (what, bytes)) in rows.into_iter().enumerate() {
        let revision = format!("main@sha1:{number:040}");
        let artifact = server.publish_bytes(&format!("evil-{number}"), bytes);
        fetched::has(&stage, "lake", &artifact, &revision);
        told = refused(&stage, what, &told);
        assert_eq!(stage.get(NAME)["status"]["applied"]["revision"], FIRST, "{what}: {told}");
        assert_eq!((state(&stage, NAME), stage.runs(NAME).len()), (before.clone(), 1), "{what}");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{what}");
    }
    let last = "main@sha1:9999999999999999999999999999999999999999";
    let good = server.publish("last", &[("main.tf", &ONE.replace("\"one\"\n", "\"two\"\n"))]);
    fetched::has(&stage, "lake", &good, last);
    applied(&stage, last);
    assert_eq!(stage.runs(NAME).len(), 2);
}

/// A repository that is larger than sources may be; without what is too large it is applied.
#[test]
fn a_repository_that_is_too_large_is_refused_and_smaller_again_applied() {
    let (stage, server) = (Stage::with(&["-source-limit", LIMIT]), GitServer::new());
    let repository = server.repository("lake");
    let first = repository.commit("main", "the first", &[(MAIN, ONE)]);
    let git = json!({"url": repository.url(), "ref": {"branch": "main"}, "interval": "1s"});
    let spec = json!({"source": {"git": git}, "path": "infra", "interval": "1h", "retry": {"interval": "1h"}});
    stage.stack(NAME, spec);
    applied(&stage, &revision(&first));
    let before = state(&stage, NAME);
    let two = ONE.replace("\"one\"\n", "\"two\"\n");
    repository.commit("main", "a film", &[(MAIN, &two), ("film.mp4", &"x".repeat(3 << 20))]);
    let told = refused(&stage, "a film", "");
    assert!(told.contains("limit") && told.contains(&revision(&first)), "{told}");
    assert_eq!((state(&stage, NAME), stage.runs(NAME).len()), (before, 1));
    let small = repository.change("main", "no film", &[("film.mp4", Change::Gone)]);
    applied(&stage, &revision(&small));
    assert_eq!(stage.runs(NAME).len(), 2);
}

/// A few lines of YAML that stand for more than there is memory.
#[test]
fn a_bomb_of_yaml_is_told_at_its_place_and_the_next_commit_is_applied() {
    let (stage, server) = (Stage::new(), GitServer::new());
    let repository = server.repository("lake");
    let main = format!("{ONE}output \"it\" {{\n  value = yamldecode(file(\"${{path.module}}/it.yaml\"))\n}}\n");
    let first = repository.commit("main", "the first", &[(MAIN, &main), ("infra/it.yaml", "a: 1\n")]);
    let git = json!({"url": repository.url(), "ref": {"branch": "main"}, "interval": "1s"});
    let spec = json!({
        "source": {"git": git}, "path": "infra", "interval": "1h", "retry": {"interval": "1h"}, "outputs": {"status": true},
    });
    stage.stack(NAME, spec);
    applied(&stage, &revision(&first));
    let (before, memory) = (state(&stage, NAME), stage.memory());
    let mut bomb = vec!["a0: &a0 x".to_owned()];
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push(format!("a{level}: &a{level} [{aliases}]"));
    }
    let second = repository.commit("main", "a bomb", &[("infra/it.yaml", &(bomb.join("\n") + "\n"))]);
    let stack = stage.until("it is told", || {
        let stack = stage.get(NAME);
        let is_it = condition(&stack, "Ready")?["status"] == "False"
            && stack["status"]["attempted"]["revision"] == revision(&second);
        is_it.then_some(stack)
    });
    let told = message(&stack);
    assert!(told.contains("main.tf:5") && told.contains("aliases stand for too much"), "{told}");
    assert_eq!(
        (state(&stage, NAME), &stack["status"]["applied"]["revision"]),
        (before, &Value::from(revision(&first)))
    );
    assert!(stage.memory() < memory + (256 << 10), "{memory} KiB before, {} KiB after", stage.memory());
    let third = repository.commit("main", "mended", &[("infra/it.yaml", "a: 2\n")]);
    let stack = applied(&stage, &revision(&third));
    assert_eq!(stack["status"]["outputs"]["it"], json!({"a": 2}));
}
