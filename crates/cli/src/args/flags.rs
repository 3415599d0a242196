//! The list of all commands and flags that people know, held against the command line as it is: nothing is missing, and what is
//! more is named here as ours.

use std::collections::BTreeSet;

use super::{command, parse, switches_take_values, two_dashes};
use crate::env_vars::EnvVars;

/// Groups of flags, by letter. `=` takes a value; `?` is a switch that may be given one.
fn group(letter: char) -> &'static str {
    match letter {
        'V' => "no-color? compact-warnings? consolidate-warnings? consolidate-errors? concise? deprecation=module:all",
        'J' => "json? json-into=out.json",
        'I' => "input?",
        'S' => "show-sensitive?",
        'O' => {
            "parallelism=3 refresh? destroy? refresh-only? target=a.b target-file=f exclude=a.b exclude-file=f replace=a.b"
        }
        'R' => "var=a=b var-file=f",
        'L' => "lock? lock-timeout=5s",
        'P' => "state=f state-out=f backup=f",
        'B' => "ignore-remote-version?",
        _ => unreachable!("{letter} is no group"),
    }
}

struct Listed {
    /// The command with arguments that it needs.
    command: &'static str,
    groups: &'static str,
    /// Flags of its own.
    own: &'static str,
    /// Flags that only groma has.
    ours: &'static str,
}

const fn listed(command: &'static str, groups: &'static str, own: &'static str, ours: &'static str) -> Listed {
    Listed { command, groups, own, ours }
}

/// As specified, row by row. Every command has the flags of V.
const LIST: [Listed; 47] = [
    listed(
        "apply",
        "ORLPJIS",
        "auto-approve? suppress-forget-errors?",
        "replace-rules=warn replace-order=a.b=delete_first",
    ),
    listed(
        "destroy",
        "ORLPJIS",
        "auto-approve? suppress-forget-errors?",
        "replace-rules=warn replace-order=a.b=delete_first",
    ),
    listed(
        "plan",
        "ORLPJIS",
        "detailed-exitcode? out=f generate-config-out=f",
        "replace-rules=warn replace-order=a.b=delete_first",
    ),
    listed("refresh", "ORLPJIS", "", "replace-rules=warn replace-order=a.b=delete_first"),
    listed(
        "init",
        "RLJIB",
        "backend? cloud? backend-config=f force-copy? reconfigure? migrate-state? from-module=m get? upgrade? plugin-dir=d \
         lockfile=readonly test-directory=d",
        "builtin?",
    ),
    listed("validate", "RJ", "no-tests? test-directory=d", ""),
    listed("fmt", "", "list? write? diff? check? recursive?", ""),
    listed("get", "RJ", "update? test-directory=d", ""),
    listed("graph", "R", "type=plan plan=f draw-cycles? module-depth=1 verbose?", "format=dot"),
    listed("output", "RJS", "raw? state=f", ""),
    listed("show", "RJS", "state? plan=f config? module=d", ""),
    listed("import a.b id", "RLPBI", "config=d parallelism=3", "json? json-into=f"),
    listed("console", "RL", "state=f", ""),
    listed("test", "RJ", "filter=f test-directory=d verbose?", "junit-xml=f"),
    listed("taint a.b", "RLPB", "allow-missing?", "json? json-into=f"),
    listed("untaint a.b", "RLPB", "allow-missing?", "json? json-into=f"),
    listed("force-unlock id", "R", "force?", "json? json-into=f"),
    listed("providers", "R", "test-directory=d", ""),
    listed("providers lock", "R", "platform=p fs-mirror=d net-mirror=u oci-mirror=t", "json? json-into=f"),
    listed("providers mirror d", "R", "platform=p", "json? json-into=f"),
    listed("providers schema", "R", "json?", ""),
    listed("state list", "R", "id=i state=f", "json? json-into=f"),
    listed("state show a.b", "RS", "state=f", "json? json-into=f"),
    listed("state mv a.b a.c", "RLPB", "dry-run? backup-out=f", "json? json-into=f"),
    listed("state rm a.b", "RLPB", "dry-run?", "json? json-into=f"),
    listed("state replace-provider a b", "RLPB", "auto-approve?", "json? json-into=f"),
    listed("state pull", "R", "", ""),
    listed("state push f", "RLB", "force?", "json? json-into=f"),
    listed("state diff 1", "R", "", "json? json-into=f"),
    listed("state history", "R", "", "json? json-into=f"),
    listed("state restore 1", "RLB", "", "json? json-into=f"),
    listed("doctor", "R", "", "repair? accept-state? not-created=a.b json? json-into=f"),
    listed("workspace list", "R", "", "json? json-into=f"),
    listed("workspace show", "R", "", ""),
    listed("workspace new w", "RL", "state=f", "json? json-into=f"),
    listed("workspace select w", "R", "or-create?", "json? json-into=f"),
    listed("workspace delete w", "RL", "force?", "json? json-into=f"),
    listed("env list", "R", "", "json? json-into=f"),
    listed("login h", "", "", "var=a=b var-file=f input? json? json-into=f"),
    listed("logout h", "", "", "json? json-into=f"),
    listed("metadata functions", "", "json?", ""),
    listed("version", "", "json?", ""),
    listed("rules list", "R", "", "type=t json?"),
    listed("rules lint", "R", "", "strict?"),
    listed("rules docs", "R", "", "format=json type=t with-schema?"),
    listed("rules test f", "R", "", "json? with-schema?"),
    listed("explain a.b", "ORLPI", "json?", "replace-rules=warn replace-order=a.b=delete_first"),
];

