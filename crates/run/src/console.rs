//! The console: expressions typed one after the other, evaluated in the root module, with resources as the state knows them.

mod stored_values;

use std::sync::Arc;

use groma_lang::display;
use groma_lang::eval::evaluate;
use groma_lang::walk::{Purpose, Walk};
use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use groma_state::State;

use crate::operate::Kind;
use crate::providers::{BookOracle, ProviderAccess};
use crate::session::{Loaded, Session, UsedProviders};
use crate::state_access::{LockWish, PathOverrides, StateAccess};
use stored_values::StoredValues;

/// What a line led to.
pub enum Answer {
    /// Text to show.
    Text(String),
    /// Nothing: the line was empty.
    Nothing,
    /// The user wants to leave.
    Leave,
    /// It failed. The texts for showing the diagnostics come with it.
    Failed(Diagnostics, SourceMap),
}

const HELP: &str = "The console allows you to experiment with expressions.\n\n\
    You may access resources in the state (if you have one) just as you would from a configuration. For example: \
    \"aws_instance.foo.id\" would evaluate to the ID of \"aws_instance.foo\" if it exists in your state.\n\n\
    Type in the expression to test and hit <enter> to see the result.\n\n\
    To exit the console, type \"exit\" and hit <enter>, or use Control-C or Control-D.";

/// Loads the configuration, evaluates it and hands a [`Console`] to `talk`; none if it could not be loaded.
pub fn with_console<T>(
    session: &mut Session,
    wish: &StateWish,
    access: impl FnOnce() -> (ProviderAccess, Diagnostics),
    talk: impl FnOnce(&Session, Option<&Console<'_>>, Diagnostics) -> T,
) -> T {
    let Loaded { tree, inputs, mut diagnostics, about_values, .. } = session.load();
    diagnostics.extend(about_values);
    let (Some(tree), false) = (tree, diagnostics.has_errors()) else { return talk(session, None, diagnostics) };
    let UsedProviders { book, access, diagnostics: found } = session.used_providers(&tree, access);
    diagnostics.extend(found);
    let read = read_state(session, wish);
    let Some((mut storage, state)) = diagnostics.take(read) else { return talk(session, None, diagnostics) };
    let oracle = StoredValues::new(BookOracle::new(&book, access.as_ref()), state);
    let settings = session.settings(Purpose::Evaluate, &oracle);
    let (walk, found) = Walk::run(&tree, settings, &inputs);
    diagnostics.extend(found);
    diagnostics.sort(session.sources());
    let result = talk(session, Some(&Console { walk }), diagnostics);
    // Problems with providers were shown with the answers that they concern.
    let _ = oracle.schemas.0.finish();
    // A lock that cannot be given back is found, and taken away, by whoever meets it.
    let _ = storage.unlock();
    result
}

/// How the state is reached.
#[derive(Debug, Clone, Default)]
pub struct StateWish {
    /// Files instead of those of the backend.
    pub paths: PathOverrides,
    /// Whether the state is locked meanwhile.
    pub lock: LockWish,
}

fn read_state(session: &mut Session, wish: &StateWish) -> Result<(StateAccess, Arc<State>), Diagnostics> {
    let mut storage = StateAccess::open(session, &wish.paths)?;
    storage.lock(Kind::Other.lock_name(), wish.lock)?;
    match storage.read() {
        Ok(state) => Ok((storage, state.unwrap_or_default())),
        Err(mut problems) => {
            problems.extend(storage.unlock());
            Err(problems)
        }
    }
}

/// An evaluated configuration that answers expressions.
pub struct Console<'a> {
    walk: Walk<'a>,
}

impl Console<'_> {
    /// Answers one line (which may hold line breaks inside brackets).
    pub fn answer(&self, sources: &SourceMap, line: &str) -> Answer {
        match line.trim() {
            "" => return Answer::Nothing,
            "exit" => return Answer::Leave,
            "help" => return Answer::Text(HELP.to_owned()),
            _ => {}
        }
        let mut sources = sources.clone();
        let file = sources.add("<console-input>", line);
        let parsed = groma_syntax::parse_expr(&sources, file);
        if parsed.diagnostics.has_errors() {
            return Answer::Failed(parsed.diagnostics, sources);
        }
        let (value, mut diagnostics) = evaluate(&parsed.value, &self.walk.console_scope(&sources));
        if diagnostics.has_errors() {
            return Answer::Failed(diagnostics, sources);
        }
        match display::console_result(&value) {
            Ok(text) => Answer::Text(text),
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                Answer::Failed(diagnostics, sources)
            }
        }
    }
}
