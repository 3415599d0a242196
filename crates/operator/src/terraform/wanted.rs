//! The Stack that an object of tofu-controller asks for, field by field; what is wrong with it, and what of it we do not have. A function of the
//! object and of nothing else.

mod pods;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

use groma_run::backend::written_backend;
use kube::CustomResourceExt as _;
use kube::api::ObjectMeta;
use serde_json::{Value as Json, json};

use super::stack_name;
use crate::api::names;
use crate::api::shared::{AnyValue, HolderKind, KeyRef, Length, ObjectRef};
use crate::api::source::{FluxKind, FluxSource, Source};
use crate::api::stack::{
    Approval, ApprovalMode, Backend, DeletionPolicy, HealthCheck, InputFile, Inputs, OutputTarget, Outputs, PlanCopy,
    ReadablePlan, Retry, Stack, StackSpec, StateName, TemplatedValue, ValueFrom, VarsFrom,
};
use crate::api::terraform::{self, Terraform, TerraformSpec};
use crate::api::webhook::{FailurePolicy, Webhook, WebhookPayload, WebhookStage};
use crate::objects::owned_by;
use crate::template::placeholders::{Part, parts};

/// How long it is waited after a failure.
const RETRY: Length = Length::seconds(15);
/// And at most, if the pauses grow.
const MOST_RETRY: Length = Length::seconds(24 * 3600);
/// The group of the sources.
const SOURCES: &str = "source.toolkit.fluxcd.io/";

/// Something that is wrong with an object, or that cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// In one word, as conditions have it.
    pub reason: &'static str,
    /// The field.
    pub field: String,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.what)
    }
}

/// What an object asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// As a Stack.
    pub stack: Stack,
    /// What it asks for and does not get, and that does no harm: everything else is as it asks for.
    pub unsupported: Vec<Problem>,
    /// What is otherwise than with tofu-controller, for those who come from there.
    pub differences: Vec<Problem>,
}

/// What holds for all objects.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// Whether they may refer to objects of other namespaces.
    pub across_namespaces: bool,
}

/// The Stack that an object asks for; or everything that is wrong with it.
pub fn wanted(object: &Terraform, rules: Rules) -> Result<Wanted, Vec<Problem>> {
    let mut translating = Translating::new(object, rules);
    let spec = translating.stack_spec();
    let Translating { problems, unsupported, differences, .. } = translating;
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut stack = Stack::new("", spec);
    stack.metadata = metadata(object);
    Ok(Wanted { stack, unsupported, differences })
}

/// The same Stack, which plans and does nothing else: nothing is locked, and nothing is written beside it.
pub fn on_trial(mut wanted: Wanted) -> Wanted {
    let spec = &mut wanted.stack.spec;
    spec.suspend = false;
    spec.plan_only = true;
    spec.plan_unlocked = true;
    spec.plan_copy = None;
    spec.outputs = Outputs::default();
    spec.health_checks.clear();
    spec.webhooks.clear();
    spec.depends_on.clear();
    spec.deletion_policy = DeletionPolicy::Retain;
    wanted
}

fn metadata(object: &Terraform) -> ObjectMeta {
    let name = object.metadata.name.clone().unwrap_or_default();
    let stack = stack_name(&name);
    // Values of labels are short.
    let label = if name.len() > 63 { stack.clone() } else { name.clone() };
    ObjectMeta {
        name: Some(stack),
        namespace: object.metadata.namespace.clone(),
        labels: Some(BTreeMap::from([(names::TERRAFORM.to_owned(), label)])),
        owner_references: Some(vec![owned_by(object)]),
        ..ObjectMeta::default()
    }
}

/// What asks for a run, as it stands on a Stack.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// Another value asks for a run.
    pub token: Option<String>,
    /// The `replan` that has done so, for as long as it stands there.
    pub replan: Option<String>,
}

impl Asked {
    /// As it stands there.
    pub fn of(stack: &Stack) -> Self {
        let notes = stack.metadata.annotations.as_ref();
        let note = |name: &str| notes.and_then(|notes| notes.get(name)).cloned();
        Self { token: note(names::FLUX_REQUESTED_AT), replan: note(names::REPLAN) }
    }

