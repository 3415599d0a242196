//! `groma state show`: the attributes of one object.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_lang::oracle::SchemaSource as _;
use groma_model::address::{AbsInstance, Provider};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::session::Session;
use groma_run::showing;
use groma_run::state::{InstanceState, ResourceState, State};
use groma_run::state_access::{PathOverrides, StateAccess};
use groma_run::state_edit;

use crate::commands::Context;
use crate::commands::shared::{LookArgs, provider_access};
use crate::failure::Failure;
use crate::render::{self, Look, Style};

/// Show the attributes of a resource instance.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which one.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,

    /// Read the state from this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) look: LookArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let (ui, mut session) = args.look.start(context);
    let asked = Asked {
        address: &args.address,
        show_sensitive: args.look.sensitive.show_sensitive,
        as_json: args.look.wants_json(),
    };
    let paths = PathOverrides { state: args.state, ..PathOverrides::default() };
    let shown = asked.find(context, &mut session, &paths, ui.style());
    let (human, json) = match shown {
        Ok(texts) => texts,
        Err(problems) => {
            ui.diagnostics(&problems, session.sources());
            return Ok(ExitCode::FAILURE);
        }
    };
    args.look.show(context, ui, &human, &json)?;
    Ok(ExitCode::SUCCESS)
}

/// What is to be shown.
struct Asked<'a> {
    address: &'a str,
    show_sensitive: bool,
    /// Whether machines want it, which takes the schema of the provider.
    as_json: bool,
}

impl Asked<'_> {
    /// The texts for people and for machines.
    fn find(
        &self,
        context: &Context,
        session: &mut Session,
        paths: &PathOverrides,
        style: Style,
    ) -> Result<(String, String), Diagnostics> {
        let address: AbsInstance = self.address.parse().map_err(|_| {
            let summary = format!("Error parsing instance address {:?}", self.address);
            Diagnostic::error(summary, ONE_INSTANCE)
        })?;
        let state = StateAccess::open(session, paths)?.read()?.ok_or_else(state_edit::no_state)?;
        let single = only(&state, &address)
            .ok_or_else(|| Diagnostic::error("No instance found for the given address", ONE_INSTANCE))?;
        let (access, mut diagnostics) = provider_access(context);
        let (book, found) = session.state_book(&access, &single);
        diagnostics.extend(found);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let schemas = showing::schemas(&book);
        let look = Look { style, fold: false, show_sensitive: self.show_sensitive, in_automation: true };
        let schema = |provider: &Provider, mode, kind: &str| schemas.resource(provider, mode, kind);
        let human = render::state::instance(&single, &address, &schema, &look).unwrap_or_default();
        let json = if self.as_json { showing::state_document(&book, &single) } else { Ok(String::new()) };
        showing::close(&book, &access);
        Ok((human, json?))
    }
}

const ONE_INSTANCE: &str = "This command shows one instance, so the address must name exactly one, with its key if it has one. \
                            \"groma state list\" shows which instances there are.";

/// A state with the current object of one instance, and nothing else.
fn only(state: &State, address: &AbsInstance) -> Option<State> {
    let resource = state.resources.get(&address.resource())?;
    let instance = resource.instances.get(address.key())?;
    let object = instance.current.clone()?;
    let instance = InstanceState { provider_key: instance.provider_key.clone(), ..InstanceState::from(object) };
    let resource =
        ResourceState { provider: resource.provider.clone(), instances: [(address.key().clone(), instance)].into() };
    Some(State {
        tool_version: state.tool_version.clone(),
        resources: [(address.resource(), resource)].into(),
        ..State::default()
    })
}
