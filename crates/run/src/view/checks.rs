//! What conditions said: the `checks` of plans and states.

use groma_engine::checks::{CheckReport, Checked, CheckedInstance};
use groma_model::address::{AbsInstance, AbsNamed, ConfigNamed, ConfigResource, InstanceKey};
use groma_state::{CheckKind, CheckResult, CheckStatus};
use serde_json::{Map, Value, json};

use super::change::mode_name;
use super::value::index;

/// The checks of a plan.
pub fn of_plan(reports: &[CheckReport]) -> Value {
    let entries = reports.iter().map(|report| {
        let instances = report.instances.iter().map(|instance| {
            let address = match &instance.address {
                CheckedInstance::Resource(address) => instance_address(address),
                CheckedInstance::Output(module, _)
                | CheckedInstance::Check(module, _)
                | CheckedInstance::Variable(module, _) => {
                    named_instance(&instance.address.to_string(), &module.to_string())
                }
            };
            instance_entry(address, instance.status, &instance.problems)
        });
        let address = match &report.subject {
            Checked::Resource(resource) => resource_address(resource),
            Checked::Output(module, name) | Checked::Check(module, name) | Checked::Variable(module, name) => {
                let module = module.to_string();
                named_address(report.subject.kind(), &report.subject.to_string(), &module, name)
            }
        };
        entry(address, report.status, instances.collect())
    });
    sorted(entries.collect())
}

/// The checks of a state.
pub fn of_state(results: &[CheckResult]) -> Value {
    let entries = results.iter().map(|result| {
        let instances = result.objects.iter().map(|object| {
            let address = match object.address.parse::<AbsInstance>() {
                Ok(address) if result.kind == CheckKind::Resource => instance_address(&address),
                _ => {
                    let module = object.address.parse::<AbsNamed>().map(|named| named.module.to_string());
                    named_instance(&object.address, &module.unwrap_or_default())
                }
            };
            instance_entry(address, object.status, &object.failures)
        });
        let text = &result.config_address;
        let address = match text.parse::<ConfigResource>() {
            Ok(resource) if result.kind == CheckKind::Resource => resource_address(&resource),
            _ => match text.parse::<ConfigNamed>() {
                Ok(named) => named_address(result.kind, text, &named.module.to_string(), &named.name),
                Err(_) => named_address(result.kind, text, "", text),
            },
        };
        entry(address, result.status, instances.collect())
    });
    sorted(entries.collect())
}

fn entry(address: Map<String, Value>, status: CheckStatus, instances: Vec<Value>) -> Value {
    let mut entry = Map::new();
    entry.insert("address".into(), address.into());
    entry.insert("status".into(), status_name(status).into());
    if !instances.is_empty() {
        entry.insert("instances".into(), sorted(instances));
    }
    entry.into()
}

fn instance_entry(address: Map<String, Value>, status: CheckStatus, problems: &[String]) -> Value {
    let mut entry = Map::new();
    entry.insert("address".into(), address.into());
    entry.insert("status".into(), status_name(status).into());
    if !problems.is_empty() {
        let mut problems: Vec<&String> = problems.iter().collect();
        problems.sort();
        let problems = problems.into_iter().map(|message| json!({ "message": message }));
        entry.insert("problems".into(), problems.collect());
    }
    entry.into()
}

fn resource_address(resource: &ConfigResource) -> Map<String, Value> {
    let mut address = Map::new();
    address.insert("kind".into(), "resource".into());
    address.insert("mode".into(), mode_name(resource.resource.mode).into());
    if !resource.module.is_root() {
        address.insert("module".into(), resource.module.to_string().into());
    }
    address.insert("name".into(), resource.resource.name.as_str().into());
    address.insert("to_display".into(), resource.to_string().into());
    address.insert("type".into(), resource.resource.ty.as_str().into());
    address
}