    /// Writes it there.
    pub fn put(self, stack: &mut Stack) {
        let notes = stack.metadata.annotations.get_or_insert_default();
        for (name, value) in [(names::FLUX_REQUESTED_AT, self.token), (names::REPLAN, self.replan)] {
            match value {
                Some(value) => notes.insert(name.to_owned(), value),
                None => notes.remove(name),
            };
        }
        if notes.is_empty() {
            stack.metadata.annotations = None;
        }
    }
}

/// What asks for a run, after what did so before: the annotation of the object, when it is another one; and `replan`, once for each time that
/// it is written. Whatever else is written meanwhile asks for nothing, and neither does taking either away.
pub fn asked(object: &Terraform, before: Asked) -> Asked {
    let of_flux = flux_request(object);
    let token = match of_flux {
        Some(asked) if !is_for(before.token.as_deref(), asked) => Some(asked.to_owned()),
        _ => before.token,
    };
    let stands = object.spec.approve_plan.as_deref().filter(|approve| approve.starts_with("replan"));
    let Some(replan) = stands else { return Asked { token, replan: None } };
    if before.replan.as_deref() == Some(replan) {
        return Asked { token, replan: before.replan };
    }
    let pending = object.status.as_ref().and_then(|status| status.plan.as_ref()?.pending.as_ref());
    if !pending.is_none_or(|pending| format!("re{pending}").starts_with(replan)) {
        return Asked { token, replan: None };
    }
    let times = format!("{replan}@{}", object.metadata.generation.unwrap_or_default());
    let token = of_flux.map_or_else(|| times.clone(), |asked| format!("{asked} {times}"));
    Asked { token: Some(token), replan: Some(replan.to_owned()) }
}

/// What Flux and its tools ask for a run with.
pub fn flux_request(object: &Terraform) -> Option<&str> {
    object.metadata.annotations.as_ref()?.get(names::FLUX_REQUESTED_AT).map(String::as_str)
}

/// Whether something asks for a run because of this annotation, and maybe of a `replan` besides.
pub fn is_for(token: Option<&str>, of_flux: &str) -> bool {
    let rest = token.and_then(|token| token.strip_prefix(of_flux));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" replan"))
}

struct Translating<'a> {
    object: &'a Terraform,
    spec: &'a TerraformSpec,
    rules: Rules,
    problems: Vec<Problem>,
    unsupported: Vec<Problem>,
    differences: Vec<Problem>,
}

impl<'a> Translating<'a> {
    fn new(object: &'a Terraform, rules: Rules) -> Self {
        let (problems, unsupported, differences) = (Vec::new(), Vec::new(), Vec::new());
        Self { object, spec: &object.spec, rules, problems, unsupported, differences }
    }

    fn wrong(&mut self, field: impl Into<String>, what: impl Into<String>) {
        self.problems.push(Problem { reason: "InvalidSpec", field: field.into(), what: what.into() });
    }

    fn denied(&mut self, field: impl Into<String>, what: impl Into<String>) {
        self.problems.push(Problem { reason: "AccessDenied", field: field.into(), what: what.into() });
    }

    fn cannot(&mut self, field: impl Into<String>, what: impl Into<String>) {
        self.problems.push(Problem { reason: "Unsupported", field: field.into(), what: what.into() });
    }

    fn lacks(&mut self, field: impl Into<String>, what: impl Into<String>) {
        self.unsupported.push(Problem { reason: "Unsupported", field: field.into(), what: what.into() });
    }

    fn differs(&mut self, field: impl Into<String>, what: impl Into<String>) {
        self.differences.push(Problem { reason: "Different", field: field.into(), what: what.into() });
    }

    fn name(&self) -> String {
        self.object.metadata.name.clone().unwrap_or_default()
    }

