//! From what was typed to what is wanted. Flags take one or two dashes, as people know them from Terraform.

#[cfg(test)]
mod flags;
mod quoting;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::commands;
use crate::env_vars::EnvVars;

/// Infrastructure that is not forgotten: reads Terraform configurations, drives Terraform providers.
#[derive(Debug, Parser)]
#[command(name = "groma", version, disable_help_subcommand = true, args_override_self = true, max_term_width = 100)]
pub(crate) struct Invocation {
    /// Switch to another directory before doing anything else.
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,

    /// What the command is called, for logs.
    #[arg(skip)]
    pub(crate) name: String,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(commands::init::Args),
    Plan(commands::plan::Args),
    Apply(commands::apply::Args),
    Destroy(commands::destroy::Args),
    Refresh(commands::refresh::Args),
    Run(commands::run::Args),
    Show(commands::show::Args),
    Explain(commands::explain::Args),
    Rules(commands::rules::Args),
    Graph(commands::graph::Args),
    Output(commands::output::Args),
    State(commands::state::Args),
    Workspace(commands::workspace::Args),
    #[command(hide = true)]
    Env(commands::workspace::Args),
    Import(commands::import::Args),
    Taint(commands::taint::Args),
    Untaint(commands::untaint::Args),
    Doctor(commands::doctor::Args),
    ForceUnlock(commands::force_unlock::Args),
    Test(commands::test::Args),
    Operator(Box<commands::operator::Args>),
    Stack(commands::stack::Args),
    Migrate(commands::migrate::Args),
    Login(commands::login::Args),
    Logout(commands::logout::Args),
    #[command(hide = true)]
    Push(commands::push::Args),
    Get(commands::get::Args),
    Providers(commands::providers::Args),
    Fmt(commands::fmt::Args),
    Validate(commands::validate::Args),
    Console(commands::console::Args),
    Version(commands::version::Args),
    Metadata(commands::metadata::Args),
    Completions(commands::completions::Args),
    #[command(hide = true)]
    Man(commands::man::Args),
}

impl Command {
    /// Whether it works with configurations, states or plans, so that all that the environment says matters.
    pub(crate) fn uses_environment(&self) -> bool {
        !matches!(
            self,
            Self::Version(_)
                | Self::Fmt(_)
                | Self::Metadata(_)
                | Self::Completions(_)
                | Self::Man(_)
                | Self::Push(_)
                | Self::Login(_)
                | Self::Logout(_)
                | Self::Run(_)
                | Self::Operator(_)
                | Self::Stack(_)
        )
    }
}

/// Ends the program before any command runs: help, version, or wrong arguments.
pub(crate) struct Early(clap::Error);

impl Early {
    /// Prints what there is to say. Wrong arguments exit with 1, as in Terraform.
    pub(crate) fn finish(self) -> ExitCode {
        let code = u8::from(self.0.use_stderr());
        // If even that cannot be printed, the exit code has to do.
        let _ = self.0.print();
        ExitCode::from(code)
    }

    #[cfg(test)]
    fn text(&self) -> String {
        self.0.to_string()
    }
}

/// The command line as clap sees it; also for completions and man pages.
pub(crate) fn command() -> clap::Command {
    Invocation::command()
}

