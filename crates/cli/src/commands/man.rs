//! `groma man`: manual pages, made when groma is packed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::Context;
use crate::args;
use crate::failure::Failure;

/// Write the manual pages to a directory.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to.
    dir: PathBuf,
}

pub(super) fn run(_context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Failure::Write { path, source }
    };
    fs::create_dir_all(&args.dir).map_err(failed(&args.dir))?;
    write_pages(&args::command(), "groma", &args.dir).map_err(failed(&args.dir))?;
    Ok(ExitCode::SUCCESS)
}

/// One page per command, `groma-metadata-functions.1` for nested ones.
fn write_pages(command: &clap::Command, name: &str, dir: &Path) -> std::io::Result<()> {
    let owned: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let page = clap_mangen::Man::new(command.clone().name(owned));
    let mut text = Vec::new();
    page.render(&mut text)?;
    fs::write(dir.join(format!("{name}.1")), text)?;
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        write_pages(inner, &format!("{name}-{}", inner.get_name()), dir)?;
    }
    Ok(())
}