    fn stack_spec(&mut self) -> StackSpec {
        let spec = self.spec;
        self.other_fields();
        let workspace = spec.workspace.clone().filter(|name| !name.is_empty() && name != "default");
        let (backend, state) = self.backend();
        let mut inputs = self.inputs();
        let pods = self.pods(&mut inputs);
        let limit = spec.remediation.as_ref().and_then(|remediation| remediation.retries);
        StackSpec {
            source: Source { flux: self.source(), ..Source::default() },
            path: spec.path.clone().unwrap_or_default().trim_start_matches("./").to_owned(),
            inputs,
            executor: pods.executor,
            pod_template: pods.template,
            service_account_name: spec.service_account_name.clone(),
            approval: Approval { mode: self.approval(), rules: Vec::new() },
            plan_only: spec.plan_only || spec.approve_plan.as_deref() == Some("disable"),
            destroy: spec.destroy,
            interval: self.length("spec.interval", Some(&spec.interval)),
            retry: Retry {
                limit: limit.and_then(|limit| u32::try_from(limit).ok()).filter(|limit| *limit > 0),
                ..self.retry()
            },
            deletion_policy: if spec.destroy_resources_on_deletion {
                DeletionPolicy::Destroy
            } else {
                DeletionPolicy::Retain
            },
            depends_on: self.depends_on(),
            outputs: Outputs { secret: spec.write_outputs_to_secret.as_ref().map(outputs), ..Outputs::default() },
            health_checks: self.health_checks(),
            webhooks: self.webhooks(),
            suspend: spec.suspend,
            targets: spec.targets.clone(),
            plan_copy: Some(self.plan_copy(workspace.as_deref().unwrap_or("default"))),
            plan_unlocked: spec.plan.as_ref().and_then(|plan| plan.lock) == Some(false),
            workspace,
            backend,
            state,
            parallelism: spec.parallelism.and_then(|most| u32::try_from(most).ok()).filter(|most| *most > 0),
            ..StackSpec::default()
        }
    }

    fn length(&mut self, field: &str, text: Option<&String>) -> Option<Length> {
        match Length::parse(text?) {
            Ok(length) => Some(length),
            Err(problem) => {
                self.wrong(field, problem.to_string());
                None
            }
        }
    }

    /// Fields that are not translated into anything.
    fn other_fields(&mut self) {
        let spec = self.spec;
        if spec.cloud.is_some() {
            self.cannot(
                "spec.cloud",
                "a state in HCP Terraform cannot be used: move it, and say where it is in spec.backendConfig",
            );
        }
        if spec.break_the_glass {
            self.lacks(
                "spec.breakTheGlass",
                "there is no shell in runs; \"groma stack describe\" and \"groma stack logs\" tell what happens",
            );
        }
        if spec.enterprise.is_some() {
            self.lacks("spec.enterprise", "it has no meaning");
        }
        if spec.branch_planner.is_some() {
            self.lacks(
                "spec.branchPlanner",
                "plans of pull requests are made for Stacks with spec.source.git.pullRequests",
            );
        }
        if spec.cli_config_secret_ref.is_some() {
            self.lacks("spec.cliConfigSecretRef", "settings of the command line are those of the operator; tokens can be given as TF_TOKEN_<host> in spec.runnerPodTemplate.spec.env");
        }
        if spec.upgrade_on_init != Some(false) {
            self.differs(
                "spec.upgradeOnInit",
                "what the lock file of the configuration says holds, and newer versions are not looked for",
            );
        }
        if spec.refresh_before_apply {
            self.differs(
                "spec.refreshBeforeApply",
                "what is there is looked at when the plan is made, and a plan that is not right any more is refused",
            );
        }
        if spec.always_cleanup_runner_pod == Some(false) {
            self.differs("spec.alwaysCleanupRunnerPod", "pods are there for one run each");
        }
        if !matches!(spec.approve_plan.as_deref(), None | Some("auto" | "disable" | "")) {
            self.differs("spec.approvePlan", "only the whole id of a plan agrees to it");
        }
        let lock_timeout = spec.tfstate.as_ref().and_then(|state| state.lock_timeout.as_ref());
        if self.length("spec.tfstate.lockTimeout", lock_timeout).is_some_and(|length| !length.0.is_zero()) {
            self.differs("spec.tfstate.lockTimeout", "it is waited for locks whose holders are known to be at work, whatever the time; others are tried again after spec.retryInterval");
        }
        let unlock = spec.tfstate.as_ref().and_then(|state| state.force_unlock.as_deref());
        if !matches!(unlock, None | Some("" | "yes" | "no" | "auto")) {
            self.wrong(
                "spec.tfstate.forceUnlock",
                format!("{:?} is none of yes, no and auto", unlock.unwrap_or_default()),
            );
        }
        if spec.remediation.as_ref().is_some_and(|remediation| remediation.retries.unwrap_or_default() == 0) {
            self.differs(
                "spec.remediation",
                "without a number of retries there is no limit; with tofu-controller nothing would ever run",
            );
        }
    }

