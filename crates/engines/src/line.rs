//! What was asked of the engine: a command and its arguments, which are handed on as they are. Only what matters to what we do before
//! and after is understood here.

use std::path::PathBuf;

use groma_model::diag::Diagnostic;

/// A command that can be driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `init`
    Init,
    /// `plan`
    Plan,
    /// `apply`
    Apply,
    /// `destroy`
    Destroy,
    /// `refresh`
    Refresh,
}

impl Command {
    const ALL: [(Command, &'static str); 5] = [
        (Command::Init, "init"),
        (Command::Plan, "plan"),
        (Command::Apply, "apply"),
        (Command::Destroy, "destroy"),
        (Command::Refresh, "refresh"),
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(command, _)| *command == self).map_or("", |(_, name)| *name)
    }
}

/// Flags whose value may stand in the next word.
const WITH_VALUE: [&str; 18] = [
    "backend-config",
    "backup",
    "deprecation",
    "exclude",
    "exclude-file",
    "from-module",
    "generate-config-out",
    "json-into",
    "lock-timeout",
    "out",
    "parallelism",
    "plugin-dir",
    "replace",
    "state",
    "state-out",
    "target",
    "target-file",
    "var",
];
const VAR_FILE: &str = "var-file";

/// A command and its arguments.
#[derive(Debug, Clone)]
pub struct Line {
    /// What to do.
    pub command: Command,
    /// Its arguments, as they are handed on.
    pub arguments: Vec<String>,
    /// Flags of the arguments and of the environment, in the order in which they count.
    flags: Vec<(String, Option<String>)>,
    /// What is no flag.
    others: Vec<String>,
    /// The plan that it carries out makes nothing, which cannot be told from the words.
    takes_down: bool,
}

impl Line {
    /// Reads a command and its arguments. `from_environment` are those that the engine adds by itself, from `TF_CLI_ARGS`.
    pub fn read(words: &[String], from_environment: &[String]) -> Result<Self, Diagnostic> {
        let (name, arguments) = words.split_first().map_or(("", &[][..]), |(name, rest)| (name.as_str(), rest));
        let Some((command, _)) = Command::ALL.iter().find(|(_, known)| *known == name) else {
            let known = Command::ALL.map(|(_, known)| known).join(", ");
            let detail = format!("{name:?} is none of the commands that can be run with another engine: {known}.");
            return Err(Diagnostic::error("Unknown command", detail));
        };
        let arguments: Vec<String> = arguments.iter().map(|word| one_dash(word)).collect();
        let mut line = Self { command: *command, arguments, flags: Vec::new(), others: Vec::new(), takes_down: false };
        line.understand(from_environment);
        line.understand(&line.arguments.clone());
        Ok(line)
    }

    /// The same, for who knows that the saved plan that it carries out takes everything down.
    #[must_use]
    pub fn taking_down(self) -> Self {
        Self { takes_down: true, ..self }
    }

