//! Rules of the catalogue beside what the configuration says, and what is left when an order that a rule has made does not work out.

use groma_engine::change::Action;
use groma_engine::plan::Options;
use groma_engine::replacement::ReplaceOptions;
use groma_model::diag::Diagnostic;
use groma_rules::replace::rule::Mode;
use groma_state::State;
use serde_json::Value as Json;

use crate::runner::{Protocol, Ran, Runner, ids, no_state};

/// A cloud in which a configuration was applied.
struct Cloud {
    runner: Runner,
    state: State,
}

const AWS: (&str, Protocol) = ("aws", Protocol::Six);

fn mode(mode: Mode) -> Options {
    Options { replacement: ReplaceOptions { mode, ..ReplaceOptions::default() }, ..Options::default() }
}

impl Cloud {
    async fn with(config: &str) -> Self {
        let mut runner = Runner::new();
        runner.write(&[("main.tf", config)]);
        let ran = runner.run(AWS, &no_state(), &mode(Mode::Off), true).await;
        let (state, found) = ran.applied.unwrap();
        assert!(!found.has_errors(), "{found:?}");
        Self { runner, state }
    }

    async fn planned(&mut self, config: &str, rules: &str, how: Mode) -> Ran {
        self.runner.write(&[("main.tf", config), ("order.groma.hcl", rules)]);
        self.runner.run(AWS, &self.state, &mode(how), false).await
    }

    async fn applied(&mut self, config: &str, rules: &str) -> Vec<Diagnostic> {
        self.runner.write(&[("main.tf", config), ("order.groma.hcl", rules)]);
        let ran = self.runner.run(AWS, &self.state, &mode(Mode::Auto), true).await;
        let (state, found) = ran.applied.unwrap();
        self.state = state;
        found.into_iter().filter(Diagnostic::is_error).collect()
    }
}

fn subnet(zone: &str, more: &str) -> String {
    format!(
        "\nresource \"aws_subnet\" \"s\" {{\n  vpc_id            = \"vpc-7\"\n  cidr_block        = \"10.0.0.0/24\"\n  \
         availability_zone = \"{zone}\"\n  {more}\n}}\n"
    )
}

const CBD: &str = "lifecycle {\n    create_before_destroy = true\n  }";

fn entry(ran: &Ran) -> (Action, Json) {
    let plan = ran.plan.as_ref().unwrap_or_else(|| panic!("{:?}", ran.diagnostics));
    let change = plan.changes.iter().find(|change| change.action.is_replace()).unwrap();
    (change.action, serde_json::from_str(&plan.replacement.decisions[&change.address].document).unwrap())
}

fn status(document: &Json, rule: &str) -> String {
    let rules = document["rules"].as_array().unwrap();
    rules.iter().find(|known| known["id"] == *rule).unwrap()["status"].as_str().unwrap().to_owned()
}

/// What the catalogue would have obeyed yields to a lifecycle block, and says to which (T-63).
#[tokio::test]
async fn a_claim_of_the_catalogue_yields_to_create_before_destroy() {
    let mut cloud = Cloud::with(&subnet("a", CBD)).await;
    let ran = cloud.planned(&subnet("b", CBD), "", Mode::Auto).await;
    let (action, document) = entry(&ran);
    assert_eq!(action, Action::CreateThenDelete);
    assert_eq!(document["decided_by"]["layer"], "lifecycle");
    assert_eq!(status(&document, "aws.subnet.cidr_block"), "overridden");
    let warning = ran.diagnostics.iter().next().unwrap();
    assert!(warning.detail.contains("(create_before_destroy, main.tf:2)"), "{warning:?}");
    assert!(warning.detail.contains("Overridden by: create_before_destroy of aws_subnet.s"), "{warning:?}");
    assert_eq!(ran.diagnostics.iter().count(), 1);
    cloud.runner.finish().await;
}

