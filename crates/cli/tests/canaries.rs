//! Secrets are planted wherever they can come from, and then looked for in everything that groma says: both streams, terminals, events and
//! logs. They may be in states, journals and plans, which nobody else may read; and each must have arrived there, or where the case says,
//! so that not finding it means something.
//!
//! Cases are in `canaries/cases.txt`. Of their lines, `secrets` declares sensitive variables and says how they get their values (`env:name`, or
//! `env:name=text with @ for the secret`); `@{name}` is a secret anywhere else; `run` and `terminal` give the exit code that is wanted (`?` for
//! any) and the command; `may-tell` is a command that is for showing secrets; `killed` dies at a point; `nowhere` names secrets that are
//! used up before anything is stored; `has` a file that must have some.
//!
//! `cargo xtask test` says where the fixtures are.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn variable(name: &str) -> PathBuf {
    std::env::var_os(name).unwrap_or_else(|| panic!("{name} is not set; run `cargo xtask test`")).into()
}

const CASES: &str = include_str!("canaries/cases.txt");

/// Files that a case has groma or its provisioners write, for everybody.
const PROVISIONED: [&str; 3] = ["arrived", "cmd", "env"];

const PROVIDERS: &str = "terraform {\n  required_providers {\n    fixsdk = { source = \"groma/fixsdk\" }\n    fixfw  = { source = \"groma/fixfw\" }\n  }\n}\n";

/// The secret of that name. Nothing in it changes when it is quoted or escaped.
fn canary(name: &str) -> String {
    format!("zq7{}x9k", name.replace('_', ""))
}

/// How a secret could be seen: plain, shouted, in hexadecimal, and in base64 wherever it begins in there.
fn forms(secret: &str) -> Vec<String> {
    let hex = secret.bytes().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let mut forms = vec![secret.to_owned(), secret.to_uppercase(), hex];
    for before in 0..3 {
        let encoded = base64(format!("{}{secret}", "-".repeat(before)).as_bytes());
        let begin = if before == 0 { 0 } else { 4 };
        forms.push(encoded[begin..encoded.len() - 4].to_owned());
    }
    forms
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]));
        }
    }
    text
}

#[test]
fn forms_are_found_in_what_is_encoded() {
    let secret = canary("some");
    for before in ["", "a", "ab", "abc"] {
        let text = base64(format!("{before}{secret} and more").as_bytes());
        assert!(forms(&secret).iter().any(|form| text.contains(form)), "{text}");
    }
}

/// One case at work.
struct Case {
    name: &'static str,
    dir: tempfile::TempDir,
    secrets: BTreeSet<String>,
    environment: BTreeMap<String, String>,
    arguments: Vec<String>,
    /// What the case itself has written.
    inputs: BTreeSet<PathBuf>,
    /// Where secrets need not arrive.
    nowhere: BTreeSet<String>,
    arrived: BTreeSet<String>,
    problems: Vec<String>,
}

impl Case {
    fn new(name: &'static str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        #[expect(clippy::disallowed_methods, reason = "provisioners run programs")]
        let programs = std::env::var("PATH").unwrap_or_default();
        let environment = [
            ("PATH", programs),
            ("HOME", path("")),
            ("TF_LOG", "trace".to_owned()),
            ("TF_LOG_PATH", path("log")),
            ("FIXTURE_WORLD", path("world")),
        ];
        fs::create_dir(dir.path().join("world")).unwrap();
        Self {
            name,
            secrets: BTreeSet::new(),
            environment: environment.map(|(name, value)| (name.to_owned(), value)).into(),
            arguments: Vec::new(),
            inputs: ["log"].map(|name| dir.path().join(name)).into(),
            nowhere: BTreeSet::new(),
            arrived: BTreeSet::new(),
            problems: Vec::new(),
            dir,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&mut self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.inputs.insert(path);
    }

    fn append(&mut self, name: &str, text: &str) {
        let before = fs::read_to_string(self.path(name)).unwrap_or_default();
        self.write(name, &(before + text));
    }

    /// A text with the secrets that it names.
    fn expanded(&mut self, text: &str) -> String {
        let mut parts = text.split("@{");
        let mut expanded = parts.next().unwrap().to_owned();
        for part in parts {
            let (name, rest) = part.split_once('}').unwrap();
            self.secrets.insert(name.to_owned());
            expanded.extend([&canary(name), rest]);
        }
        expanded
    }

    /// Declares a sensitive variable, with a secret as its value.
    fn secret(&mut self, declared: &str) {
        let (way, rest) = declared.split_once(':').unwrap();
        let (name, text) = rest.split_once('=').unwrap_or((rest, "@"));
        self.secrets.insert(name.to_owned());
        let value = text.replace('@', &canary(name));
        let default = if way == "override" { "  default   = \"d\"\n" } else { "" };
        self.append("vars.tf", &format!("variable \"{name}\" {{\n  sensitive = true\n{default}}}\n"));
        match way {
            "var" => self.arguments.push(format!("-var={name}={value}")),
            "auto" => self.append("s.auto.tfvars", &format!("{name} = \"{value}\"\n")),
            "file" => {
                self.append("s.tfvars", &format!("{name} = \"{value}\"\n"));
                let argument = format!("-var-file={}", self.path("s.tfvars").display());
                self.arguments.retain(|known| *known != argument);
                self.arguments.push(argument);
            }
            _ => {
                self.environment.insert(format!("TF_VAR_{name}"), value);
            }
        }
    }

    fn providers(&mut self) {
        let folder = |name: &str| variable(name).parent().unwrap().display().to_string();
        let overrides = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"groma/fixsdk\" = {:?}\n    \"groma/fixfw\" = {:?}\n  }}\n  direct {{}}\n}}\n",
            folder("GROMA_FIXTURE_SDK"),
            folder("GROMA_FIXTURE_FRAMEWORK"),
        );
        self.write(".tofurc", &overrides);
        self.write("providers.tf", PROVIDERS);
    }