    fn understand(&mut self, words: &[String]) {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let flag = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).filter(|flag| !flag.is_empty());
            let Some(flag) = flag.filter(|_| self.others.is_empty()) else {
                self.others.push(word.clone());
                continue;
            };
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None if flag == VAR_FILE || WITH_VALUE.contains(&flag) => (flag, words.next().cloned()),
                None => (flag, None),
            };
            self.flags.push((name.to_owned(), value));
        }
    }

    /// The last value of a flag.
    fn value(&self, name: &str) -> Option<&str> {
        self.flags.iter().rev().find(|(known, _)| known == name).and_then(|(_, value)| value.as_deref())
    }

    /// Whether a switch is on.
    fn is_on(&self, name: &str) -> bool {
        let last = self.flags.iter().rev().find(|(known, _)| known == name);
        last.is_some_and(|(_, value)| !matches!(value.as_deref(), Some("0" | "f" | "F" | "FALSE" | "false" | "False")))
    }

    fn has(&self, name: &str) -> bool {
        self.flags.iter().any(|(known, _)| known == name)
    }

    /// Whether machines read standard output.
    pub fn is_json(&self) -> bool {
        self.is_on("json")
    }

    /// Whether colours are refused.
    pub fn is_plain(&self) -> bool {
        self.is_on("no-color")
    }

    /// Whether only the help is asked for.
    pub(crate) fn asks_for_help(&self) -> bool {
        ["help", "h"].iter().any(|name| self.has(name))
    }

    /// Whether the exit code tells that there is something to do.
    pub(crate) fn tells_changes(&self) -> bool {
        self.command == Command::Plan && self.is_on("detailed-exitcode")
    }

    /// Whether it may make objects.
    pub(crate) fn makes_objects(&self) -> bool {
        self.command == Command::Apply && !self.takes_down && !self.is_on("destroy") && !self.is_on("refresh-only")
    }

    /// Whether it is about everything. Who says what it is about knows what is not ready.
    pub(crate) fn is_about_everything(&self) -> bool {
        !["target", "target-file", "exclude", "exclude-file"].iter().any(|name| self.has(name))
    }

    /// The plan that is carried out, if it was saved.
    pub(crate) fn plan_file(&self) -> Option<PathBuf> {
        self.others.first().filter(|_| self.command == Command::Apply).map(PathBuf::from)
    }

    /// Values of variables, as they were given.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let given = self.flags.iter().filter(|(name, _)| name == "var" || name == VAR_FILE);
        given.filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)))
    }

    /// The same flags for commands of our own: those of `names` that were given.
    pub(crate) fn same(&self, names: &[&str]) -> Vec<String> {
        let given = names.iter().filter_map(|name| Some((name, self.value(name)?)));
        given.map(|(name, value)| format!("-{name}={value}")).collect()
    }

    /// The values of variables for commands of our own.
    pub(crate) fn same_variables(&self) -> Vec<String> {
        self.variables().map(|(name, value)| format!("-{name}={value}")).collect()
    }

    /// What cannot be driven, and why.
    pub(crate) fn refused(&self) -> Option<Diagnostic> {
        let name = ["state", "state-out", "backup"].into_iter().find(|name| self.has(name))?;
        let detail = format!(
            "-{name} names a file that other commands of the engine do not look at, so what it leaves could not be taken care of. \
             Say in the backend block where the state is: backend \"local\" {{ path = ... }}."
        );
        Some(Diagnostic::error("Unsupported argument for another engine", detail))
    }
}

/// `--json` is `-json`: some flags are known to the engines in this form only.
fn one_dash(word: &str) -> String {
    let is_flag =
        word.strip_prefix("--").is_some_and(|flag| flag.starts_with(|first: char| first.is_ascii_alphabetic()));
    if is_flag { word[1..].to_owned() } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str], environment: &[&str]) -> Line {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        Line::read(&owned(words), &owned(environment)).unwrap()
    }

    #[test]
    fn what_matters_is_understood_in_all_forms() {
        let found = line(&["apply", "-var", "a=1", "--var-file=x", "-json", "-lock-timeout", "3s", "p.bin"], &[]);
        assert_eq!(found.variables().collect::<Vec<_>>(), [("var", "a=1"), ("var-file", "x")]);
        assert_eq!(found.same(&["lock", "lock-timeout"]), ["-lock-timeout=3s"]);
        assert!(found.is_json() && found.makes_objects() && found.is_about_everything());
        assert_eq!(found.plan_file(), Some("p.bin".into()));
        assert_eq!(found.arguments[..3], ["-var", "a=1", "-var-file=x"]);
    }

    #[test]
    fn the_last_of_several_counts_and_the_environment_comes_first() {
        assert!(!line(&["apply", "-json=false"], &["-json"]).is_json());
        assert!(line(&["apply"], &["-json"]).is_json());
        assert!(!line(&["apply", "-destroy"], &[]).makes_objects());
        assert!(line(&["apply", "-destroy=false"], &[]).makes_objects());
        assert!(!line(&["apply", "-target=a.b"], &[]).is_about_everything());
        assert!(!line(&["apply", "p.bin"], &[]).taking_down().makes_objects());
        assert!(line(&["plan", "-detailed-exitcode"], &[]).tells_changes());
        assert!(line(&["plan", "-help"], &[]).asks_for_help());
    }

    #[test]
    fn what_cannot_be_driven_is_refused() {
        let words = ["state".to_owned(), "list".to_owned()];
        let problem = Line::read(&words, &[]).unwrap_err();
        assert!(problem.detail.contains("init, plan, apply, destroy, refresh"), "{}", problem.detail);
        assert!(Line::read(&[], &[]).is_err());
        assert!(line(&["apply", "-state=x"], &[]).refused().is_some());
        assert!(line(&["apply"], &[]).refused().is_none());
    }
}
