//! `cargo xtask cluster`: a Kubernetes cluster of one's own, to try things with. Tests start theirs themselves, with the same code.

#[path = "../../crates/testkit/src/servers/kube.rs"]
#[expect(dead_code, reason = "tests use more of it")]
#[allow(
    clippy::panic,
    unreachable_pub,
    reason = "it belongs to another crate, and is compiled here so that this one stays small"
)]
mod kube;
mod running;
mod serving;

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::ladder::seconds;
use crate::{image, peers, process, workspace};
use kube::{Extent, KubeServer, Lifetime, Options, Programs};
use running::Running;
pub(crate) use serving::{ApiServer, api_server};

/// Start, stop or look at a cluster: etcd and kube-apiserver, and with `--node` everything that it takes to run pods.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Start it, and say how to reach it.
    Up(Up),
    /// Stop it, and remove everything of it.
    Down,
    /// Say what runs, how to reach it, and what the node says.
    Status,
    /// Give the node images, as `cargo xtask image` writes them. Pods name them with `imagePullPolicy: Never`.
    Load {
        /// OCI layouts, as tar files.
        #[arg(required = true)]
        images: Vec<PathBuf>,
    },
}

#[derive(clap::Args)]
struct Up {
    /// With the controller manager and the scheduler: a Deployment gets its pods, and they wait for a node.
    #[arg(long)]
    controllers: bool,
    /// With a node on which pods run. Needs root, and installs Debian's packages for containers if they are missing.
    #[arg(long)]
    node: bool,
}

/// Does what was asked.
pub(crate) fn run(args: &Args) -> Result<()> {
    match &args.action {
        Action::Up(up) => start(up)?.show(),
        Action::Down => stop()?,
        Action::Status => existing()?.show(),
        Action::Load { images } => {
            let running = existing()?;
            for image in images {
                running.load(image)?;
                println!("    loaded {}", image.display());
            }
        }
    }
    Ok(())
}

fn existing() -> Result<Running> {
    running::find(&dir())?.context("no cluster runs; start one with `cargo xtask cluster up`")
}

/// Environment variables for tests that start clusters with nodes: the programs, and the image of their pods.
pub(crate) fn environment() -> Result<Vec<(&'static str, PathBuf)>> {
    install()?;
    peers::environment(peers::Group::Cluster)
}

fn dir() -> PathBuf {
    workspace::root().join("target/cluster")
}

fn start(up: &Up) -> Result<Running> {
    if let Some(running) = running::find(&dir())? {
        if running.is_whole() {
            println!("    it runs already");
            return Ok(running);
        }
        running.stop(&dir())?;
    }
    running::remove(&dir())?;
    let extent = match up {
        Up { node: true, .. } => Extent::Node,
        Up { controllers: true, .. } => Extent::Controllers,
        Up { .. } => Extent::Api,
    };
    if extent == Extent::Node {
        install()?;
    }
    let programs = Programs::find(extent, |name| match name {
        "pod-image" => image::pod(),
        name => peers::find(name),
    })?;
    let began = Instant::now();
    std::fs::create_dir_all(dir()).context("cannot create the folder of the cluster")?;
    let options = Options { extent, lifetime: Lifetime::Own, identities: Vec::new() };
    let server = KubeServer::start(&dir(), &programs, &options).context("cannot start the cluster")?;
    println!("    ready after {}", seconds(began.elapsed()));
    let running = Running::new(server.reach());
    running.save(&dir())?;
    Ok(running)
}

fn stop() -> Result<()> {
    let began = Instant::now();
    if let Some(running) = running::find(&dir())? {
        running.stop(&dir())?;
    }
    running::remove(&dir())?;
    println!("    gone after {}", seconds(began.elapsed()));
    Ok(())
}

/// Installs what a node needs of Debian's packages.
fn install() -> Result<()> {
    let mut missing = kube::missing_packages();
    // The page of the manual is run as people would.
    missing.extend(process::find_on_path("kubectl").is_none().then_some("kubernetes-client"));
    if missing.is_empty() {
        return Ok(());
    }
    let packages = missing.join(" ");
    if !kube::is_root() || process::find_on_path("apt-get").is_none() {
        bail!("a node needs these of Debian's packages: {packages}; as root on Debian they would be installed now");
    }
    let apt = |arguments: &[&str]| {
        let mut apt = Command::new("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive").args(["--yes", "--quiet=2", "--no-install-recommends"]);
        process::run(apt.args(arguments))
    };
    let install = || apt(&[&["install"], missing.as_slice()].concat());
    // A fresh machine does not know of any package, and an old one of the wrong versions.
    install().or_else(|_| apt(&["update"]).and_then(|()| install()))
}
