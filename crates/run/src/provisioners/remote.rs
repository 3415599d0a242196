//! `file` and `remote-exec`: work on another machine, over [`Ssh`].

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use groma_engine::interrupt::{Interrupt, Urgency};
use groma_engine::provision::Provision;

use super::connection::{Connection, Platform};
use super::lines::Lines;
use super::ssh::{self, Credentials, Ssh, Status};
use super::{Surroundings, text, texts};

/// The first pause between two attempts to connect. Each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// What a script begins with that does not say what it is.
const SHEBANG: &[u8] = b"#!/bin/sh\n";

type Tell<'t> = &'t (dyn Fn(&str) + Send + Sync);

/// Copies a file, a directory or a text to another machine.
pub(super) async fn copy(surroundings: &Surroundings, provision: Provision) -> Result<(), String> {
    let config = &provision.config;
    let connection = Connection::read(&provision.connection, surroundings.agent_socket.is_some())?;
    let destination = text(config, "destination").unwrap_or_default();
    let credentials = Credentials::read(&connection, surroundings)?;
    let ssh = connected(&connection, &credentials, (surroundings, &provision.interrupt), None).await?;
    let work = async {
        let sent = match (text(config, "content"), text(config, "source")) {
            (Some(content), _) => ssh.upload(destination, content.as_bytes()).await,
            (None, source) => send(&ssh, surroundings, source.unwrap_or_default(), destination).await,
        };
        sent.map_err(|problem| format!("Upload failed: {}", shown(&provision, problem)))
    };
    let done = unless_interrupted(&provision.interrupt, work).await;
    ssh.close().await;
    done
}

/// What went wrong, unless that may tell a secret.
fn shown(provision: &Provision, problem: String) -> String {
    if provision.shows_output {
        return problem;
    }
    "The reason is not shown because the configuration has sensitive or ephemeral values.".to_owned()
}

async fn send(ssh: &Ssh, surroundings: &Surroundings, source: &str, destination: &str) -> Result<(), String> {
    let path = surroundings.path(source).map_err(|problem| format!("{source}: {problem}"))?;
    let metadata = tokio::fs::metadata(&path).await;
    let metadata = metadata.map_err(|problem| format!("{}: {problem}", path.display()))?;
    if metadata.is_dir() {
        ssh.upload_directory(destination, &path, !source.ends_with('/')).await
    } else {
        ssh.upload_file(destination, &path).await
    }
}

/// Runs scripts on another machine.
pub(super) async fn execute(surroundings: &Surroundings, provision: Provision) -> Result<(), String> {
    let connection = Connection::read(&provision.connection, surroundings.agent_socket.is_some())?;
    let scripts = scripts(surroundings, &provision)?;
    let credentials = Credentials::read(&connection, surroundings)?;
    let tell = provision.output.as_ref();
    let ssh = connected(&connection, &credentials, (surroundings, &provision.interrupt), Some(tell)).await?;
    let work = async {
        for script in &scripts {
            run_script(&ssh, &connection, script, tell).await?;
        }
        Ok(())
    };
    let done = unless_interrupted(&provision.interrupt, work).await;
    ssh.close().await;
    done
}

async fn unless_interrupted(
    interrupt: &Interrupt,
    work: impl Future<Output = Result<(), String>>,
) -> Result<(), String> {
    tokio::select! {
        biased;
        done = work => done,
        () = interrupt.reaches(Urgency::Soon) => Err("interrupted".to_owned()),
    }
}

async fn run_script(ssh: &Ssh, connection: &Connection, script: &[u8], tell: Tell<'_>) -> Result<(), String> {
    let path = connection.script_path()?;
    if script.is_empty() {
        return Err("Failed to upload script: Error reading script: it is empty".to_owned());
    }
    let named = script.starts_with(b"#!") || connection.platform == Platform::Windows;
    let content = if named { script.to_vec() } else { [SHEBANG, script].concat() };
    let failed = |problem: String| format!("Failed to upload script: {problem}");
    ssh.upload(&path, &content).await.map_err(failed)?;
    if connection.platform == Platform::Unix {
        let mut said = Vec::new();
        let status = ssh.run(&format!("chmod 0777 {path}"), &mut |bytes, _| said.extend_from_slice(bytes)).await;
        if let Err(problem) = status.and_then(Status::check) {
            let said = String::from_utf8_lossy(&said);
            return Err(failed(format!("Error chmodding script file to 0777 in remote machine: {problem} {said}")));
        }
    }
    let (mut out, mut err) = (Lines::new(tell), Lines::new(tell));
    let status = ssh.run(&path, &mut |bytes, is_error| if is_error { err.take(bytes) } else { out.take(bytes) }).await;
    out.end();
    err.end();
    let done = status.and_then(Status::check);
    done.map_err(|problem| format!("error executing {path:?}: {problem}"))?;
    // Nothing of the script stays behind. It is no failure if that does not work.
    if let Err(problem) = ssh.upload(&path, b"").await {
        tracing::warn!(path, problem, "the script could not be emptied");
    }
    Ok(())
}