    fn source(&mut self) -> Option<FluxSource> {
        let given = &self.spec.source_ref;
        if let Some(version) =
            given.api_version.as_ref().filter(|version| !version.is_empty() && !version.starts_with(SOURCES))
        {
            self.wrong(
                "spec.sourceRef.apiVersion",
                format!("{version:?} is no version of {}", SOURCES.trim_end_matches('/')),
            );
        }
        let kind = match given.kind.as_str() {
            "GitRepository" => FluxKind::GitRepository,
            "OCIRepository" => FluxKind::OciRepository,
            "Bucket" => FluxKind::Bucket,
            other => {
                self.wrong(
                    "spec.sourceRef.kind",
                    format!("{other:?} is none of GitRepository, OCIRepository and Bucket"),
                );
                return None;
            }
        };
        let namespace = self.other_namespace("spec.sourceRef.namespace", given.namespace.as_ref());
        Some(FluxSource { kind, name: given.name.clone(), namespace })
    }

    /// A namespace, if it is another one.
    fn other_namespace(&mut self, field: &str, given: Option<&String>) -> Option<String> {
        let own = self.object.metadata.namespace.as_ref();
        let other = given.filter(|given| !given.is_empty() && Some(*given) != own)?;
        if !self.rules.across_namespaces {
            self.denied(
                field,
                format!("{other:?} is another namespace, and the operator does not allow references to those"),
            );
        }
        Some(other.clone())
    }

    fn approval(&self) -> ApprovalMode {
        let is_auto = self.spec.approve_plan.as_deref() == Some("auto");
        if is_auto || self.spec.force { ApprovalMode::Auto } else { ApprovalMode::Manual }
    }

    fn retry(&mut self) -> Retry {
        let spec = self.spec;
        let interval = self.length("spec.retryInterval", spec.retry_interval.as_ref());
        let most = self.length("spec.maxRetryInterval", spec.max_retry_interval.as_ref());
        let max_interval = match spec.retry_strategy.as_deref() {
            // Pauses that cannot grow are always the same.
            None | Some("" | "StaticInterval") => interval.unwrap_or(RETRY),
            Some("ExponentialBackoff") => most.unwrap_or(MOST_RETRY),
            Some(other) => {
                self.wrong("spec.retryStrategy", format!("{other:?} is neither StaticInterval nor ExponentialBackoff"));
                MOST_RETRY
            }
        };
        Retry { interval: Some(interval.unwrap_or(RETRY)), max_interval: Some(max_interval), limit: None }
    }

    fn backend(&mut self) -> (Option<Backend>, Option<StateName>) {
        let given = self.spec.backend_config.clone().unwrap_or_default();
        let suffix = given.secret_suffix.clone().filter(|suffix| !suffix.is_empty()).unwrap_or_else(|| self.name());
        let config_from = self.backend_configs_from();
        if let Some(text) = given.custom_configuration.as_ref().filter(|text| !text.trim().is_empty()) {
            return match written_backend(text) {
                Ok(written) => {
                    let config = written.config.into_iter().map(|(name, value)| (name, AnyValue(value))).collect();
                    (Some(Backend { kind: written.kind, config, config_from }), None)
                }
                Err(problems) => {
                    for problem in problems {
                        self.wrong("spec.backendConfig.customConfiguration", problem);
                    }
                    (None, None)
                }
            };
        }
        if given.disable {
            self.cannot("spec.backendConfig.disable", "the state is never only where the configuration says: copy its backend block into spec.backendConfig.customConfiguration, and leave this out");
        }
        if given.config_path.as_ref().is_some_and(|path| !path.is_empty()) {
            self.cannot("spec.backendConfig.configPath", "states are kept in the cluster of the operator: say how to reach another one in spec.backendConfig.customConfiguration");
        }
        if config_from.is_empty() {
            return (None, Some(StateName { suffix: Some(suffix), labels: given.labels }));
        }
        let namespace = self.object.metadata.namespace.clone().unwrap_or_default();
        let mut config = BTreeMap::from([
            ("secret_suffix".to_owned(), AnyValue(Json::String(suffix))),
            ("namespace".to_owned(), AnyValue(Json::String(namespace))),
            (
                "in_cluster_config".to_owned(),
                AnyValue(Json::Bool(self.spec.backend_config.is_none() || given.in_cluster_config)),
            ),
        ]);
        if !given.labels.is_empty() {
            config.insert("labels".to_owned(), AnyValue(json!(given.labels)));
        }
        (Some(Backend { kind: "kubernetes".to_owned(), config, config_from }), None)
    }