/// Reads the arguments, with those that the environment adds.
pub(crate) fn parse(arguments: &[String], environment: &EnvVars) -> Result<Invocation, Early> {
    let typed = as_plugin(arguments);
    let mut all = vec![typed.first().cloned().unwrap_or_else(|| "groma".into())];
    all.extend(with_environment(typed.get(1..).unwrap_or(&[]), environment).map_err(Early)?);
    let all = rewrite_version(all.into_iter().map(two_dashes));
    let matches = switches_take_values(command()).try_get_matches_from(&all).map_err(|error| {
        // Help is shown without the values that switches may take.
        let plain = (error.kind() == clap::error::ErrorKind::DisplayHelp).then(|| command().try_get_matches_from(&all));
        let help = plain.and_then(Result::err).filter(|plain| plain.kind() == error.kind());
        Early(help.unwrap_or(error))
    })?;
    let mut invocation = Invocation::from_arg_matches(&matches).map_err(Early)?;
    if let Command::Run(run) = &invocation.command
        && run.engine == commands::run::Engine::Groma
    {
        // With groma itself, it is as if the command had been typed alone.
        let chdir = invocation.chdir.iter().map(|dir| format!("--chdir={}", dir.display()));
        let alone: Vec<String> =
            all.first().cloned().into_iter().chain(chdir).chain(run.words.iter().cloned()).collect();
        return parse(&alone, environment);
    }
    matches.subcommand_name().unwrap_or_default().clone_into(&mut invocation.name);
    Ok(invocation)
}

/// kubectl starts `kubectl-groma` for `kubectl groma`, and what stands behind it is about Stacks.
fn as_plugin(arguments: &[String]) -> Cow<'_, [String]> {
    let name = arguments.first().and_then(|path| Path::new(path).file_stem()?.to_str());
    if name != Some("kubectl-groma") {
        return arguments.into();
    }
    let words = ["groma", "stack"].map(str::to_owned).into_iter();
    words.chain(arguments.iter().skip(1).cloned()).collect()
}

/// `-json` may be written `-json=true` and `-json=false`, and so may every other switch, in all ways that Go knows.
fn switches_take_values(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let is_switch = matches!(arg.get_action(), clap::ArgAction::SetTrue);
        if !is_switch && arg.get_value_parser().type_id() != clap::builder::ValueParser::bool().type_id() {
            return arg;
        }
        let is_on = arg.get_default_values().iter().any(|default| default == "true");
        let arg = arg.value_parser(commands::go_bool);
        if !is_switch {
            return arg;
        }
        arg.action(clap::ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_value(if is_on { "true" } else { "false" })
            .default_missing_value("true")
    });
    command.mut_subcommands(switches_take_values)
}

/// `-json` is `--json`; `-`, `-h` and negative numbers stay as they are.
fn two_dashes(argument: String) -> String {
    let rest = argument.strip_prefix('-').unwrap_or("");
    let is_long = rest.len() > 1 && rest.starts_with(|first: char| first.is_ascii_alphabetic());
    if is_long { format!("-{argument}") } else { argument }
}

/// `-v` and `-version` are the command `version`.
fn rewrite_version(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut arguments: Vec<String> = arguments.collect();
    if let Some(first) = arguments.get_mut(1)
        && matches!(first.as_str(), "-v" | "--version")
    {
        "version".clone_into(first);
    }
    arguments
}

