//! Every call × every moment × every fault.

use std::sync::Arc;
use std::time::Duration;

use groma_provider::api::{CallError, Provider as _};
use groma_provider::wire::{PluginProvider, ProtocolVersion};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::calls::{CALLS, End, echo, end, make};
use crate::kit::Subject;
use crate::left::nothing_is_left;

/// What goes wrong, and when.
const FAULTS: &[(&str, &[&str])] = &[
    (
        "before",
        &[
            "exit",
            "panic",
            "hang",
            "sleep=30s",
            "error",
            "unimplemented",
            "garbage",
            "wire",
            "empty",
            "status=CANCELLED",
        ],
    ),
    ("during", &["exit", "kill", "panic", "hang", "error"]),
    (
        "after",
        &["exit", "panic", "hang", "status=UNAVAILABLE", "garbage", "nonsense", "truncated", "null", "wire", "diag"],
    ),
];

/// How long a call may take that never ends.
const PATIENCE: Duration = Duration::from_millis(1500);

/// How long a call may take on a busy machine.
const LONG: Duration = Duration::from_mins(1);

/// How much later than its limit a call may end.
const GRACE: Duration = Duration::from_secs(5);

/// So many plugins at once.
const AT_ONCE: usize = 24;

#[derive(Debug, Clone)]
struct Case {
    protocol: ProtocolVersion,
    call: &'static str,
    when: &'static str,
    what: &'static str,
}

impl Case {
    fn never_ends(&self) -> bool {
        self.what == "hang" || self.what.starts_with("sleep")
    }

    fn ends_the_process(&self) -> bool {
        matches!(self.what, "exit" | "kill" | "panic")
    }

    fn spoils_the_answer(&self) -> bool {
        !self.ends_the_process() && !self.never_ends() && self.what != "error"
    }

    fn subject(&self) -> Subject {
        let subject = match self.protocol {
            ProtocolVersion::V5 => Subject::sdk(ProtocolVersion::V5),
            ProtocolVersion::V6 => Subject::framework(),
        };
        let rule = format!("{}:{}:{}", self.call, self.when, self.what);
        subject.env("FIXTURE_FAULT", rule).patience(self.patience())
    }

    fn patience(&self) -> Duration {
        if self.never_ends() { PATIENCE } else { LONG }
    }