    fn holder_kind(&mut self, field: String, kind: &str) -> Option<HolderKind> {
        match kind {
            "Secret" => Some(HolderKind::Secret),
            "ConfigMap" => Some(HolderKind::ConfigMap),
            other => {
                self.wrong(field, format!("{other:?} is neither Secret nor ConfigMap"));
                None
            }
        }
    }

    fn backend_configs_from(&mut self) -> Vec<VarsFrom> {
        let mut found = Vec::new();
        for (at, from) in self.spec.backend_configs_from.iter().enumerate() {
            let kind = self.holder_kind(format!("spec.backendConfigsFrom[{at}].kind"), &from.kind);
            found.extend(kind.map(|kind| VarsFrom {
                kind,
                name: from.name.clone(),
                keys: from.keys.clone(),
                optional: from.optional,
            }));
        }
        found
    }

    fn inputs(&mut self) -> Inputs {
        let spec = self.spec;
        let mut inputs = Inputs { var_files: spec.tf_vars_files.clone(), var_files_win: true, ..Inputs::default() };
        inputs.var_files_win = !inputs.var_files.is_empty();
        self.values(&mut inputs);
        for (at, variable) in spec.vars.iter().enumerate() {
            match (&variable.value, &variable.value_from) {
                (Some(value), _) => {
                    inputs.values.insert(variable.name.clone(), value.clone());
                }
                (None, Some(from)) => self.value_from(at, &variable.name, &from.0, &mut inputs),
                (None, None) => {
                    self.wrong(format!("spec.vars[{at}]"), format!("the variable {:?} has no value", variable.name));
                }
            }
        }
        for (at, from) in spec.vars_from.iter().enumerate() {
            let field = format!("spec.varsFrom[{at}]");
            for text in &from.vars_keys {
                let halves: Vec<&str> = text.split(':').collect();
                if halves.len() > 2 || halves.iter().any(|half| half.is_empty()) {
                    self.wrong(
                        format!("{field}.varsKeys"),
                        format!("{text:?} is neither \"key\" nor \"key:variable\""),
                    );
                }
            }
            if !from.vars_keys.is_empty() && from.kind == "Secret" {
                self.differs(
                    format!("{field}.varsKeys"),
                    "a key that is not there is an error; with tofu-controller it is an empty text",
                );
            }
            let kind = self.holder_kind(format!("{field}.kind"), &from.kind);
            inputs.vars_from.extend(kind.map(|kind| VarsFrom {
                kind,
                name: from.name.clone(),
                keys: from.vars_keys.clone(),
                optional: from.optional,
            }));
        }
        self.files(&mut inputs);
        inputs
    }

    fn values(&mut self, inputs: &mut Inputs) {
        let Some(values) = &self.spec.values else { return };
        if !values.0.to_string().contains("${{") {
            inputs.values.insert("values".to_owned(), values.clone());
            return;
        }
        let secrets = self.spec.read_inputs_from_secrets.iter().map(|from| (from.alias.clone(), from.name.clone()));
        inputs.templated.push(TemplatedValue {
            name: "values".to_owned(),
            value: values.clone(),
            secrets: secrets.collect(),
        });
    }

    fn value_from(&mut self, at: usize, name: &str, from: &Json, inputs: &mut Inputs) {
        let field = format!("spec.vars[{at}].valueFrom");
        let found = [("secretKeyRef", HolderKind::Secret), ("configMapKeyRef", HolderKind::ConfigMap)]
            .into_iter()
            .find_map(|(word, kind)| Some((kind, from.get(word)?)));
        let Some((kind, key)) = found else {
            return self.wrong(field, "give secretKeyRef or configMapKeyRef");
        };
        self.differs(field, "it is read; tofu-controller does not");
        let text = |name: &str| key.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let keys = vec![format!("{}:{name}", text("key"))];
        let optional = key.get("optional").and_then(Json::as_bool).unwrap_or_default();
        inputs.vars_from.push(VarsFrom { kind, name: text("name"), keys, optional });
    }

