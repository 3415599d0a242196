//! Values for the variables of the root module.

use clap::ArgMatches;
use groma_run::inputs::GivenVariable;

/// `-var` and `-var-file`, in the order in which they were given.
#[derive(Debug, Clone, Default)]
pub(crate) struct VariableArgs(pub(crate) Vec<GivenVariable>);

impl clap::FromArgMatches for VariableArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Self::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let given = |name: &str| {
            let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
            matches.indices_of(name).into_iter().flatten().zip(values).collect::<Vec<_>>()
        };
        let values = given("var").into_iter().map(|(at, text)| (at, GivenVariable::Value(text)));
        let files = given("var_file").into_iter().map(|(at, path)| (at, GivenVariable::File(path)));
        let mut found: Vec<(usize, GivenVariable)> = values.chain(files).collect();
        found.sort_by_key(|(at, _)| *at);
        self.0 = found.into_iter().map(|(_, given)| given).collect();
        Ok(())
    }
}

impl clap::Args for VariableArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        let many = |name, long, value, help| {
            clap::Arg::new(name).long(long).value_name(value).action(clap::ArgAction::Append).help(help)
        };
        command.arg(many("var", "var", "NAME=VALUE", "Set a value for one of the root module's variables")).arg(many(
            "var_file",
            "var-file",
            "FILE",
            "Read values of variables from a file",
        ))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}
