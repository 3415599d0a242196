//! Tests of `file` and `remote-exec` at a machine that is really logged in at.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use groma_model::value::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::server::{PASSWORD, Server, USER, new_key, pem};
use super::{Outcome, Surroundings, list, provision};

type Arguments = Vec<(&'static str, Value)>;

/// How the tests log in, with what is said in addition.
fn connection(server: &Server, more: &[(&'static str, Value)]) -> Arguments {
    let mut all = vec![
        ("host", Value::string("127.0.0.1")),
        ("port", Value::number(u64::from(server.port))),
        ("user", Value::string(USER)),
        ("timeout", Value::string("60s")),
    ];
    all.extend_from_slice(more);
    all
}

fn with_password() -> (&'static str, Value) {
    ("password", Value::string(PASSWORD))
}

async fn over_ssh(dir: &Path, kind: &str, config: &[(&str, Value)], connection: &[(&str, Value)]) -> Outcome {
    let surroundings = Surroundings::in_directory(dir.to_owned());
    provision(surroundings, kind, config, Some(connection), |_| {}).await
}

#[tokio::test]
async fn lines_are_run_as_one_script() {
    let (server, dir) = (Server::start().await, tempfile::tempdir().unwrap());
    let script_path = dir.path().join("script_%RAND%.sh").display().to_string();
    let connection = connection(&server, &[with_password(), ("script_path", Value::string(script_path))]);
    let inline = [("inline", list(&["x=1", "echo x is $x", "echo oops >&2"]))];
    let outcome = over_ssh(dir.path(), "remote-exec", &inline, &connection).await;
    assert!(outcome.diagnostics.is_empty(), "{}", outcome.detail());
    assert!(outcome.lines[0].starts_with("Connecting to remote host via SSH...\n  Host: 127.0.0.1\n  User: tester\n"));
    assert!(!outcome.lines.concat().contains(PASSWORD));
    assert_eq!(outcome.lines[1], "Connected!");
    let mut printed = outcome.lines[2..].to_vec();
    printed.sort();
    assert_eq!(printed, ["oops", "x is 1"]);
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(std::fs::read(&left[0]).unwrap(), b"", "nothing of the script stays behind");
}

#[tokio::test]
async fn scripts_from_files_run_in_order_until_one_fails() {
    let (server, dir) = (Server::start().await, tempfile::tempdir().unwrap());
    for (name, text) in [("one", "#!/bin/sh\necho one"), ("two", "exit 3"), ("three", "echo three")] {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let script_path = dir.path().join("script.sh").display().to_string();
    let connection = connection(&server, &[with_password(), ("script_path", Value::string(script_path.clone()))]);
    let scripts = [("scripts", list(&["one", "two", "three"]))];
    let outcome = over_ssh(dir.path(), "remote-exec", &scripts, &connection).await;
    let expected =
        format!("remote-exec provisioner error: error executing {script_path:?}: Process exited with status 3");
    assert_eq!(outcome.detail(), expected);
    assert_eq!(outcome.lines[2..], ["one"]);

    let missing = [("script", Value::string("missing"))];
    let outcome = over_ssh(dir.path(), "remote-exec", &missing, &connection).await;
    assert!(outcome.detail().contains("Failed to open script 'missing'"), "{}", outcome.detail());
}

#[tokio::test]
async fn files_and_texts_are_copied() {
    let (server, dir) = (Server::start().await, tempfile::tempdir().unwrap());
    let connection = connection(&server, &[("private_key", Value::string(pem(&server.user_key)))]);
    let there = |name: &str| dir.path().join(name);
    let to = |name: &str| ("destination", Value::string(there(name).display().to_string()));
    let content = [("content", Value::string("a text\n")), to("with space")];
    let outcome = over_ssh(dir.path(), "file", &content, &connection).await;
    assert!(outcome.diagnostics.is_empty(), "{}", outcome.detail());
    assert_eq!(std::fs::read_to_string(there("with space")).unwrap(), "a text\n");

    let large: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(there("large"), &large).unwrap();
    let source = [("source", Value::string("large")), to("copy")];
    let outcome = over_ssh(dir.path(), "file", &source, &connection).await;
    assert!(outcome.diagnostics.is_empty(), "{}", outcome.detail());
    assert!(std::fs::read(there("copy")).unwrap() == large);

    let nowhere = [("content", Value::string("x")), to("no/such/place")];
    let outcome = over_ssh(dir.path(), "file", &nowhere, &connection).await;
    assert!(outcome.detail().starts_with("file provisioner error: Upload failed: "), "{}", outcome.detail());
    let missing = [("source", Value::string("missing")), to("x")];
    let outcome = over_ssh(dir.path(), "file", &missing, &connection).await;
    assert!(outcome.detail().contains("No such file or directory"), "{}", outcome.detail());
}

#[tokio::test]
async fn directories_are_copied_as_such_or_what_is_in_them() {
    let (server, dir) = (Server::start().await, tempfile::tempdir().unwrap());
    let connection = connection(&server, &[with_password()]);
    let source = dir.path().join("source");
    std::fs::create_dir_all(source.join("inner/empty")).unwrap();
    std::fs::write(source.join("a"), "a").unwrap();
    std::fs::write(source.join("inner/b"), "b").unwrap();
    std::os::unix::fs::symlink("inner", source.join("link")).unwrap();
    for (name, from, prefix) in [("whole", "source", "source/"), ("content", "source/", "")] {
        let target = dir.path().join(name);
        std::fs::create_dir(&target).unwrap();
        let destination = ("destination", Value::string(target.display().to_string()));
        let config = [("source", Value::string(from)), destination];
        let outcome = over_ssh(dir.path(), "file", &config, &connection).await;
        assert!(outcome.diagnostics.is_empty(), "{}", outcome.detail());
        let read = |path: &str| std::fs::read_to_string(target.join(format!("{prefix}{path}"))).unwrap();
        assert_eq!((read("a"), read("inner/b"), read("link/b")), ("a".into(), "b".into(), "b".into()));
        assert!(target.join(format!("{prefix}inner/empty")).is_dir());
    }
}

#[tokio::test]
async fn a_machine_must_show_the_key_that_is_given() {
    let (server, dir) = (Server::start().await, tempfile::tempdir().unwrap());
    let config = [("content", Value::string("x")), ("destination", Value::string("/dev/null"))];
    let right = connection(&server, &[with_password(), ("host_key", Value::string(server.public_key()))]);
    let outcome = over_ssh(dir.path(), "file", &config, &right).await;
    assert!(outcome.diagnostics.is_empty(), "{}", outcome.detail());

    let other = Value::string(new_key().public_key().to_openssh().unwrap());
    let outcome = after_one_attempt(dir.path(), &connection(&server, &[with_password(), ("host_key", other)])).await;
    let detail = outcome.detail();
    assert!(detail.contains("interrupted - last error: SSH authentication failed"), "{detail}");
    assert!(!detail.contains("does not accept"), "it never got so far: {detail}");
}

/// Runs something, and stops it when a second attempt to connect begins.
async fn after_one_attempt(dir: &Path, connection: &[(&str, Value)]) -> Outcome {
    let stopping = |provision: &mut groma_engine::provision::Provision| {
        let interrupt = provision.interrupt.clone();
        let attempts = AtomicUsize::new(0);
        provision.output = Arc::new(move |line| {
            if line.starts_with("Connecting") && attempts.fetch_add(1, Ordering::SeqCst) == 1 {
                interrupt.ask();
            }
        });
    };
    let surroundings = Surroundings::in_directory(dir.to_owned());
    provision(surroundings, "remote-exec", &[("inline", list(&["true"]))], Some(connection), stopping).await
}

#[tokio::test]
async fn what_is_not_accepted_is_tried_again() {
    let (server, dir) = (Server::start().await, tempfile::tempdir().unwrap());
    let wrong = connection(&server, &[("password", Value::string("wrong"))]);
    let outcome = after_one_attempt(dir.path(), &wrong).await;
    let place = format!("tester@127.0.0.1:{}", server.port);
    let expected = format!(
        "remote-exec provisioner error: interrupted - last error: SSH authentication failed ({place}): the machine does not \
         accept the password"
    );
    assert_eq!(outcome.detail(), expected);
}

#[tokio::test]
async fn a_machine_that_is_late_is_waited_for() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let dir = tempfile::tempdir().unwrap();
    let arguments = vec![
        ("host", Value::string("127.0.0.1")),
        ("port", Value::number(u64::from(address.port()))),
        ("user", Value::string(USER)),
        with_password(),
    ];
    let script_path = dir.path().join("script.sh").display().to_string();
    let arguments = [arguments, vec![("script_path", Value::string(script_path))]].concat();
    let inline = [("inline", list(&["echo here"]))];
    let surroundings = Surroundings::in_directory(dir.path().to_owned());
    // The machine comes up when the first attempt has been announced.
    let late = |provision: &mut groma_engine::provision::Provision| {
        let told = provision.output.clone();
        let attempts = AtomicUsize::new(0);
        let runtime = tokio::runtime::Handle::current();
        provision.output = Arc::new(move |line| {
            told(line);
            let first = line.starts_with("Connecting") && attempts.fetch_add(1, Ordering::SeqCst) == 1;
            if first {
                runtime.spawn(async move { Server::on(TcpListener::bind(address).await.unwrap()) });
            }
        });
    };
    let outcome = provision(surroundings, "remote-exec", &inline, Some(&arguments), late).await;
    assert!(outcome.diagnostics.is_empty(), "{}", outcome.detail());
    assert!(outcome.lines.iter().filter(|line| line.starts_with("Connecting")).count() >= 2, "{:?}", outcome.lines);
    assert!(outcome.lines.contains(&"here".to_owned()));
}

#[tokio::test]
async fn other_machines_and_proxies_may_be_on_the_way() {
    let (target, bastion, dir) = (Server::start().await, Server::start().await, tempfile::tempdir().unwrap());
    let script_path = dir.path().join("script.sh").display().to_string();
    let through_bastion = connection(
        &target,
        &[
            with_password(),
            ("script_path", Value::string(script_path)),
            ("bastion_host", Value::string("127.0.0.1")),
            ("bastion_port", Value::number(u64::from(bastion.port))),
            ("bastion_private_key", Value::string(pem(&bastion.user_key))),
            ("bastion_host_key", Value::string(bastion.public_key())),
            ("host_key", Value::string(target.public_key())),
        ],
    );
    let inline = [("inline", list(&["echo behind"]))];
    let outcome = over_ssh(dir.path(), "remote-exec", &inline, &through_bastion).await;
    assert!(outcome.diagnostics.is_empty(), "{}", outcome.detail());
    assert!(outcome.lines[1].starts_with("Using configured bastion host...\n  Host: 127.0.0.1\n"));
    assert!(outcome.lines.contains(&"behind".to_owned()));

    let proxy = proxy().await;
    let mut through_proxy = through_bastion;
    through_proxy.extend([
        ("proxy_host", Value::string("127.0.0.1")),
        ("proxy_port", Value::number(u64::from(proxy))),
        ("proxy_user_name", Value::string("me")),
        ("proxy_user_password", Value::string("secret")),
    ]);
    let outcome = over_ssh(dir.path(), "remote-exec", &inline, &through_proxy).await;
    assert!(outcome.diagnostics.is_empty(), "{}", outcome.detail());
    assert!(outcome.lines.contains(&"behind".to_owned()));
}

/// A proxy that lets one guest through who says who it is.
async fn proxy() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            if line.trim().is_empty() {
                break;
            }
            head.push(line.trim().to_owned());
        }
        assert!(head.contains(&"Proxy-Authorization: Basic bWU6c2VjcmV0".to_owned()), "{head:?}");
        let place = head[0].split(' ').nth(1).unwrap().to_owned();
        let mut target = TcpStream::connect(place).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut stream, &mut target).await;
    });
    port
}