fn named_address(kind: CheckKind, text: &str, module: &str, name: &str) -> Map<String, Value> {
    let kind = match kind {
        CheckKind::Resource => "resource",
        CheckKind::Output => "output_value",
        CheckKind::Check => "check",
        CheckKind::Variable => "var",
    };
    let mut address = Map::new();
    address.insert("kind".into(), kind.into());
    if !module.is_empty() {
        address.insert("module".into(), module.into());
    }
    address.insert("name".into(), name.into());
    address.insert("to_display".into(), text.into());
    address
}

fn instance_address(instance: &AbsInstance) -> Map<String, Value> {
    let mut address = Map::new();
    if *instance.key() != InstanceKey::None {
        address.insert("instance_key".into(), index(instance.key()).unwrap_or_default());
    }
    if !instance.module.is_root() {
        address.insert("module".into(), instance.module.to_string().into());
    }
    address.insert("to_display".into(), instance.to_string().into());
    address
}

fn named_instance(text: &str, module: &str) -> Map<String, Value> {
    let mut address = Map::new();
    if !module.is_empty() {
        address.insert("module".into(), module.into());
    }
    address.insert("to_display".into(), text.into());
    address
}

/// By what their addresses look like.
fn sorted(mut entries: Vec<Value>) -> Value {
    entries.sort_by(|a, b| shown(a).cmp(shown(b)));
    entries.into()
}

fn shown(entry: &Value) -> &str {
    entry["address"]["to_display"].as_str().unwrap_or_default()
}

fn status_name(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
        CheckStatus::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use groma_engine::checks::InstanceReport;
    use groma_model::address::ModuleInstance;

    use super::*;

    fn reports() -> Vec<CheckReport> {
        let instance = |address: CheckedInstance, problems: &[&str]| InstanceReport {
            address,
            status: if problems.is_empty() { CheckStatus::Pass } else { CheckStatus::Fail },
            problems: problems.iter().map(|text| (*text).to_owned()).collect(),
        };
        let report = |instances: Vec<InstanceReport>| CheckReport {
            subject: instances[0].address.config(),
            status: CheckStatus::Fail,
            instances,
        };
        let resource = |text: &str| CheckedInstance::Resource(text.parse().unwrap());
        let module: ModuleInstance = "module.m[\"k\"]".parse().unwrap();
        vec![
            report(vec![instance(CheckedInstance::Output(module, "o".into()), &[])]),
            report(vec![instance(CheckedInstance::Check(ModuleInstance::root(), "c".into()), &["z", "a"])]),
            report(vec![
                instance(resource("module.m[\"k\"].t.n[1]"), &["no"]),
                instance(resource("module.m[\"k\"].t.n[0]"), &[]),
            ]),
        ]
    }

    #[test]
    fn plans_and_states_tell_the_same() {
        let of_plan = of_plan(&reports());
        let stored: Vec<CheckResult> = reports().iter().map(CheckReport::to_state).collect();
        assert_eq!(of_plan, of_state(&stored));
        let expected = json!([
            {
                "address": {"kind": "check", "name": "c", "to_display": "check.c"},
                "status": "fail",
                "instances": [{
                    "address": {"to_display": "check.c"}, "status": "fail",
                    "problems": [{"message": "a"}, {"message": "z"}],
                }],
            },
            {
                "address": {"kind": "output_value", "module": "module.m", "name": "o", "to_display": "module.m.output.o"},
                "status": "fail",
                "instances": [
                    {"address": {"module": "module.m[\"k\"]", "to_display": "module.m[\"k\"].output.o"}, "status": "pass"},
                ],
            },
            {
                "address": {
                    "kind": "resource", "mode": "managed", "module": "module.m", "name": "n",
                    "to_display": "module.m.t.n", "type": "t",
                },
                "status": "fail",
                "instances": [
                    {
                        "address": {"instance_key": 0, "module": "module.m[\"k\"]", "to_display": "module.m[\"k\"].t.n[0]"},
                        "status": "pass",
                    },
                    {
                        "address": {"instance_key": 1, "module": "module.m[\"k\"]", "to_display": "module.m[\"k\"].t.n[1]"},
                        "status": "fail", "problems": [{"message": "no"}],
                    },
                ],
            },
        ]);
        assert_eq!(of_plan, expected);
    }
}
