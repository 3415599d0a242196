//! Who may connect to whom, where the network of a cluster heeds it. The operator itself keeps connections that it makes for Stacks away from
//! addresses that are none of their business (`crate::work::networks`); pods of Jobs may start any program, so only the network can.

use serde_json::{Value as Json, json};

use super::METRICS_PORT;
use super::deployment::labels;
use super::rights::OPERATOR;
use crate::api::names;

/// The name of the policy for pods of Jobs.
const RUNS: &str = "groma-runs";

/// Everywhere but where machines get their credentials. Names are looked up wherever that is: on some clusters, next to those.
fn outwards() -> Json {
    let dns = json!({"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]});
    let old = json!({"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.0.0/16", "100.100.100.200/32"]}}]});
    let new = json!({"to": [{"ipBlock": {"cidr": "::/0", "except": ["fe80::/10", "fd00:ec2::254/128"]}}]});
    json!([dns, old, new])
}

/// The operator is asked for its metrics, and for nothing else.
pub(super) fn operator(namespace: &str) -> Json {
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": OPERATOR, "namespace": namespace, "labels": labels()},
        "spec": {
            "podSelector": {"matchLabels": labels()},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"ports": [{"protocol": "TCP", "port": METRICS_PORT}]}],
            "egress": outwards(),
        },
    })
}

/// Pods of Jobs are asked for nothing. It is for whoever has a namespace to say where its runs may connect to, so it is in none by itself.
pub(super) fn runs() -> Json {
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": RUNS, "labels": {"app.kubernetes.io/name": "groma"}},
        "spec": {
            // Whatever else a Stack says about its pods, it cannot take that label away.
            "podSelector": {"matchExpressions": [{"key": names::RUN, "operator": "Exists"}]},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [],
            "egress": outwards(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the network keeps runs in pods away from, the operator keeps its own away from by itself.
    #[test]
    fn both_keep_away_from_the_same() {
        let ours = crate::work::networks::networks(&[], Vec::new(), None);
        let mut blocks = 0;
        for rule in outwards().as_array().unwrap() {
            for except in rule["to"][0]["ipBlock"]["except"].as_array().into_iter().flatten() {
                let (address, _) = except.as_str().unwrap().split_once('/').unwrap();
                assert!(ours.check(address.parse().unwrap()).is_err(), "{except}");
                blocks += 1;
            }
        }
        assert_eq!(blocks, 4);
    }
}