/// The scripts to run, in order.
fn scripts(surroundings: &Surroundings, provision: &Provision) -> Result<Vec<Vec<u8>>, String> {
    let config = &provision.config;
    if let Some(lines) = texts(config, "inline") {
        let mut script = String::new();
        for line in lines {
            let line = line.ok_or("invalid null string in 'scripts'")?;
            if line.is_empty() {
                return Err("invalid empty string in 'scripts'".to_owned());
            }
            script.push_str(&line);
            script.push('\n');
        }
        return Ok(vec![script.into_bytes()]);
    }
    let named = text(config, "script").map(|path| Some(path.to_owned()));
    let paths = named.into_iter().chain(texts(config, "scripts").unwrap_or_default());
    let mut scripts = Vec::new();
    for path in paths {
        let path = path.ok_or("invalid null string in 'script'")?;
        if path.is_empty() {
            return Err("invalid empty string in 'script'".to_owned());
        }
        let place = surroundings.readable(surroundings.working_dir.join(&path));
        let failed = |problem: std::io::Error| shown(provision, format!("Failed to open script '{path}': {problem}"));
        scripts.push(place.and_then(std::fs::read).map_err(failed)?);
    }
    Ok(scripts)
}

/// Connects, again and again until it works or the time is up: the machine may have been made just now.
async fn connected(
    connection: &Connection,
    credentials: &Credentials,
    (surroundings, interrupt): (&Surroundings, &Interrupt),
    tell: Option<Tell<'_>>,
) -> Result<Ssh, String> {
    let networks = surroundings.networks.as_ref();
    ssh::check_way(connection, networks).await?;
    let last = Mutex::new(String::from("none"));
    let trying = async {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(tell) = tell {
                announce(connection, tell);
            }
            match Ssh::connect(connection, credentials, networks).await {
                Ok(ssh) => break ssh,
                Err(problem) => {
                    tracing::warn!(problem, "connecting failed");
                    *last.lock().unwrap_or_else(PoisonError::into_inner) = problem;
                }
            }
            tokio::time::sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    };
    let ended = tokio::select! {
        // Who interrupts is told what the matter was, too.
        biased;
        () = interrupt.reaches(Urgency::Soon) => "interrupted",
        ssh = trying => {
            if let Some(tell) = tell {
                tell("Connected!");
            }
            return Ok(ssh);
        }
        () = tokio::time::sleep(connection.timeout) => "timeout",
    };
    Err(format!("{ended} - last error: {}", last.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

fn announce(connection: &Connection, tell: Tell<'_>) {
    let Connection { target, bastion, proxy, agent, platform, .. } = connection;
    tell(&format!(
        "Connecting to remote host via SSH...\n  Host: {}\n  User: {}\n  Password: {}\n  Private key: {}\n  \
         Certificate: {}\n  SSH Agent: {agent}\n  Checking Host Key: {}\n  Target Platform: {}\n",
        target.host,
        target.user,
        target.password.is_some(),
        target.private_key.is_some(),
        target.certificate.is_some(),
        target.host_key.is_some(),
        platform.name(),
    ));
    if let Some(bastion) = bastion {
        tell(&format!(
            "Using configured bastion host...\n  Host: {}\n  User: {}\n  Password: {}\n  Private key: {}\n  \
             Certificate: {}\n  SSH Agent: {agent}\n  Checking Host Key: {}",
            bastion.host,
            bastion.user,
            bastion.password.is_some(),
            bastion.private_key.is_some(),
            bastion.certificate.is_some(),
            bastion.host_key.is_some(),
        ));
    }
    if let Some(proxy) = proxy {
        tell(&format!(
            "Using configured proxy host...\n  ProxyHost: {}\n  ProxyPort: {}\n  ProxyUserName: {}\n  \
             ProxyUserPassword: {}",
            proxy.host,
            proxy.port,
            proxy.user.as_deref().unwrap_or_default(),
            proxy.password.is_some(),
        ));
    }
}