/// Puts the arguments of `TF_CLI_ARGS` and `TF_CLI_ARGS_command` right behind the command.
fn with_environment(arguments: &[String], environment: &EnvVars) -> Result<Vec<String>, clap::Error> {
    let nothing = environment.cli_args.is_none() && environment.cli_args_of.is_empty();
    let position = arguments.iter().position(|argument| !argument.starts_with('-')).filter(|_| !nothing);
    // They are for the command that is run, and whoever runs it adds them.
    let position = position.filter(|position| arguments[*position] != "run");
    let Some(position) = position else { return Ok(arguments.to_vec()) };
    let (before, after) = arguments.split_at(position + command_words(&arguments[position..]));
    // `state replace-provider` is named `state_replace_provider` here.
    let own_name = before[position..].join("_").replace('-', "_");
    let mut all = before.to_vec();
    all.extend(
        added(&own_name, environment)
            .map_err(|problem| clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{problem}\n")))?,
    );
    all.extend_from_slice(after);
    Ok(all)
}

/// The arguments that the environment adds to a command.
pub(crate) fn added(command: &str, environment: &EnvVars) -> Result<Vec<String>, String> {
    let words = |name: &str, text: Option<&String>| match text {
        None => Ok(Vec::new()),
        Some(text) => quoting::split(text).map_err(|problem| format!("{name} cannot be read: {problem}")),
    };
    let mut all = words("TF_CLI_ARGS", environment.cli_args.as_ref())?;
    all.extend(words(&format!("TF_CLI_ARGS_{command}"), environment.cli_args_of.get(command))?);
    Ok(all)
}

/// How many of the arguments name the command: `state list` has two words.
fn command_words(arguments: &[String]) -> usize {
    let mut command = command();
    let mut count = 0;
    while let Some(below) = arguments.get(count).and_then(|word| command.find_subcommand(word)) {
        command = below.clone();
        count += 1;
    }
    // What nobody knows is told later, with all that was typed.
    count.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_dash_is_as_good_as_two() {
        assert_eq!(two_dashes("-json".into()), "--json");
        assert_eq!(two_dashes("--json".into()), "--json");
        assert_eq!(two_dashes("-".into()), "-");
        assert_eq!(two_dashes("-1".into()), "-1");
        assert_eq!(two_dashes("-h".into()), "-h");
    }

    #[test]
    fn the_environment_adds_arguments_behind_the_command() {
        let mut environment = EnvVars { cli_args: Some("-no-color".into()), ..EnvVars::default() };
        environment.cli_args_of.insert("fmt".into(), "-check 'a b'".into());
        let given = ["-chdir=x".to_owned(), "fmt".to_owned(), "y".to_owned()];
        let all = with_environment(&given, &environment).unwrap();
        assert_eq!(all, ["-chdir=x", "fmt", "-no-color", "-check", "a b", "y"]);
    }

    #[test]
    fn commands_below_commands_get_their_arguments_too() {
        let mut environment = EnvVars { cli_args: Some("-no-color".into()), ..EnvVars::default() };
        environment.cli_args_of.insert("state".into(), "-never".into());
        environment.cli_args_of.insert("state_replace_provider".into(), "-auto-approve".into());
        let given = ["state", "replace-provider", "a", "b"].map(str::to_owned);
        let all = with_environment(&given, &environment).unwrap();
        assert_eq!(all, ["state", "replace-provider", "-no-color", "-auto-approve", "a", "b"]);
        let unknown = ["nope".to_owned(), "list".to_owned()];
        assert_eq!(with_environment(&unknown, &environment).unwrap(), ["nope", "-no-color", "list"]);
    }

    #[test]
    fn what_is_run_gets_its_own_arguments() {
        let mut environment = EnvVars { cli_args: Some("-no-color".into()), ..EnvVars::default() };
        environment.cli_args_of.insert("plan".into(), "-out=x".into());
        let typed = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let Ok(found) = parse(&typed(&["groma", "run", "plan", "-json"]), &environment) else { panic!("not taken") };
        assert!(matches!(found.command, Command::Plan(_)) && found.name == "plan");
        let line = typed(&["groma", "-chdir=d", "run", "-engine=tofu", "apply", "-var", "a=-b", "-json"]);
        let Ok(found) = parse(&line, &environment) else { panic!("not taken") };
        let Command::Run(run) = found.command else { panic!("{:?}", found.command) };
        assert_eq!(run.words, ["apply", "--var", "a=-b", "--json"]);
        for wrong in [&["groma", "run", "-engine=pulumi", "plan"][..], &["groma", "run"], &["groma", "run", "nope"]] {
            assert!(parse(&typed(wrong), &environment).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn as_a_plugin_of_kubectl_everything_is_about_stacks() {
        let typed = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for program in ["kubectl-groma", "/usr/local/bin/kubectl-groma"] {
            let Ok(found) = parse(&typed(&[program, "get", "-A"]), &EnvVars::default()) else { panic!("not taken") };
            assert!(matches!(found.command, Command::Stack(_)), "{program}");
        }
        let Ok(found) = parse(&typed(&["/usr/bin/groma", "get"]), &EnvVars::default()) else { panic!("not taken") };
        assert!(matches!(found.command, Command::Get(_)));
    }

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }
}
