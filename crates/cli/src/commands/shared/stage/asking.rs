//! Asking for values of variables that must have one and have none.

use groma_lang::config::Variable;

use crate::prompt::{Prompt, Question};

/// Gives the value of a variable, if somebody says it.
pub(super) type Answerer = Box<dyn FnMut(&Variable) -> Option<String>>;

/// Asks for values of variables, one after the other. Who interrupts is not asked again.
pub(super) fn variable_prompt(prompt: Prompt) -> Answerer {
    Box::new(move |variable: &Variable| {
        let hidden = variable.ephemeral == Some(true);
        let query = format!("var.{}{}", variable.name, if hidden { " (ephemeral)" } else { "" });
        let description = description(variable);
        let secret = hidden || variable.sensitive == Some(true);
        let question = Question { query: &query, description: &description, secret };
        prompt.ask(&question).ok()
    })
}

fn description(variable: &Variable) -> String {
    let about = variable.description.as_ref().map_or("", |text| text.as_str());
    let Some(deprecated) = &variable.deprecated else { return about.to_owned() };
    let space = if about.is_empty() { "" } else { ".\n" };
    format!("{about}{space}Variable is marked as deprecated with the following message: {deprecated}")
}