/// Commands that nobody else has, and one that nobody has any more.
const OTHERS: [&str; 7] = ["completions", "man", "migrate", "operator", "push", "run", "stack"];
/// Commands whose parts are not all in the list: an old name of another one, and those that nobody else has.
const UNLISTED: [&str; 4] = ["env", "migrate", "operator", "stack"];

impl Listed {
    fn flags(&self) -> Vec<&'static str> {
        let grouped = self.groups.chars().chain(['V']).flat_map(|letter| group(letter).split_whitespace());
        grouped.chain(self.own.split_whitespace()).collect()
    }

    /// Flags that only groma has. Whoever locks a state can be told that somebody else looks after it.
    fn ours(&self) -> impl Iterator<Item = &'static str> {
        let locks = self.groups.contains('L').then_some("i-know?");
        self.ours.split_whitespace().chain(locks)
    }

    fn words(&self) -> Vec<&'static str> {
        self.command.split_whitespace().collect()
    }

    /// The command in the tree of all commands.
    fn find(&self, root: &clap::Command) -> clap::Command {
        let mut found = root.clone();
        for word in self.words() {
            let Some(next) = found.find_subcommand(word) else { break };
            found = next.clone();
        }
        assert_ne!(found.get_name(), "groma", "{} is missing", self.command);
        found
    }
}

fn name(flag: &str) -> &str {
    flag.split(['=', '?']).next().unwrap_or(flag)
}

/// Ways to write a flag.
fn forms(flag: &str) -> Vec<Vec<String>> {
    match flag.split_once('=') {
        Some((name, value)) => vec![
            vec![format!("-{name}={value}")],
            vec![format!("--{name}={value}")],
            vec![format!("-{name}"), value.to_owned()],
        ],
        None => ["", "=true", "=false", "=1", "=0"].map(|value| vec![format!("-{}{value}", name(flag))]).to_vec(),
    }
}

#[test]
fn every_flag_is_taken_in_every_form() {
    let mut refused = Vec::new();
    let mut root = switches_take_values(command());
    for row in &LIST {
        for form in row.flags().into_iter().flat_map(forms) {
            let words = row.words().into_iter().map(str::to_owned);
            let line: Vec<String> = ["groma".to_owned()].into_iter().chain(words).chain(form).collect();
            let read = root.try_get_matches_from_mut(line.iter().cloned().map(two_dashes));
            refused.extend(read.err().map(|problem| format!("{}: {problem}", line.join(" "))));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn there_are_no_other_flags() {
    let root = command();
    for row in &LIST {
        let known: BTreeSet<&str> = row.flags().into_iter().chain(row.ours()).map(name).collect();
        let found = row.find(&root);
        let there: BTreeSet<&str> = found.get_arguments().filter_map(clap::Arg::get_long).collect();
        let more: Vec<_> = there.difference(&known).filter(|name| **name != "help").collect();
        assert!(more.is_empty(), "{} takes {more:?}, which the list does not have", row.command);
    }
}

#[test]
fn there_are_no_other_commands() {
    let listed: BTreeSet<String> = LIST.iter().map(|row| row.words()[0].to_owned()).collect();
    for found in command().get_subcommands() {
        let name = found.get_name();
        assert!(listed.contains(name) || OTHERS.contains(&name), "{name} is not in the list");
        let parts: BTreeSet<&str> = found.get_subcommands().map(clap::Command::get_name).collect();
        let known: BTreeSet<&str> =
            LIST.iter().filter(|row| row.words()[0] == name).filter_map(|row| row.words().get(1).copied()).collect();
        if !UNLISTED.contains(&name) {
            assert!(parts.is_subset(&known), "{name}: {parts:?}, of which {known:?} are in the list");
        }
    }
}

#[test]
fn the_last_of_several_values_counts() {
    let line = ["groma", "plan", "-lock=false", "-lock", "-json", "-json=false", "-out=a", "-out=b"].map(str::to_owned);
    assert!(parse(&line, &EnvVars::default()).is_ok());
}

#[test]
fn what_is_not_known_is_refused_by_name() {
    for wrong in ["-nonsense", "-lock=maybe", "-parallelism=x", "-lock-timeout=5", "-deprecation=all"] {
        let line = ["groma", "plan", wrong].map(str::to_owned);
        let Err(early) = parse(&line, &EnvVars::default()) else { panic!("{wrong} was taken") };
        let text = early.text();
        assert!(text.contains(name(wrong.trim_start_matches('-'))), "{wrong}: {text}");
    }
}