    fn files(&mut self, inputs: &mut Inputs) {
        for (at, file) in self.spec.file_mappings.iter().enumerate() {
            let field = format!("spec.fileMappings[{at}]");
            let key = KeyRef { name: file.secret_ref.name.clone(), key: file.secret_ref.key.clone(), optional: false };
            let value_from = ValueFrom { secret_key_ref: Some(key), config_map_key_ref: None };
            match file.location.as_str() {
                "workspace" => inputs.files.push(InputFile { path: file.path.clone(), value_from, phases: Vec::new() }),
                "home" => self.lacks(format!("{field}.location"), "runs have no home of their own: use workspace, or variables of the environment in spec.runnerPodTemplate.spec.env"),
                other => self.wrong(format!("{field}.location"), format!("{other:?} is neither home nor workspace")),
            }
        }
    }

    fn depends_on(&mut self) -> Vec<ObjectRef> {
        let mut found = Vec::new();
        for (at, needed) in self.spec.depends_on.iter().enumerate() {
            let namespace = self.other_namespace(&format!("spec.dependsOn[{at}].namespace"), needed.namespace.as_ref());
            found.push(ObjectRef { name: stack_name(&needed.name), namespace });
        }
        found
    }

    fn health_checks(&mut self) -> Vec<HealthCheck> {
        let mut found = Vec::new();
        for (at, check) in self.spec.health_checks.iter().enumerate() {
            let field = format!("spec.healthChecks[{at}]");
            let timeout = self.length(&format!("{field}.timeout"), check.timeout.as_ref());
            let (part, text) = match check.kind.as_str() {
                "tcp" => ("address", &check.address),
                "http" => ("url", &check.url),
                other => {
                    self.wrong(format!("{field}.type"), format!("{other:?} is neither tcp nor http"));
                    continue;
                }
            };
            let Some(text) = text.as_ref().filter(|text| !text.is_empty()) else {
                self.wrong(format!("{field}.{part}"), format!("checks of type {} need it", check.kind));
                continue;
            };
            let Some(text) = self.with_outputs(&format!("{field}.{part}"), text) else { continue };
            let (tcp, http) = if check.kind == "tcp" { (Some(text), None) } else { (None, Some(text)) };
            found.push(HealthCheck { name: check.name.clone(), tcp, http, timeout });
        }
        found
    }

    /// `${{ .key }}` is a key of the Secret with outputs; in Stacks, `${name}` is an output.
    fn with_outputs(&mut self, field: &str, text: &str) -> Option<String> {
        let renamed = self.spec.write_outputs_to_secret.iter().flat_map(|target| &target.outputs);
        let renamed: Vec<(&str, &str)> = renamed.filter_map(|text| text.split_once(':')).collect();
        let output =
            |key: &str| renamed.iter().find(|(_, alias)| *alias == key).map_or(key, |(name, _)| *name).to_owned();
        self.filled(field, text, |names| match names {
            [key] => Some(output(key)),
            _ => None,
        })
    }

    /// A text with `${name}` for `${{ .name }}`.
    fn filled(&mut self, field: &str, text: &str, name: impl Fn(&[String]) -> Option<String>) -> Option<String> {
        let parts = match parts(text) {
            Ok(parts) => parts,
            Err(problem) => {
                self.wrong(field, problem);
                return None;
            }
        };
        let mut filled = String::new();
        for part in parts {
            match part {
                Part::Text(text) => filled.push_str(&text),
                Part::Path(names) => {
                    let Some(name) = name(&names) else {
                        self.wrong(field, format!("{:?} names nothing that could stand there", names.join(".")));
                        return None;
                    };
                    filled.extend(["${", name.as_ref(), "}"]);
                }
            }
        }
        Some(filled)
    }

    fn webhooks(&mut self) -> Vec<Webhook> {
        let mut found = Vec::new();
        for (at, hook) in self.spec.webhooks.iter().enumerate() {
            let field = format!("spec.webhooks[{at}]");
            if hook.stage != "post-planning" {
                self.wrong(format!("{field}.stage"), format!("{:?} is not post-planning", hook.stage));
            }
            let payload = match hook.payload_type.as_deref() {
                None | Some("" | "SpecAndPlan") => WebhookPayload::SpecAndPlan,
                Some("SpecOnly") => WebhookPayload::SpecOnly,
                Some("PlanOnly") => WebhookPayload::PlanOnly,
                Some(other) => {
                    self.wrong(
                        format!("{field}.payloadType"),
                        format!("{other:?} is none of SpecAndPlan, SpecOnly and PlanOnly"),
                    );
                    continue;
                }
            };
            let Some(pass) = self.pass(&format!("{field}.testExpression"), &hook.test_expression) else { continue };
            let message = hook.error_message_template.as_ref().filter(|text| !text.is_empty());
            let message = message.and_then(|text| {
                self.filled(&format!("{field}.errorMessageTemplate"), text, |names| Some(names.join(".")))
            });
            self.differs(field, "it is sent the Stack and the plan as groma writes them, without what came from Secrets; what it answers must be true or false, and no word");
            found.push(Webhook {
                name: format!("webhook-{at}"),
                url: hook.url.clone(),
                stage: WebhookStage::PostPlanning,
                enabled: hook.enabled.unwrap_or(true),
                payload,
                timeout: None,
                retries: None,
                failure_policy: FailurePolicy::Fail,
                secret_ref: None,
                ca_from: None,
                client_certificate: None,
                pass: Some(pass),
                message,
            });
        }
        found
    }