#[tokio::test]
async fn a_script_is_left_alone_when_the_run_is_interrupted() {
    let (server, dir) = (Server::start().await, tempfile::tempdir().unwrap());
    let script_path = dir.path().join("script.sh").display().to_string();
    let connection = connection(&server, &[with_password(), ("script_path", Value::string(script_path))]);
    let interrupting = |provision: &mut groma_engine::provision::Provision| {
        let interrupt = provision.interrupt.clone();
        provision.output = Arc::new(move |line| {
            if line == "started" {
                interrupt.ask();
            }
        });
    };
    let inline = [("inline", list(&["echo started", "exec sleep 600"]))];
    let surroundings = Surroundings::in_directory(dir.path().to_owned());
    let outcome = provision(surroundings, "remote-exec", &inline, Some(&connection), interrupting).await;
    assert_eq!(outcome.detail(), "remote-exec provisioner error: interrupted");
}

#[tokio::test]
async fn what_cannot_work_is_said_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let inline = [("inline", list(&["true"]))];
    let host = || ("host", Value::string("example.invalid"));
    let key = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n-----END RSA PRIVATE KEY-----\n";
    let cases: Vec<(Arguments, &str)> = vec![
        (vec![host(), ("type", Value::string("winrm"))], "Connection type 'winrm' is not supported"),
        (vec![host(), ("type", Value::string("telnet"))], "Connection type 'telnet' not supported"),
        (vec![("host", Value::string(""))], "host for provisioner cannot be empty"),
        (vec![host(), ("target_platform", Value::string("vms"))], "has to be either unix or windows"),
        (vec![host(), ("port", Value::number(70_000))], "port must be a number from 0 to 65535"),
        (vec![host(), ("private_key", Value::string("hunter2"))], "no key found"),
        (vec![host(), ("private_key", Value::string(key))], "password protected keys are not supported"),
        (vec![host(), ("host_key", Value::string("no key"))], "The host key cannot be read"),
        (vec![host(), ("agent", Value::bool(true))], "SSH agent requested but SSH_AUTH_SOCK not-specified"),
        (
            vec![host(), ("proxy_host", Value::string("p")), ("proxy_scheme", Value::string("socks"))],
            "unknown scheme: socks",
        ),
    ];
    for (connection, expected) in cases {
        let outcome = over_ssh(dir.path(), "remote-exec", &inline, &connection).await;
        assert!(outcome.detail().contains(expected), "{expected}: {}", outcome.detail());
        assert!(!outcome.detail().contains("hunter2"));
        assert!(outcome.lines.is_empty(), "{:?}", outcome.lines);
    }
    let surroundings = Surroundings::in_directory(dir.path().to_owned());
    let outcome = provision(surroundings, "remote-exec", &inline, None, |_| {}).await;
    assert!(outcome.detail().contains("Missing connection configuration for provisioner."), "{}", outcome.detail());
}

#[tokio::test]
async fn time_runs_out() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let dir = tempfile::tempdir().unwrap();
    let connection = [
        ("host", Value::string("127.0.0.1")),
        ("port", Value::number(u64::from(port))),
        ("timeout", Value::string("10ms")),
    ];
    // Nobody answers.
    let outcome = over_ssh(dir.path(), "remote-exec", &[("inline", list(&["true"]))], &connection).await;
    assert_eq!(outcome.detail(), "remote-exec provisioner error: timeout - last error: none");
}