/// Who writes `create_before_destroy = false` does not want to hear of the other order (T-68).
#[tokio::test]
async fn what_is_not_to_be_created_first_is_not_by_the_catalogue() {
    let certificate = |name: &str, more: &str| {
        format!(
            "resource \"aws_acm_certificate\" \"c\" {{\n  domain_name = \"{name}\"\n  {more}\n}}\n\
             resource \"aws_lb_listener\" \"l\" {{\n  certificate_arn = aws_acm_certificate.c.arn\n}}\n"
        )
    };
    let refused = CBD.replace("true", "false");
    let mut cloud = Cloud::with(&certificate("a.example", "")).await;
    for how in [Mode::Warn, Mode::Auto] {
        for (more, expected, warnings) in [("", "recommended", 1), (refused.as_str(), "no_match", 0)] {
            let ran = cloud.planned(&certificate("b.example", more), "", how).await;
            let (action, document) = entry(&ran);
            assert_eq!(action, Action::DeleteThenCreate, "{how:?} {more}");
            assert_eq!(status(&document, "aws.acm_certificate"), expected, "{how:?} {more}");
            assert_eq!(ran.diagnostics.iter().count(), warnings, "{:?}", ran.diagnostics);
        }
    }
    cloud.runner.finish().await;
}

fn rule(order: &str) -> String {
    format!(
        "replace_rule \"mine\" {{\n  resource = \"aws_subnet\"\n  target   = [\"aws_subnet.s\"]\n  order    = \"{order}\"\n  \
         behavior = \"auto\"\n}}\n"
    )
}

/// What there was is there again, as if nothing had happened (T-82).
#[tokio::test]
async fn a_rule_that_creates_first_in_vain_loses_nothing() {
    let mut cloud = Cloud::with(&subnet("a", "")).await;
    let before = ids(&cloud.state);
    let (action, document) = entry(&cloud.planned(&subnet("b", ""), &rule("create_first"), Mode::Auto).await);
    assert_eq!((action, document["decided_by"]["rule"].as_str()), (Action::CreateThenDelete, Some("mine")));
    let errors = cloud.applied(&subnet("b", ""), &rule("create_first")).await;
    assert_eq!(errors.len(), 1, "its range is taken: {errors:?}");
    assert_eq!(ids(&cloud.state), before);
    let instances = cloud.state.resources.values().flat_map(|resource| resource.instances.values());
    assert!(instances.clone().all(|instance| instance.current.is_some() && instance.deposed.is_empty()));
    // The next plan wants the same.
    let (action, _) = entry(&cloud.planned(&subnet("b", ""), &rule("create_first"), Mode::Auto).await);
    assert_eq!(action, Action::CreateThenDelete);
    cloud.runner.finish().await;
}

/// The old object is gone, so the next plan creates, and no rule has a say (T-82).
#[tokio::test]
async fn a_rule_that_deletes_first_in_vain_leaves_a_creation() {
    let other = "\nresource \"aws_subnet\" \"other\" {\n  vpc_id     = \"vpc-8\"\n  cidr_block = \"10.0.0.0/24\"\n}\n";
    let mut cloud = Cloud::with(&(subnet("a", CBD) + other)).await;
    // The new one wants what the other one has.
    let taken = subnet("a", CBD).replace("vpc-7", "vpc-8") + other;
    let errors = cloud.applied(&taken, &rule("delete_first")).await;
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(!cloud.state.resources.contains_key(&"aws_subnet.s".parse().unwrap()), "it is gone");
    let free = subnet("a", CBD).replace("vpc-7", "vpc-9") + other;
    let ran = cloud.planned(&free, &rule("delete_first"), Mode::Auto).await;
    let plan = ran.plan.unwrap();
    let actions: Vec<Action> = plan.changes.iter().map(|change| change.action).collect();
    assert_eq!(actions, [Action::NoOp, Action::Create]);
    assert!(plan.replacement.decisions.is_empty() && ran.diagnostics.is_empty(), "{:?}", ran.diagnostics);
    cloud.runner.finish().await;
}