    /// Where in an answer it stands whether a plan may pass.
    fn pass(&mut self, field: &str, text: &str) -> Option<String> {
        match parts(text.trim()).as_deref() {
            Ok([Part::Path(names)]) => Some(names.join(".")),
            Ok(_) => {
                self.wrong(field, "only the name of a field of the answer can stand there, such as \"${{ .passed }}\"");
                None
            }
            Err(problem) => {
                self.wrong(field, problem.clone());
                None
            }
        }
    }

    fn plan_copy(&mut self, workspace: &str) -> PlanCopy {
        let readable = match self.spec.store_readable_plan.as_deref() {
            None | Some("" | "none") => ReadablePlan::None,
            Some("human") => ReadablePlan::Human,
            Some("json") => ReadablePlan::Json,
            Some(other) => {
                self.wrong("spec.storeReadablePlan", format!("{other:?} is none of none, human and json"));
                ReadablePlan::None
            }
        };
        PlanCopy { name: format!("tfplan-{workspace}-{}", self.name()), of: self.name(), readable }
    }
}

fn outputs(target: &terraform::OutputsSecret) -> OutputTarget {
    OutputTarget {
        name: target.name.clone(),
        labels: target.labels.clone(),
        annotations: target.annotations.clone(),
        select: target.outputs.clone(),
    }
}

/// What a Stack says is wrong, in the words of the object that it was made of.
pub fn renamed(object: &Terraform, text: &str) -> String {
    const FIELDS: [(&str, &str); 9] = [
        ("spec.source.flux", "spec.sourceRef"),
        ("spec.source:", "spec.sourceRef:"),
        ("spec.backend.configFrom", "spec.backendConfigsFrom"),
        ("spec.inputs.files", "spec.fileMappings"),
        ("spec.inputs.envFrom", "spec.runnerPodTemplate.spec.envFrom"),
        ("spec.inputs.env", "spec.runnerPodTemplate.spec.env"),
        ("spec.inputs.templated[0]", "spec.values"),
        ("spec.inputs.varFiles", "spec.tfVarsFiles"),
        ("spec.outputs.secret", "spec.writeOutputsToSecret"),
    ];
    let mut text = text.to_owned();
    let before: Vec<(usize, &terraform::Variable)> =
        object.spec.vars.iter().enumerate().filter(|(_, variable)| variable.value.is_none()).collect();
    for (at, (own, _)) in before.iter().enumerate() {
        text = text.replace(&format!("spec.inputs.varsFrom[{at}]"), &format!("spec.vars[{own}].valueFrom"));
    }
    for own in 0..object.spec.vars_from.len() {
        let at = own + before.len();
        text = text.replace(&format!("spec.inputs.varsFrom[{at}]"), &format!("spec.varsFrom[{own}]"));
    }
    FIELDS.iter().fold(text, |text, (theirs, ours)| text.replace(theirs, ours))
}

/// Fields of `spec` that nobody here knows: a later version of the kind may have more.
pub fn unknown_fields(spec: &Json) -> Vec<Problem> {
    static KNOWN: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let definition = json!(Terraform::crd());
        let fields = definition.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties");
        fields.and_then(Json::as_object).into_iter().flat_map(|fields| fields.keys().cloned()).collect()
    });
    let given = spec.as_object().into_iter().flat_map(|fields| fields.keys());
    let unknown = given.filter(|name| !KNOWN.contains(*name));
    let problem = |name: &String| Problem {
        reason: "Unsupported",
        field: format!("spec.{name}"),
        what: "groma does not know this field".to_owned(),
    };
    unknown.map(problem).collect()
}
