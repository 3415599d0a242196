//! A small system from Debian's packages. They are downloaded and checked by apt as always, but unpacked here, without running
//! any script of theirs: nobody has to be root, and the machine that builds the image stays as it is.

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use tar::EntryType;

use super::tree::Tree;
use crate::{process, workspace};

/// Packages that are named as dependencies, and without which the programs run: git wants perl for commands that few people use, and
/// the rest is for scripts that run at installation.
const NOT_WANTED: &[&str] = &["adduser", "debconf", "dpkg", "liberror-perl", "openssl", "passwd", "perl"];

/// What no program reads that runs in a container, and the servers and curiosities of git. These are beginnings of paths.
const LEFT_OUT: &[&str] = &[
    "etc/bash_completion.d/",
    "usr/bin/git-shell",
    "usr/bin/scalar",
    "usr/lib/git-core/git-daemon",
    "usr/lib/git-core/git-http-backend",
    "usr/lib/git-core/git-http-fetch",
    "usr/lib/git-core/git-http-push",
    "usr/lib/git-core/git-imap-send",
    "usr/lib/git-core/git-shell",
    "usr/lib/git-core/scalar",
    "usr/share/bash-completion/",
    "usr/share/bug/",
    "usr/share/doc-base/",
    "usr/share/gitweb/",
    "usr/share/info/",
    "usr/share/initramfs-tools/",
    "usr/share/lintian/",
    "usr/share/locale/",
    "usr/share/man/",
    "usr/share/menu/",
    "usr/share/perl5/",
    "usr/share/zsh/",
    "var/",
];

/// Folders that moved below `usr` long ago, while packages go on naming them. Debian's installer makes links of them.
const MOVED: &[&str] = &["bin", "lib", "lib64", "sbin"];

/// The files of some packages and of everything that they need.
pub(super) fn tree(packages: &[&str]) -> Result<Tree> {
    let mut tree = Tree::default();
    for package in download(packages)? {
        unpack(&package, &mut tree).with_context(|| format!("cannot unpack {}", package.display()))?;
    }
    for folder in MOVED {
        tree.add_link(folder, &format!("usr/{folder}"));
    }
    Ok(tree)
}

/// All authorities in one file, which is how programs want them; usually a script of the package writes it.
pub(super) fn certificates(tree: &Tree) -> Vec<u8> {
    let mut all = Vec::new();
    for certificate in tree.files_below("usr/share/ca-certificates/") {
        all.extend_from_slice(certificate.trim_ascii_end());
        all.push(b'\n');
    }
    all
}

/// The packages and what they need, in the order of their names. What is there already is not fetched again.
fn download(packages: &[&str]) -> Result<Vec<PathBuf>> {
    let dir = workspace::target_dir()?.join("image-packages");
    let (kept, nothing) = (dir.join("kept"), dir.join("nothing"));
    for archives in [&kept, &nothing] {
        std::fs::create_dir_all(archives.join("partial"))
            .with_context(|| format!("cannot create {}", dir.display()))?;
    }
    let status = dir.join("status");
    std::fs::write(&status, pretended())?;
    // What has been fetched is not named, so it looks where nothing is.
    let listed = process::capture(apt(&nothing, &status).args(["--print-uris", "install"]).args(packages))
        .context("Debian's packages are needed for this; `apt-get update` may help")?;
    // A line is `'address' name size digest`.
    let names = listed.lines().filter_map(|line| line.split_whitespace().nth(1));
    let mut found: Vec<PathBuf> = names.map(|name| kept.join(name)).collect();
    found.sort();
    process::capture(apt(&kept, &status).args(["--download-only", "install"]).args(packages))?;
    Ok(found)
}

/// A system on which nothing is installed but what is not wanted.
fn pretended() -> String {
    let mut status = String::new();
    for package in NOT_WANTED {
        let _ = writeln!(
            status,
            "Package: {package}\nStatus: install ok installed\nArchitecture: all\nVersion: 9999\n\
             Maintainer: nobody\nDescription: not wanted\n"
        );
    }
    status
}