    /// How the call may end.
    fn expected(&self) -> &'static [End] {
        match (self.what, self.when) {
            // The fixture cannot spoil what it sends bit by bit, so it refuses.
            _ if self.call == "ListResource" && self.spoils_the_answer() => &[End::Refused],
            ("exit" | "kill" | "panic", "after") => &[End::Answered, End::Gone],
            ("exit" | "kill" | "panic", _) => &[End::Gone],
            // Calls before this one may be the ones that are late if the machine is busy.
            ("hang", "after") => &[End::Answered, End::Timeout],
            ("hang" | "sleep=30s", _) => &[End::Timeout],
            ("error", _) => &[End::Refused],
            ("status=CANCELLED", _) => &[End::Cancelled],
            ("status=UNAVAILABLE", _) => &[End::Gone],
            ("unimplemented", _) if self.may_be_missing() => &[End::Answered],
            ("unimplemented", _) => &[End::Unsupported],
            ("wire", _) => &[End::Malformed],
            ("garbage" | "nonsense", _) if self.call == "GetProviderSchema" => &[End::Schema, End::Malformed],
            // Its value is of no use to anybody, so nobody looks at it.
            ("garbage" | "nonsense", _) if self.call == "ValidateProviderConfig" => &[End::Answered, End::Malformed],
            ("garbage" | "nonsense", _) => &[End::Malformed],
            ("diag", _) => match self.call {
                "GetFunctions" => &[End::Refused],
                // They have no diagnostics, or we have another source for what they tell.
                "StopProvider" | "GetMetadata" | "CallFunction" => &[End::Answered],
                _ => &[End::Reported],
            },
            // With other types than the plugin's own, requests cannot be made.
            ("null", _) if self.call == "GetProviderSchema" => &[End::Unfit, End::Schema, End::Malformed],
            // Half a value is none, but half of a list may be one.
            ("truncated" | "null" | "empty", _) => {
                &[End::Answered, End::Reported, End::Malformed, End::Schema, End::Unsupported]
            }
            other => panic!("what does {other:?} lead to?"),
        }
    }

    /// Whether plugins of long ago lack the call.
    fn may_be_missing(&self) -> bool {
        matches!(self.call, "GetMetadata" | "GetResourceIdentitySchemas" | "GetFunctions")
    }

    /// What is wrong with how it went, if anything is.
    async fn run(&self) -> Option<String> {
        let subject = self.subject();
        let everything = async {
            let (plugin, answer) = make(&subject, self.call).await;
            let mut wrong = self.judge(end(&answer), answer.as_ref().err());
            if let Some(plugin) = plugin {
                wrong = wrong.or(self.afterwards(&plugin).await);
                // It may be dead, which is what we want of it.
                let _ = plugin.shutdown().await;
            }
            wrong
        };
        // Three calls may be late one after the other: the one before, the call, and the one after.
        let limit = self.patience() * 3 + GRACE;
        tokio::time::timeout(limit, everything).await.unwrap_or_else(|_| Some("no outcome in time".to_owned()))
    }

    fn judge(&self, end: End, error: Option<&CallError>) -> Option<String> {
        if !self.expected().contains(&end) {
            return Some(format!("ended as {end:?}, not {:?}: {error:?}", self.expected()));
        }
        let text = error?.diagnostic();
        let named = text.detail.contains("fixsdk") || text.detail.contains("fixfw") || text.detail.contains("fixture");
        if !named {
            return Some(format!("does not name the provider: {}", text.detail));
        }
        if self.what == "panic" && !text.detail.contains("panic: ") {
            return Some(format!("does not show the panic: {}", text.detail));
        }
        None
    }

    /// A plugin that is to die does so soon, and stays dead; one that never answers again is not waited for.
    async fn afterwards(&self, plugin: &PluginProvider) -> Option<String> {
        if self.ends_the_process() {
            let until_it_is_gone = async { while end(&echo(plugin).await) != End::Gone {} };
            let gone = tokio::time::timeout(GRACE, until_it_is_gone).await;
            return gone.is_err().then(|| "the plugin lives on".to_owned());
        }
        if self.call == "CallFunction" || (self.call == "GetProviderSchema" && self.spoils_the_answer()) {
            return None;
        }
        let end = end(&echo(plugin).await);
        let expected: &[End] = if self.never_ends() { &[End::Timeout, End::Gone] } else { &[End::Answered] };
        (!expected.contains(&end)).then(|| format!("the next call ended as {end:?}, not {expected:?}"))
    }
}

fn cases(protocol: ProtocolVersion) -> Vec<Case> {
    let mut cases = Vec::new();
    for call in CALLS {
        for (when, faults) in FAULTS {
            cases.extend(faults.iter().map(|what| Case { protocol, call, when, what }));
        }
    }
    cases
}

async fn all(protocol: ProtocolVersion) {
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for case in cases(protocol) {
        let permits = Arc::clone(&permits);
        running.spawn(async move {
            let _permit = permits.acquire_owned().await.unwrap();
            (case.run().await, case)
        });
    }
    let mut wrong = Vec::new();
    while let Some(done) = running.join_next().await {
        if let (Some(problem), case) = done.unwrap() {
            wrong.push(format!("{}:{}:{} {problem}", case.call, case.when, case.what));
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{} cases went wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn every_call_and_moment() {
    all(ProtocolVersion::V5).await;
    all(ProtocolVersion::V6).await;
    nothing_is_left().await;
}
