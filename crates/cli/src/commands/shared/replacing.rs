//! What the user says about rules for the order of replacements: flags, and variables of the environment.

use std::collections::BTreeMap;

use groma_model::address::AbsInstance;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::engine::replacement::{ModeSource, ReplaceOptions};
use groma_run::rules::{Code, Mode, Order};

/// Whether rules are heeded, as `-replace-rules` says it.
const MODE: &str = "GROMA_REPLACE_RULES";
/// Turns automatic application on: our name, and the one that people know from elsewhere.
const AUTOMATIC: [&str; 2] =
    ["GROMA_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE", "PULUMI_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE"];

/// How replacements are ordered.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ReplaceArgs {
    /// What rules about the order of replacements do: off, warn (only say what they recommend) or auto (those that say so are obeyed).
    #[arg(long, value_name = "MODE")]
    pub(crate) replace_rules: Option<String>,

    /// Replace this instance in this order, whatever rules say: ADDRESS=delete_first or ADDRESS=create_first. Can be given several times.
    #[arg(long, value_name = "ADDRESS=ORDER")]
    pub(crate) replace_order: Vec<String>,
}

impl ReplaceArgs {
    /// What the flags and the environment say together.
    pub(crate) fn options(&self, environment: &BTreeMap<String, String>) -> Result<ReplaceOptions, Diagnostics> {
        let mut diagnostics = Diagnostics::new();
        let (mode, mode_source) = diagnostics.take(self.mode(environment)).unwrap_or_default();
        let orders = self.replace_order.iter().filter_map(|text| diagnostics.take(order(text))).collect();
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        Ok(ReplaceOptions { mode, mode_source, orders, in_full: false })
    }

    fn mode(&self, environment: &BTreeMap<String, String>) -> Result<(Mode, ModeSource), Diagnostics> {
        // What is wrong in the environment is said, whether it would count or not.
        let set = |name: &str| environment.get(name).filter(|value| !value.is_empty());
        let by_mode = set(MODE).map(|value| mode(MODE, value)).transpose()?;
        let switches = AUTOMATIC.iter().filter_map(|name| set(name).map(|value| switch(name, value)));
        let switches: Vec<bool> = switches.collect::<Result<_, Diagnostics>>()?;
        if let Some(value) = &self.replace_rules {
            return Ok((mode("-replace-rules", value)?, ModeSource::CommandLine));
        }
        if let Some(mode) = by_mode {
            return Ok((mode, ModeSource::Environment));
        }
        let automatic = switches.first() == Some(&true);
        Ok(if automatic { (Mode::Auto, ModeSource::Environment) } else { Default::default() })
    }

    /// Flags that a saved plan leaves no room for.
    pub(crate) fn given(&self) -> [(&'static str, bool); 2] {
        [("-replace-rules", self.replace_rules.is_none()), ("-replace-order", self.replace_order.is_empty())]
    }
}

fn refused(name: &str, value: &str, expected: &str) -> Diagnostic {
    Code(3001).error("Invalid value", format!("{name} is {value:?}. It must be {expected}."))
}

fn mode(name: &str, value: &str) -> Result<Mode, Diagnostics> {
    match value.to_ascii_lowercase().as_str() {
        "off" => Ok(Mode::Off),
        "warn" => Ok(Mode::Warn),
        "auto" => Ok(Mode::Auto),
        _ => Err(refused(name, value, "\"off\", \"warn\" or \"auto\"").into()),
    }
}

fn switch(name: &str, value: &str) -> Result<bool, Diagnostics> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(refused(name, value, "\"true\" or \"false\", or \"1\" or \"0\"").into()),
    }
}

fn order(text: &str) -> Result<(AbsInstance, Order), Diagnostics> {
    let expected = "an address and an order, as in aws_instance.web=delete_first";
    let Some((address, order)) = text.rsplit_once('=') else {
        return Err(refused("-replace-order", text, expected).into());
    };
    let order = match order {
        "delete_first" => Order::DeleteFirst,
        "create_first" => Order::CreateFirst,
        _ => return Err(refused("The order of -replace-order", order, "\"delete_first\" or \"create_first\"").into()),
    };
    let address = super::operation::instance("replace-order", address).map_err(|found| {
        let told = |problem: Diagnostic| {
            Code(3001).error("Invalid value", format!("-replace-order names {address:?}. {}", problem.detail))
        };
        found.into_iter().map(told).collect::<Diagnostics>()
    })?;
    Ok((address, order))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(flag: Option<&str>, variables: &[(&str, &str)]) -> Result<(Mode, ModeSource), String> {
        let args = ReplaceArgs { replace_rules: flag.map(str::to_owned), replace_order: Vec::new() };
        let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let found = args.options(&environment).map(|options| (options.mode, options.mode_source));
        found.map_err(|found| found.iter().map(|problem| problem.summary.clone()).collect())
    }

    #[test]
    fn the_command_line_is_heard_first_then_the_environment() {
        assert_eq!(options(None, &[]), Ok((Mode::Warn, ModeSource::Default)));
        assert_eq!(options(None, &[(MODE, "off")]), Ok((Mode::Off, ModeSource::Environment)));
        for name in AUTOMATIC {
            assert_eq!(options(None, &[(name, "TRUE")]), Ok((Mode::Auto, ModeSource::Environment)));
            assert_eq!(options(None, &[(name, "0")]), Ok((Mode::Warn, ModeSource::Default)));
            assert_eq!(options(Some("warn"), &[(name, "1")]), Ok((Mode::Warn, ModeSource::CommandLine)));
        }
        assert_eq!(options(Some("auto"), &[(MODE, "off")]), Ok((Mode::Auto, ModeSource::CommandLine)));
        assert_eq!(options(Some("AUTO"), &[(MODE, "off")]), Ok((Mode::Auto, ModeSource::CommandLine)));
        assert_eq!(options(None, &[(MODE, "Off")]), Ok((Mode::Off, ModeSource::Environment)));
    }

    #[test]
    fn other_values_are_refused_and_not_taken_for_off() {
        for found in [options(None, &[(AUTOMATIC[0], "yes")]), options(None, &[(MODE, "on")]), options(Some("no"), &[])]
        {
            assert_eq!(found, Err("Invalid value (GR3001)".to_owned()));
        }
    }
}
