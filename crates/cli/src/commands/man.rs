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

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let dir = context.working_dir.join(args.dir);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Failure::Write { path, source }
    };
    fs::create_dir_all(&dir).map_err(failed(&dir))?;
    write_pages(&args::command(), "groma", &dir).map_err(failed(&dir))?;
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
