//! Whether somebody has to agree to a plan: rules by what is done, to which types and addresses.

use groma_run::engine::plan::listing::fits as matches;

use crate::api::stack::{Approval, ApprovalMode, ApprovalRule};
use crate::work::PlannedChange;

/// The changes that somebody has to agree to. None of them: nobody has to.
pub(super) fn to_agree_to<'c>(approval: &Approval, changes: &'c [PlannedChange]) -> Vec<&'c PlannedChange> {
    let manual = |change: &&PlannedChange| {
        let rule = approval.rules.iter().find(|rule| fits(rule, change));
        rule.map_or(approval.mode, |rule| rule.mode) == ApprovalMode::Manual
    };
    changes.iter().filter(manual).collect()
}

fn fits(rule: &ApprovalRule, change: &PlannedChange) -> bool {
    let any =
        |patterns: &[String], text: &str| patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, text));
    (rule.actions.is_empty() || rule.actions.contains(&change.action))
        && any(&rule.types, &change.kind)
        && any(&rule.addresses, &change.address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::stack::ChangeAction;

    fn change(address: &str, kind: &str, action: ChangeAction) -> PlannedChange {
        PlannedChange { address: address.to_owned(), kind: kind.to_owned(), action }
    }

    fn approval(json: serde_json::Value) -> Approval {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn one_change_that_must_be_agreed_to_is_enough() {
        let approval = approval(serde_json::json!({
            "mode": "auto",
            "rules": [
                {"actions": ["delete", "replace"], "types": ["aws_db_*"], "mode": "manual"},
                {"addresses": ["module.network.*"], "mode": "manual"},
            ],
        }));
        let changes = [
            change("aws_db_instance.main", "aws_db_instance", ChangeAction::Update),
            change("aws_db_instance.old", "aws_db_instance", ChangeAction::Delete),
            change("aws_s3_bucket.logs", "aws_s3_bucket", ChangeAction::Delete),
            change("module.network.aws_vpc.main", "aws_vpc", ChangeAction::Create),
        ];
        let asked: Vec<&str> =
            to_agree_to(&approval, &changes).into_iter().map(|change| change.address.as_str()).collect();
        assert_eq!(asked, ["aws_db_instance.old", "module.network.aws_vpc.main"]);
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let approval = approval(serde_json::json!({
            "mode": "manual",
            "rules": [{"types": ["null_resource"], "mode": "auto"}, {"actions": ["create"], "mode": "manual"}],
        }));
        let changes = [change("null_resource.a", "null_resource", ChangeAction::Create)];
        assert!(to_agree_to(&approval, &changes).is_empty());
    }
}