/// apt, with the packages that this machine knows of, but neither with what is installed on it nor with its locks.
fn apt(archives: &Path, status: &Path) -> Command {
    let mut command = Command::new("apt-get");
    command.args(["--quiet=2", "--yes"]);
    let options = [
        format!("Dir::State::status={}", status.display()),
        format!("Dir::Cache::archives={}", archives.display()),
        "Dir::Cache::pkgcache=".to_owned(),
        "Dir::Cache::srcpkgcache=".to_owned(),
        "Debug::NoLocking=true".to_owned(),
        "APT::Sandbox::User=root".to_owned(),
        "APT::Install-Recommends=false".to_owned(),
        // Otherwise a whole system comes along.
        "pkgCacheGen::ForceEssential=none".to_owned(),
    ];
    for option in options {
        command.args(["-o", &option]);
    }
    command
}

/// Adds the files of a package.
fn unpack(package: &Path, tree: &mut Tree) -> Result<()> {
    let output =
        Command::new("dpkg-deb").arg("--fsys-tarfile").arg(package).output().context("cannot start dpkg-deb")?;
    if !output.status.success() {
        bail!("dpkg-deb ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    read(output.stdout.as_slice(), tree)
}

fn read(archive: impl Read, tree: &mut Tree) -> Result<()> {
    for entry in tar::Archive::new(archive).entries()? {
        let mut entry = entry?;
        let path = settled(&entry.path()?.to_string_lossy());
        if path.is_empty() || is_left_out(&path) {
            continue;
        }
        // Nobody becomes somebody else in there.
        let mode = entry.header().mode()? & 0o777;
        let target = entry.link_name()?.map(|target| target.to_string_lossy().into_owned()).unwrap_or_default();
        match entry.header().entry_type() {
            // Those that are needed come with what is in them.
            EntryType::Directory => {}
            EntryType::Symlink => tree.add_link(&path, &target),
            // Two names of one file; here one of them leads to the other.
            EntryType::Link => tree.add_link(&path, &format!("/{}", settled(&target))),
            EntryType::Regular => {
                let mut content = Vec::new();
                entry.read_to_end(&mut content)?;
                tree.add_file(&path, mode, content);
            }
            other => bail!("{path} is neither file nor folder nor link: {other:?}"),
        }
    }
    Ok(())
}

/// Whether nobody misses a file. Licences are not asked for either, but they belong to what they are about.
fn is_left_out(path: &str) -> bool {
    let is_documentation = path.starts_with("usr/share/doc/") && !path.ends_with("/copyright");
    // Old ways of writing letters, and eight megabytes.
    let is_conversion = path.contains("/gconv/");
    is_documentation || is_conversion || LEFT_OUT.iter().any(|beginning| path.starts_with(beginning))
}

/// A path as it is in the image.
fn settled(path: &str) -> String {
    let path = path.trim_start_matches("./").trim_matches('/');
    let first = path.split('/').next().unwrap_or_default();
    if MOVED.contains(&first) { format!("usr/{path}") } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_read_without_what_nobody_reads() {
        let mut package = Tree::default();
        package.add_file("bin/dash", 0o4755, b"shell".to_vec());
        package.add_link("bin/sh", "dash");
        package.add_file("usr/share/man/man1/dash.1.gz", 0o644, b"words".to_vec());
        package.add_file("usr/share/doc/dash/changelog.gz", 0o644, b"words".to_vec());
        package.add_file("usr/share/doc/dash/copyright", 0o644, b"licence".to_vec());
        let mut packed = Vec::new();
        package.write(&mut packed).unwrap();
        let mut tree = Tree::default();
        read(packed.as_slice(), &mut tree).unwrap();
        assert_eq!(tree.file("usr/bin/dash"), Some(&b"shell"[..]));
        assert_eq!(tree.files_below("usr/share/").collect::<Vec<_>>(), [b"licence"]);
    }

    #[test]
    fn authorities_are_joined_in_order_with_a_line_each() {
        let mut tree = Tree::default();
        tree.add_file("usr/share/ca-certificates/mozilla/b.crt", 0o644, b"B\n\n".to_vec());
        tree.add_file("usr/share/ca-certificates/mozilla/a.crt", 0o644, b"A".to_vec());
        assert_eq!(certificates(&tree), b"A\nB\n");
    }

    #[test]
    fn folders_that_moved_are_found_in_their_new_place() {
        assert_eq!(settled("./lib/x86_64-linux-gnu/libc.so.6"), "usr/lib/x86_64-linux-gnu/libc.so.6");
        assert_eq!(settled("./usr/bin/git"), "usr/bin/git");
        assert_eq!(settled("./library/x"), "library/x");
    }
}
