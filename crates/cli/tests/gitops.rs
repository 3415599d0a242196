//! A data lake that is kept as a repository says: the scenarios of the specification, by their numbers, on a real cluster, with an Airbyte that
//! is none and a configuration in the shape that people have (`tests/lotus-lake`).
//!
//! Where what is: what people do every day in `flows`; what goes in from Secrets in `secrets`; that nobody hears anything while all is well in
//! `stable`; what fails around it in `faults`; commits that come while another is at work, or that cannot be carried out, in `reactions`; many
//! Stacks that have something in common in `load`. Smaller configurations are in repositories that the operator looks at itself in `sources`, and in
//! artifacts of Flux in `flux` (`fetched` stands for Flux); what somebody has made to do harm in `hostile`; pull requests and webhooks in `voices`.
//! Two writers, and objects that no state knows, are among the tests of the operator. [`TOLD`] has which test tells which scenario.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "kubernetes/api.rs"]
mod api;
#[path = "gitops/faults.rs"]
mod faults;
#[path = "gitops/fetched.rs"]
mod fetched;
#[path = "gitops/flows.rs"]
mod flows;
#[path = "gitops/flux.rs"]
mod flux;
#[path = "gitops/hostile.rs"]
mod hostile;
#[path = "gitops/lake.rs"]
mod lake;
#[path = "gitops/load.rs"]
mod load;
#[path = "gitops/reactions.rs"]
mod reactions;
#[path = "gitops/secrets.rs"]
mod secrets;
#[path = "gitops/sources.rs"]
mod sources;
#[path = "gitops/stable.rs"]
mod stable;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "operator/stage.rs"]
mod stage;
#[path = "gitops/voices.rs"]
mod voices;

/// Which test tells which scenario: the number, the file below `tests`, and the name of the test.
const TOLD: &[(&str, &str, &str)] = &[
    ("S-001", "gitops/flows.rs", "s_001_a_source_is_added"),
    ("S-001", "gitops/flows.rs", "s_001_a_source_is_added_to_a_repository"),
    ("S-001b", "gitops/flows.rs", "s_001b_a_credential_comes_later"),
    ("S-002", "gitops/flows.rs", "s_002_a_catalog_is_changed"),
    ("S-002", "gitops/flows.rs", "s_002_a_catalog_is_changed_in_a_repository"),
    ("S-002b", "gitops/flows.rs", "s_002b_a_commit_is_about_something_else"),
    ("S-002b", "gitops/flows.rs", "s_002b_a_commit_is_about_something_else_in_the_repository"),
    ("S-002b", "gitops/sources.rs", "s_002b_a_commit_about_another_directory"),
    ("S-003", "gitops/flows.rs", "s_003_a_source_is_removed"),
    ("S-003", "gitops/flows.rs", "s_003_a_source_is_removed_from_a_repository"),
    ("S-003b", "gitops/flows.rs", "s_003b_the_stack_is_deleted"),
    ("S-003c", "gitops/flows.rs", "s_003c_deletion_fails_midway"),
    ("S-004", "gitops/flows.rs", "s_004_a_backfill_is_asked_for_and_ends"),
    ("S-004", "gitops/flows.rs", "s_004_a_backfill_is_asked_for_and_ends_in_a_repository"),
    ("S-004b", "gitops/flows.rs", "s_004_a_backfill_is_asked_for_and_ends"),
    ("S-004c", "gitops/flows.rs", "s_004c_a_reset_fails"),
    ("S-005", "gitops/stable.rs", "s_005_stable_means_quiet"),
    ("S-005", "gitops/sources.rs", "s_005_a_repository_with_nothing_new_means_quiet"),
    ("S-101", "gitops/sources.rs", "s_101_what_cannot_be_read_is_mended_by_a_push"),
    ("S-102", "gitops/reactions.rs", "s_102_a_commit_comes_while_another_is_planned"),
    ("S-103", "gitops/flux.rs", "s_103_the_source_is_asked_before_a_run_is_tried_again"),
    ("S-104", "gitops/flux.rs", "s_104_another_digest_is_something_new"),
    ("S-105", "gitops/reactions.rs", "s_105_what_fails_again_is_tried_ever_less_often"),
    ("S-106", "gitops/reactions.rs", "s_106_what_is_wrong_is_told_as_validate_tells_it"),
    ("S-201", "operator/tickets.rs", "s201_what_is_there_already_is_not_made_again"),
    ("S-202", "operator/tickets.rs", "s202_orphans_are_reported_and_deleted_when_somebody_agrees"),
    ("S-203", "operator/tickets.rs", "s203_a_lost_answer_makes_no_second_object"),
    ("S-301", "operator/writers.rs", "s301_a_module_that_an_operator_owns_is_left_to_it"),
    ("S-302", "operator/writers.rs", "s302_two_real_writers"),
    ("S-303", "operator/writers.rs", "s303_other_states_are_refused"),
    ("S-304", "operator/tickets.rs", "s304_what_is_gone_is_made_again_in_order"),
    ("S-305", "operator/writers.rs", "s305_a_state_that_is_lost_is_restored_or_agreed_to"),
    ("S-306", "gitops/sources.rs", "s_306_a_state_in_the_repository_is_not_used"),
    ("S-401", "gitops/secrets.rs", "s_401_a_secret_is_rotated"),
    ("S-402", "gitops/secrets.rs", "s_402_other_ways_in"),
    ("S-403", "gitops/secrets.rs", "s_401_a_secret_is_rotated"),
    ("S-404", "gitops/secrets.rs", "s_404_what_does_not_matter_changes"),
    ("S-501", "gitops/faults.rs", "s_501_killed_in_the_middle"),
    ("S-502", "gitops/faults.rs", "s_502_handed_over_in_the_middle"),
    ("S-503", "operator/faults.rs", "an_api_server_that_goes_and_comes_loses_nothing"),
    ("S-504", "../../backends/tests/kubernetes.rs", "a_state_in_several_secrets_is_terraforms"),
    ("S-505", "gitops/load.rs", "s_505_many_stacks_have_one_secret"),
    ("S-505", "gitops/load.rs", "s_505_many_stacks_have_one_repository"),
];

/// Every scenario is told, and every test that is named is there.
#[test]
fn every_scenario_is_told() {
    let wanted = [
        "001", "001", "001b", "002", "002", "002b", "002b", "002b", "003", "003", "003b", "003c", "004", "004", "004b",
        "004c", "005", "005", "101", "102", "103", "104", "105", "106", "201", "202", "203", "301", "302", "303",
        "304", "305", "306", "401", "402", "403", "404", "501", "502", "503", "504", "505", "505",
    ];
    let told: Vec<&str> = TOLD.iter().map(|(number, ..)| number.trim_start_matches("S-")).collect();
    assert_eq!(told, wanted);
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for (number, file, test) in TOLD {
        let text = std::fs::read_to_string(tests.join(file)).unwrap();
        let is_test = text.contains(&format!("#[test]\nfn {test}()"));
        assert!(is_test, "{number}: {file} has no test {test}");
    }
}