    fn step(&mut self, head: &str, body: &str) {
        let (word, rest) = head.split_once(' ').unwrap_or((head, ""));
        match word {
            "secrets" => rest.split(' ').for_each(|declared| self.secret(declared)),
            "file" => {
                let text = self.expanded(body);
                self.write(rest, &text);
            }
            "providers" => self.providers(),
            "nowhere" => self.nowhere.extend(rest.split(' ').map(str::to_owned)),
            "edit" => {
                let (file, change) = rest.split_once(' ').unwrap();
                let (from, to) = change.split_once(" | ").unwrap();
                let text = fs::read_to_string(self.path(file)).unwrap();
                assert!(text.contains(from), "{}: {head}", self.name);
                self.write(file, &text.replace(from, &to.replace("\\n", "\n")));
            }
            "has" => {
                let (file, names) = rest.split_once(' ').unwrap();
                let text = fs::read_to_string(self.path(file)).unwrap();
                names.split(' ').for_each(|name| assert!(text.contains(&canary(name)), "{name} is not in {file}"));
                self.arrived.extend(names.split(' ').map(str::to_owned));
            }
            "drift" => {
                for file in fs::read_dir(self.path("world")).unwrap() {
                    let path = file.unwrap().path();
                    let mut object: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                    object["attributes"]["size"] = 5.into();
                    fs::write(&path, object.to_string()).unwrap();
                }
            }
            "damage" => {
                let bytes = fs::read(self.path(rest)).unwrap();
                fs::write(self.path(rest), &bytes[..bytes.len() / 2]).unwrap();
            }
            _ => self.command(head, word, rest, body),
        }
    }

    fn command(&mut self, head: &str, word: &str, rest: &str, body: &str) {
        let (wanted, rest) = rest.split_once(' ').unwrap();
        let given = self.expanded(rest);
        let mut arguments: Vec<String> = given.split(' ').map(str::to_owned).collect();
        let at = arguments.iter().position(|argument| !argument.starts_with('-')).unwrap();
        let takes_variables =
            ["plan", "apply", "destroy", "console", "test", "explain"].contains(&arguments[at].as_str());
        if takes_variables && arguments.last().is_none_or(|last| last != "p") {
            arguments.splice(at + 1..=at, self.arguments.clone());
        }
        let ran = self.run(&arguments, word, if word == "killed" { wanted } else { "" }, body);
        let (code, told) = ran;
        if word != "killed" && wanted != "?" && code.to_string() != wanted {
            self.problems.push(format!("{head}: exit code {code}\n{told}"));
        }
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        fs::write(self.path("log"), "").unwrap();
        if word == "may-tell" {
            assert!(
                self.secrets.iter().any(|name| told.contains(&canary(name))),
                "{}: {head} tells nothing",
                self.name
            );
        } else {
            self.look_in(&format!("{head}: what it said"), &told);
        }
        self.look_in(&format!("{head}: its log"), &log);
        let dir = self.dir.path().to_owned();
        self.look_at_files(&dir, head);
    }

