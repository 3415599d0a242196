//! `groma fmt`: brings configuration files into the one canonical form.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use groma_model::span::SourceMap;
use similar::TextDiff;

use super::Context;
use super::shared::ViewArgs;
use crate::failure::Failure;
use crate::ui::Ui;

/// Rewrite configuration files to the canonical format.
///
/// Without a target, the files of the current directory are rewritten. The target `-` reads standard input and writes the result to
/// standard output.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files or directories; `-` is standard input.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,

    /// List the files whose format differs.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true")]
    list: bool,

    /// Write the files.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true")]
    write: bool,

    /// Show what changes.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true")]
    diff: bool,

    /// Only check: exit with 3 if a file is not formatted. Writes nothing.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true")]
    check: bool,

    /// Look into subdirectories as well.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true")]
    recursive: bool,

    #[command(flatten)]
    view: ViewArgs,
}

/// A file could not be read as a configuration.
const EXIT_INVALID: u8 = 2;
/// `-check` found something to do.
const EXIT_UNFORMATTED: u8 = 3;

/// Endings of the files that are formatted. JSON has no canonical form here.
const EXTENSIONS: [&str; 6] = [".tf", ".tofu", ".tfvars", ".tftest.hcl", ".tofutest.hcl", ".groma.hcl"];

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, args.view.no_color);
    let from_stdin = args.targets.iter().any(|target| target == "-");
    if from_stdin && args.targets.len() > 1 {
        return Err(Failure::Usage("\"-\" cannot be combined with other targets".into()));
    }
    let mut formatter = Formatter {
        ui: &ui,
        base: &context.working_dir,
        write: args.write && !args.check && !from_stdin,
        list: args.list && !from_stdin,
        args: &args,
        changed: false,
        failed: false,
    };
    if from_stdin {
        formatter.stdin()?;
    } else {
        let targets = if args.targets.is_empty() { vec![".".to_owned()] } else { args.targets.clone() };
        for target in targets {
            formatter.target(Path::new(&target))?;
        }
    }
    Ok(match (formatter.failed, args.check && formatter.changed) {
        (true, _) => ExitCode::from(EXIT_INVALID),
        (false, true) => ExitCode::from(EXIT_UNFORMATTED),
        (false, false) => ExitCode::SUCCESS,
    })
}

struct Formatter<'a> {
    ui: &'a Ui,
    /// What relative paths are relative to.
    base: &'a Path,
    args: &'a Args,
    write: bool,
    list: bool,
    changed: bool,
    failed: bool,
}

impl Formatter<'_> {
    fn stdin(&mut self) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(Failure::Terminal)?;
        let Some((before, after)) = self.format("<stdin>", bytes) else { return Ok(()) };
        self.changed |= before != after;
        if self.args.diff {
            self.show_diff("<stdin>", &before, &after)?;
        } else if !self.args.check {
            self.ui.out(&after)?;
        }
        Ok(())
    }

    fn target(&mut self, path: &Path) -> Result<(), Failure> {
        let Ok(metadata) = fs::metadata(self.base.join(path)) else {
            return Err(Failure::Usage(format!("No file or directory at {}", path.display())));
        };
        if metadata.is_dir() {
            return self.directory(path);
        }
        if !is_formatted(path) {
            let message = format!(
                "Only .tf, .tofu, .tfvars, .tftest.hcl, .tofutest.hcl and .groma.hcl files can be processed with groma fmt, not {}",
                path.display()
            );
            return Err(Failure::Usage(message));
        }
        self.file(path)
    }

    fn directory(&mut self, dir: &Path) -> Result<(), Failure> {
        let failed = |source| Failure::Read { path: dir.to_owned(), source };
        let mut entries: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(self.base.join(dir)).map_err(failed)? {
            entries.push(entry.map_err(failed)?.path());
        }
        entries.sort();
        for path in entries {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if is_ignored(&name) {
                continue;
            }
            let shown = if dir == Path::new(".") { PathBuf::from(&name) } else { dir.join(&name) };
            if path.is_dir() {
                if self.args.recursive {
                    self.directory(&shown)?;
                }
            } else if is_formatted(&path) {
                self.file(&shown)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), Failure> {
        let real = self.base.join(path);
        let bytes = fs::read(&real).map_err(|source| Failure::Read { path: path.to_owned(), source })?;
        let shown = path.to_string_lossy();
        let Some((before, after)) = self.format(&shown, bytes) else { return Ok(()) };
        if before == after {
            return Ok(());
        }
        self.changed = true;
        if self.list {
            self.ui.line(&shown)?;
        }
        if self.write {
            fs::write(&real, &after).map_err(|source| Failure::Write { path: path.to_owned(), source })?;
        }
        if self.args.diff {
            self.show_diff(&shown, &before, &after)?;
        }
        Ok(())
    }

    /// The text before and after; none if it is not a configuration.
    fn format(&mut self, name: &str, bytes: Vec<u8>) -> Option<(String, String)> {
        let before = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                self.failed = true;
                let failure = Failure::Read { path: name.into(), source: io::Error::other(error) };
                self.ui.failure(&failure);
                return None;
            }
        };
        let mut sources = SourceMap::new();
        let file = sources.add(name, before.as_str());
        match groma_syntax::fmt::format_file(&sources, file) {
            Ok(after) => Some((before, after)),
            Err(diagnostics) => {
                self.failed = true;
                self.ui.diagnostics(&diagnostics, &sources);
                None
            }
        }
    }

    fn show_diff(&self, name: &str, before: &str, after: &str) -> Result<(), Failure> {
        let diff = TextDiff::from_lines(before, after);
        let text = diff.unified_diff().header(&format!("old/{name}"), &format!("new/{name}")).to_string();
        self.ui.out(&text)
    }
}

fn is_formatted(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    EXTENSIONS.iter().any(|extension| name.ends_with(extension))
}

/// Hidden files, editors' backups, and what editors hold open.
fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}
