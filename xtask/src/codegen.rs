//! `cargo xtask codegen`: the wire code of `groma-provider`, made from its `.proto` files by `tools/protogen` and committed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::{process, workspace};

const PROTOS: &str = "crates/provider/proto";
const GENERATED: &str = "crates/provider/src/wire/generated";

/// Make the generated code anew.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; fail if what is committed is not what would be made.
    #[arg(long)]
    check: bool,
}

/// Makes or checks the generated code.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.check { check() } else { generate(&workspace::root().join(GENERATED)) }
}

/// Fails if what is committed is not what would be made.
pub(crate) fn check() -> Result<()> {
    let fresh = workspace::target_dir()?.join("codegen");
    if fresh.exists() {
        fs::remove_dir_all(&fresh)?;
    }
    generate(&fresh)?;
    for file in files_in(&fresh)?.into_iter().chain(files_in(&workspace::root().join(GENERATED))?) {
        let made = fs::read(fresh.join(&file)).ok();
        let committed = fs::read(workspace::root().join(GENERATED).join(&file)).ok();
        if made != committed {
            bail!("{GENERATED}/{} is not what the .proto files give: run `cargo xtask codegen`", file.display());
        }
    }
    Ok(())
}

/// `tools/protogen` is a workspace of its own, so that its many dependencies are not everybody's.
fn generate(out: &Path) -> Result<()> {
    let root = workspace::root();
    let mut protogen = workspace::cargo();
    protogen.args(["run", "--quiet", "--locked", "--manifest-path"]).arg(root.join("tools/protogen/Cargo.toml"));
    protogen.arg("--target-dir").arg(workspace::target_dir()?.join("protogen"));
    protogen.arg("--").arg(root.join(PROTOS)).arg(out);
    process::run(&mut protogen)
}

fn files_in(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| format!("reading {}", dir.display()))?;
    entries.map(|entry| Ok(PathBuf::from(entry?.file_name()))).collect()
}