    /// What it said on both streams, and the exit code.
    fn run(&self, arguments: &[String], word: &str, die_at: &str, input: &str) -> (i32, String) {
        let program = env!("CARGO_BIN_EXE_groma");
        let mut command = if word == "terminal" {
            let quoted = arguments.iter().map(|argument| format!(" '{}'", argument.replace('\'', "'\\''")));
            let line = format!("'{program}'{}", quoted.collect::<String>());
            let mut command = Command::new("script");
            command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm-256color");
            command
        } else {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        };
        let kept = if word == "terminal" { Some(("TERM", "xterm-256color")) } else { None };
        let (mut reader, writer) = std::io::pipe().unwrap();
        command.current_dir(self.dir.path()).env_clear().envs(&self.environment).envs(kept);
        if !die_at.is_empty() {
            command.env("GROMA_DIE_AT", die_at);
        }
        command.stdin(Stdio::piped()).stdout(writer.try_clone().unwrap()).stderr(writer);
        let mut child = command.spawn().unwrap();
        drop(command);
        // Who does not read may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let mut told = Vec::new();
        reader.read_to_end(&mut told).unwrap();
        (child.wait().unwrap().code().unwrap_or(-1), String::from_utf8_lossy(&told).into_owned())
    }

    /// Looks for every secret, also across line breaks and what is drawn around them.
    fn look_in(&mut self, place: &str, text: &str) {
        let joined: String = text.chars().filter(|char| !char.is_whitespace() && !"│╷╵".contains(*char)).collect();
        for name in &self.secrets {
            for form in forms(&canary(name)) {
                if let Some(at) = text.find(&form).or_else(|| joined.contains(&form).then_some(0)) {
                    let begin = text[..at].char_indices().rev().nth(100).map_or(0, |(at, _)| at);
                    let end = text[at..].char_indices().nth(100).map_or(text.len(), |(more, _)| at + more);
                    self.problems.push(format!("{place}: {name}: …{}…", &text[begin..end]));
                    break;
                }
            }
        }
    }

    /// Who else could read the secrets that were written down?
    fn look_at_files(&mut self, dir: &Path, head: &str) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.look_at_files(&path, head);
                continue;
            }
            let Ok(bytes) = fs::read(&path) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            let found: Vec<String> =
                self.secrets.iter().filter(|name| text.to_lowercase().contains(&canary(name))).cloned().collect();
            if found.is_empty() || self.inputs.contains(&path) {
                continue;
            }
            let name = path.strip_prefix(self.dir.path()).unwrap().display().to_string();
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            let others = name.starts_with("world/") || PROVISIONED.contains(&name.as_str());
            if !others && mode & 0o077 != 0 {
                self.problems.push(format!("{head}: {name} has {found:?} and may be read by others: {mode:o}"));
            }
            self.arrived.extend(found);
        }
    }
}

#[test]
fn no_secret_is_told() {
    let (mut problems, mut secrets) = (Vec::new(), 0);
    for section in CASES.split("\n=== ").skip(1) {
        let (name, steps) = section.split_once('\n').unwrap();
        let mut case = Case::new(name);
        for step in format!("\n{steps}").split("\n--- ").skip(1) {
            let (head, body) = step.split_once('\n').unwrap_or((step, ""));
            case.step(head.trim_end(), &format!("{}\n", body.trim_end()));
        }
        let lost = case.secrets.iter().filter(|name| !case.arrived.contains(*name) && !case.nowhere.contains(*name));
        case.problems.extend(lost.map(|name| format!("{name} never arrived")));
        problems.extend(case.problems.iter().map(|problem| format!("{name}: {problem}")));
        secrets += case.secrets.len();
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n\n"));
    assert!(secrets >= 50, "there are only {secrets} secrets");
}

#[test]
fn what_is_typed_is_not_seen() {
    let case = {
        let mut case = Case::new("prompt");
        case.write("main.tf", "variable \"typed\" {\n  sensitive = true\n}\nresource \"terraform_data\" \"a\" {\n  input = var.typed\n}\n");
        case
    };
    let line = format!("'{}' apply", env!("CARGO_BIN_EXE_groma"));
    let mut child = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(case.dir.path())
        .env_clear()
        .envs(&case.environment)
        .env("TERM", "xterm-256color")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut told = Vec::new();
    for answer in [canary("typed"), "yes".to_owned()] {
        let question = b"Enter a value:";
        let begin = told.len();
        while !told[begin..].windows(question.len()).any(|window| window == question) {
            let mut byte = [0];
            assert_eq!(output.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&told));
            told.push(byte[0]);
        }
        input.write_all(format!("{answer}\n").as_bytes()).unwrap();
    }
    output.read_to_end(&mut told).unwrap();
    child.wait().unwrap();
    let told = String::from_utf8_lossy(&told);
    assert!(told.contains("Apply complete!") && !told.contains(&canary("typed")), "{told}");
    assert!(fs::read_to_string(case.path("terraform.tfstate")).unwrap().contains(&canary("typed")));
}
