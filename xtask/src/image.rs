//! `cargo xtask image`: container images, as files that every container engine can import, written without one. Equal inputs give
//! equal bytes, so that a digest says what is in it.

mod debian;
mod oci;
mod tree;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::{dist, peers, product, workspace};
use oci::Image;
use tree::Tree;

/// Write the images `groma` and `groma-runner` as OCI layouts (tar files) into `target/dist/images`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pack this static binary instead of building one.
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Only this image. Can be repeated.
    #[arg(long, value_enum)]
    only: Vec<Name>,
    /// Where to write them.
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

/// Which image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Name {
    /// The static binary, and the authorities that it trusts.
    Groma,
    /// And what modules and provisioners start: git, an SSH client, curl, a shell.
    GromaRunner,
}

/// Who runs in our images, unless a pod says otherwise: nobody special.
const USER: u32 = 65_532;
/// A folder that belongs to whoever runs there.
const HOME: &str = "var/groma";
/// The pods of tests run this one.
const POD: &str = "groma.dev/pod:test";

/// Writes the images and prints where they are and what their digests are.
pub(crate) fn run(args: &Args) -> Result<()> {
    let binary = match &args.binary {
        Some(path) => path.clone(),
        None => product::groma()?,
    };
    let dir = match &args.to {
        Some(dir) => dir.clone(),
        None => workspace::target_dir()?.join("dist/images"),
    };
    for name in [Name::Groma, Name::GromaRunner] {
        if args.only.is_empty() || args.only.contains(&name) {
            write(name, &binary, &dir)?;
        }
    }
    Ok(())
}

/// Writes one image of ours and returns where it is.
pub(crate) fn write(name: Name, binary: &Path, dir: &Path) -> Result<PathBuf> {
    let (title, layer) = match name {
        Name::Groma => ("groma", alone(binary)?),
        Name::GromaRunner => ("groma-runner", with_programs(binary)?),
    };
    let image = Image {
        name: format!("groma.dev/{title}:{}", env!("CARGO_PKG_VERSION")),
        entrypoint: "/usr/bin/groma",
        environment: &["PATH=/usr/bin", "HOME=/var/groma"],
        user: Some(USER),
        folder: "/var/groma",
        layer,
    };
    let path = dir.join(format!("{title}.tar"));
    let digest = oci::write(&image, &path)?;
    println!("{} {digest} {}", image.name, path.display());
    Ok(path)
}

/// The image of the pods of tests, beside the program that is in it. It is also what holds the network of a pod.
pub(crate) fn pod() -> Result<PathBuf> {
    let program = peers::find("pod")?;
    let path = path_of_pod()?;
    let mut layer = Tree::default();
    layer.add_file("pod", 0o755, std::fs::read(&program)?);
    let image = Image { name: POD.to_owned(), entrypoint: "/pod", environment: &[], user: None, folder: "/", layer };
    oci::write(&image, &path)?;
    Ok(path)
}

/// Where that image is, once it has been written.
pub(crate) fn path_of_pod() -> Result<PathBuf> {
    Ok(peers::path("pod")?.with_extension("tar"))
}

/// Our binary and the little that it wants of a system.
fn alone(binary: &Path) -> Result<Tree> {
    let content = std::fs::read(binary).with_context(|| format!("cannot read {}", binary.display()))?;
    if !dist::is_static(&content) {
        bail!("{} asks for a dynamic loader, and there is none in the image", binary.display());
    }
    let mut tree = Tree::default();
    tree.add_file("usr/bin/groma", 0o755, content);
    tree.add_folder("tmp", 0o1777, 0);
    tree.add_folder(HOME, 0o755, USER);
    // Programs like ssh refuse to run as somebody who has no name.
    let users = format!("root:x:0:0::/:/bin/sh\ngroma:x:{USER}:{USER}::/{HOME}:/bin/sh\n");
    tree.add_file("etc/passwd", 0o644, users.into_bytes());
    tree.add_file("etc/group", 0o644, format!("root:x:0:\ngroma:x:{USER}:\n").into_bytes());
    // Registries are asked over TLS, and whom to trust is looked up in the system.
    let authorities = debian::certificates(&debian::tree(&["ca-certificates"])?);
    tree.add_file("etc/ssl/certs/ca-certificates.crt", 0o644, authorities);
    Ok(tree)
}

/// Our binary on a small Debian. Sources of modules are fetched with git, which starts ssh; provisioners start a shell, and who writes
/// one expects the usual small programs, which busybox has all in one.
fn with_programs(binary: &Path) -> Result<Tree> {
    let mut tree = debian::tree(&["git", "openssh-client", "curl", "dash", "busybox"])?;
    for program in BUSYBOX.split_whitespace() {
        tree.add_link_unless_there(&format!("usr/bin/{program}"), "busybox");
    }
    // The package has it twice.
    tree.add_link("usr/lib/git-core/git", "../../bin/git");
    tree.add_all(alone(binary)?);
    Ok(tree)
}

/// What busybox is asked for: what scripts use, and nothing that administers a machine.
const BUSYBOX: &str = "awk base64 basename cat chmod chown cmp cp cut date df diff dirname du echo env expr false find fold \
    grep gunzip gzip head hostname id kill ln ls md5sum mkdir mkfifo mktemp mv nc nproc od paste printenv \
    printf ps pwd readlink realpath rm rmdir sed seq sha256sum sleep sort stat tail tar tee test timeout \
    touch tr true uname uniq unzip vi wc which whoami xargs xxd yes zcat";
