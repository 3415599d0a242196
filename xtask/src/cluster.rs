//! `cargo xtask cluster`: a Kubernetes API server of one's own, to try things with: etcd and kube-apiserver, without nodes. Tests
//! start theirs themselves, with the same code.

#[path = "../../crates/testkit/src/servers/kube.rs"]
#[expect(dead_code, reason = "tests use more of it")]
#[allow(
    clippy::panic,
    unreachable_pub,
    reason = "it belongs to another crate, and is compiled here so that this one stays small"
)]
mod kube;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{peers, workspace};
use kube::{KubeServer, Lifetime, Programs};

/// Start, stop or look at a cluster: etcd and kube-apiserver, without nodes.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Start it, and say how to reach it.
    Up,
    /// Stop it, and remove everything of it.
    Down,
    /// Say whether it runs, and how to reach it.
    Status,
}

/// Does what was asked.
pub(crate) fn run(args: &Args) -> Result<()> {
    match args.action {
        Action::Up => up(),
        Action::Down => down(),
        Action::Status => status(),
    }
}

fn dir() -> PathBuf {
    workspace::root().join("target/cluster")
}

fn up() -> Result<()> {
    let running = running()?;
    if !running.is_empty() {
        println!("    it runs already");
        return status();
    }
    remove()?;
    let programs = Programs { etcd: peers::find("etcd")?, apiserver: peers::find("kube-apiserver")? };
    std::fs::create_dir_all(dir()).context("cannot create the folder of the cluster")?;
    let server = KubeServer::start(&dir(), &programs, Lifetime::Own).context("cannot start the cluster")?;
    let reach = server.reach();
    for (name, process) in &reach.processes {
        std::fs::write(dir().join(format!("{name}.pid")), process.to_string())?;
    }
    std::fs::write(dir().join("kubeconfig.path"), reach.kubeconfig.display().to_string())?;
    status()
}

fn down() -> Result<()> {
    for (name, process) in running()? {
        kill(process, Signal::SIGKILL).with_context(|| format!("cannot stop {name}"))?;
        while std::fs::exists(format!("/proc/{process}/exe"))? {
            std::thread::sleep(Duration::from_millis(20));
        }
        println!("    stopped {name}");
    }
    remove()
}

fn remove() -> Result<()> {
    match std::fs::remove_dir_all(dir()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).context("cannot remove the cluster"),
        _ => Ok(()),
    }
}

fn status() -> Result<()> {
    let running = running()?;
    if running.is_empty() {
        bail!("no cluster runs; start one with `cargo xtask cluster up`");
    }
    for (name, process) in running {
        println!("    {name} {process}");
    }
    let kubeconfig = std::fs::read_to_string(dir().join("kubeconfig.path")).context("the cluster did not start")?;
    println!("export KUBECONFIG='{kubeconfig}'");
    println!("export KUBE_CONFIG_PATH='{kubeconfig}'");
    Ok(())
}

/// The processes that are there, and are what they were started as.
fn running() -> Result<Vec<(&'static str, Pid)>> {
    let mut found = Vec::new();
    for name in ["kube-apiserver", "etcd"] {
        let Ok(text) = std::fs::read_to_string(dir().join(format!("{name}.pid"))) else { continue };
        let process: i32 = text.trim().parse().with_context(|| format!("{name}.pid has no process id in it"))?;
        let is_it = std::fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|comm| comm.trim() == name);
        if is_it {
            found.push((name, Pid::from_raw(process)));
        }
    }
    Ok(found)
}
