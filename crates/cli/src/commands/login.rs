//! `groma login`: gets and keeps a token for a host.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;
use groma_run::engine::interrupt::Interrupt;
use groma_run::online::login::{Login, Place, Token, Url, Way};

use super::Context;
use super::shared::{InputArgs, JsonArgs, VariableArgs, ViewArgs, announcer, online_quietly};
use crate::announce::Announcer;
use crate::failure::Failure;
use crate::prompt::{Prompt, Question};

/// Get a token for a host and keep it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The name of the host.
    #[arg(value_name = "HOST")]
    pub(crate) host: String,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let announcer = announcer(context, &args.view, &args.json)?;
    let result = if args.input.input { log_in(context, &announcer, &args.host) } else { Err(not_interactive().into()) };
    match result {
        Ok(warnings) => {
            announcer.diagnostics(&warnings, &SourceMap::new())?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => {
            announcer.diagnostics(&problems, &SourceMap::new())?;
            Ok(ExitCode::FAILURE)
        }
    }
}

fn not_interactive() -> Diagnostic {
    let detail = "\"groma login\" asks questions, so it cannot be run with -input=false.\n\nWhere nobody can answer, write a token \
                  that you have into a file of the CLI configuration, or into a variable TF_TOKEN_<host>.";
    Diagnostic::error("Login is an interactive command", detail)
}

/// Gets a token and keeps it.
fn log_in(context: &Context, announcer: &Announcer, host: &str) -> Result<Diagnostics, Diagnostics> {
    let (online, diagnostics) = online_quietly(context);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let mut login = Login::begin(&online, host)?;
    let mut warnings = diagnostics;
    warnings.extend(std::mem::take(&mut login.warnings));
    let asking = Asking { announcer, login: &login, path: context.environment.all.get("PATH").map(String::as_str) };
    asking.consent()?;
    let token = asking.token()?;
    login.keep(&token)?;
    asking.rule()?;
    let ui = announcer.ui();
    let done = ui.bold("groma has obtained and saved an API token.");
    let host = login.host();
    asking.say(&format!(
        "{} {done}\n\nThe new API token will be used for any future groma command that must make\nauthenticated requests to {host}.\n",
        ui.good("Success!")
    ))?;
    Ok(warnings)
}

/// The conversation.
struct Asking<'a> {
    announcer: &'a Announcer,
    login: &'a Login<'a>,
    /// Where programs are looked for.
    path: Option<&'a str>,
}

impl Asking<'_> {
    fn say(&self, text: &str) -> Result<(), Diagnostics> {
        self.announcer.say(text).map_err(broken)
    }

    fn rule(&self) -> Result<(), Diagnostics> {
        self.say(&format!("\n{}\n", "-".repeat(81)))
    }

    fn ask(&self, question: &Question<'_>) -> Result<String, Diagnostics> {
        Prompt::new(*self.announcer.ui(), Interrupt::default()).ask(question).map_err(|problem| {
            let detail = format!("There is no answer: {problem}.");
            Diagnostic::error("Error collecting user prompt", detail).into()
        })
    }

    /// What will happen, and whether it may.
    fn consent(&self) -> Result<(), Diagnostics> {
        let host = self.login.host();
        let means = if matches!(self.login.way(), Way::Page { .. }) { "your browser" } else { "OAuth" };
        self.say(&format!("groma will request an API token for {host} using {means}.\n"))?;
        if matches!(self.login.way(), Way::Browser(_)) {
            self.say(
                "This will work only if you are able to use a web browser on this computer to\ncomplete a login process. If not, \
                 you must obtain an API token by another\nmeans and configure it in the CLI configuration manually.\n",
            )?;
        }
        match self.login.place() {
            Place::Helper(name) => self.say(&format!(
                "If login is successful, groma will store the token in the configured\n{name:?} credentials helper for use by \
                 subsequent commands.\n"
            ))?,
            Place::File(file) => self.say(&format!(
                "If login is successful, groma will store the token in plain text in\nthe following file for use by subsequent \
                 commands:\n    {}\n",
                file.display()
            ))?,
            Place::OtherFile => {}
        }
        let question = Question {
            query: "Do you want to proceed?",
            description: "Only 'yes' will be accepted to confirm.",
            secret: false,
        };
        if self.ask(&question)?.eq_ignore_ascii_case("yes") {
            return Ok(());
        }
        Err(Diagnostic::error("Login cancelled", "Login process cancelled because it was not confirmed").into())
    }

    fn token(&self) -> Result<Token, Diagnostics> {
        let host = self.login.host();
        match self.login.way() {
            Way::Browser(service) => {
                let mut said = Ok(());
                let token = self.login.in_browser(service, |page| said = self.open(page, "login"));
                said.and(token)
            }
            Way::Password(service) => {
                self.rule()?;
                self.say(
                    "groma must temporarily use your password to request an API token.\nThis password will NOT be saved locally.\n",
                )?;
                let query = format!("Username for {host}:");
                let user = self.ask(&Question { query: &query, ..Question::default() })?;
                let password = self.secret(&format!("Password for {host}:"))?;
                self.login.with_password(service, &user, &password)
            }
            Way::Page { page, api } => {
                self.rule()?;
                self.open(page, "tokens")?;
                self.rule()?;
                self.say("Generate a token using your browser, and copy-paste it into this prompt.\n")?;
                let token = self.secret(&format!("Token for {host}:"))?;
                let user = self.login.try_token(api, &token)?;
                self.say(&format!("\nRetrieved token for user {}\n", self.announcer.ui().bold(&user)))?;
                Ok(token)
            }
        }
    }

    fn secret(&self, query: &str) -> Result<Token, Diagnostics> {
        let answer = self.ask(&Question { query, secret: true, ..Question::default() })?;
        Ok(Token::new(answer.trim()))
    }

    /// Opens a page, or asks the person to do so.
    fn open(&self, page: &Url, what: &str) -> Result<(), Diagnostics> {
        let host = self.login.host();
        if browser(self.path, page) {
            self.say(&format!("groma must now open a web browser to the {what} page for {host}.\n"))?;
            self.say(&format!(
                "If a browser does not open this automatically, open the following URL to proceed:\n    {page}\n"
            ))?;
        } else {
            self.say(&format!("Open the following URL to access the {what} page for {host}:\n    {page}\n"))?;
        }
        match self.login.way() {
            Way::Browser(_) => self.say("groma will now wait for the host to signal that login was successful.\n"),
            _ => Ok(()),
        }
    }
}

/// Standard output went away.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err gives")]
fn broken(failure: Failure) -> Diagnostics {
    Diagnostic::error("Login cancelled", failure.chain()).into()
}

/// Programs that open a page.
const BROWSERS: &[&str] =
    if cfg!(target_os = "macos") { &["open"] } else { &["xdg-open", "x-www-browser", "www-browser"] };

/// Opens a page. False if there is nothing that could; a person does it then.
fn browser(path: Option<&str>, page: &Url) -> bool {
    let dirs: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let programs = BROWSERS.iter().flat_map(|name| dirs.iter().map(move |dir| dir.join(name)));
    let mut found = programs.filter(|program| program.is_file());
    found.any(|program| {
        let quiet = Stdio::null;
        let started = Command::new(program).arg(page.as_str()).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
        started.is_ok()
    })
}
