//! What came from Secrets is not told, whatever the configuration says about it: it is taken out of every text that leaves a run.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::text::visible;

use super::result::Ended;
use crate::api::run::Told;
use crate::bundle::ResolvedInputs;

/// Stands for what is not told.
const HIDDEN: &str = "(from a Secret)";
/// Shorter values are found in texts that have nothing to do with them.
const SHORTEST: usize = 5;
/// The same, for single lines of longer values.
const SHORTEST_LINE: usize = 8;

/// Takes what came from Secrets out of texts.
pub(crate) struct Redaction {
    /// Longer ones first, so that no part of one is left.
    hidden: Vec<String>,
}

impl Redaction {
    /// Of everything that came from Secrets.
    pub(crate) fn new(inputs: &ResolvedInputs) -> Self {
        let mut hidden = Vec::new();
        for secret in &inputs.secrets {
            let whole = secret.trim();
            hidden.extend([whole.to_owned(), escaped(whole)].into_iter().filter(|text| text.len() >= SHORTEST));
            // As configurations write it for those who want it so. What fills it up says nothing.
            let encoded = [secret.as_str(), whole].map(|text| STANDARD.encode(text).trim_end_matches('=').to_owned());
            hidden.extend(encoded.into_iter().filter(|_| whole.len() >= SHORTEST));
            let lines = whole.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE);
            hidden.extend(lines.flat_map(|line| [line.to_owned(), escaped(line)]));
        }
        hidden.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        hidden.dedup();
        Self { hidden }
    }

    /// A text without them.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut cleaned = Cow::Borrowed(text);
        for secret in &self.hidden {
            if cleaned.contains(secret.as_str()) {
                cleaned = Cow::Owned(cleaned.replace(secret.as_str(), HIDDEN));
            }
        }
        cleaned.into_owned()
    }

    /// The same, of several.
    pub(super) fn clean_all(&self, texts: Vec<String>) -> Vec<String> {
        texts.into_iter().map(|text| self.clean(&text)).collect()
    }

    /// What a run says in the end, without them.
    pub(super) fn clean_ended(&self, mut ended: Ended) -> Ended {
        if let Some(problem) = &mut ended.problem {
            problem.message = self.shown(&problem.message);
        }
        ended.told = ended.told.into_iter().map(|told| self.clean_told(told)).collect();
        ended
    }

    /// A text without them, that nobody's terminal obeys.
    fn shown(&self, text: &str) -> String {
        visible(&self.clean(text)).into_owned()
    }

    fn clean_told(&self, told: Told) -> Told {
        let address = told.address.map(|address| self.shown(&address));
        Told { summary: self.shown(&told.summary), detail: self.shown(&told.detail), address, ..told }
    }
}

/// As it is written between quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction(secrets: &[&str]) -> Redaction {
        let secrets = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        Redaction::new(&ResolvedInputs { secrets, ..ResolvedInputs::default() })
    }

    #[test]
    fn nothing_of_a_secret_is_left() {
        let redaction =
            redaction(&["hunter2-hunter2", "hunter2", "say \"friend\"", "first long line\nsecond long line"]);
        assert_eq!(redaction.clean("a = \"hunter2-hunter2\""), "a = \"(from a Secret)\"");
        assert_eq!(redaction.clean("b = \"say \\\"friend\\\"\""), "b = \"(from a Secret)\"");
        assert_eq!(redaction.clean("  second long line\n"), "  (from a Secret)\n");
        assert_eq!(redaction.clean("\"first long line\\nsecond long line\""), "\"(from a Secret)\"");
    }

    #[test]
    fn what_is_encoded_is_not_told_either() {
        let redaction = redaction(&["hunter2-hunter2\n", "hunter22"]);
        for encoded in ["aHVudGVyMi1odW50ZXIyCg==", "aHVudGVyMi1odW50ZXIy", "aHVudGVyMjI="] {
            let cleaned = redaction.clean(&format!("data = \"{encoded}\""));
            assert_eq!(cleaned.trim_end_matches(['"', '=']), "data = \"(from a Secret)", "{encoded}");
        }
    }

    #[test]
    fn addresses_are_told_without_what_came_from_a_secret() {
        let told = Told {
            severity: "error".to_owned(),
            summary: String::new(),
            detail: String::new(),
            address: Some("a.b[\"hunter2\"]".to_owned()),
            at: None,
        };
        let ended = redaction(&["hunter2"]).clean_ended(Ended { told: vec![told], ..Ended::default() });
        assert_eq!(ended.told[0].address.as_deref(), Some("a.b[\"(from a Secret)\"]"));
        let drifted = redaction(&["hunter2"]).clean_all(vec!["a.b[\"hunter2\"]".to_owned(), "a.c".to_owned()]);
        assert_eq!(drifted, ["a.b[\"(from a Secret)\"]", "a.c"]);
    }

    #[test]
    fn what_is_short_says_nothing() {
        assert_eq!(redaction(&["1", "yes", ""]).clean("1 to add, yes"), "1 to add, yes");
    }
}
