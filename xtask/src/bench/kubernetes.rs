//! Objects of a real API server: groma's provider beside the kubectl provider under OpenTofu, on the same objects.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::report::{Bar, note};
use super::sample::{Job, Sample, take};
use super::{Bench, Tool};
use crate::cluster::{self, ApiServer};

/// How many objects.
const COUNT: usize = 1_000;

/// What is measured, in this order.
const STAGES: [(&str, &[&str]); 3] = [
    ("plan", &["plan", "-input=false"]),
    ("apply", &["apply", "-auto-approve", "-input=false"]),
    ("second plan", &["plan", "-input=false"]),
];

/// How many times faster the three stages together must be.
const FASTER: f64 = 3.0;

/// How many requests a second plan may make for each object.
const REQUESTS: f64 = 2.0;

impl Bench<'_> {
    /// A thousand objects in one apply: time, memory, and what the API server was asked.
    pub(super) fn kubernetes(&mut self) -> Result<()> {
        let case = format!("{COUNT} ConfigMaps");
        if !self.wanted(&case) {
            return Ok(());
        }
        let server = cluster::api_server(&self.scratch.join("kubernetes"))?;
        let kubeconfig = server.kubeconfig();
        let ours = self.object_stages(&server, Tool::Groma, &groma_config(&kubeconfig), &[])?;
        let plugins = [("kubectl", "provider-kubectl")];
        let theirs = self.object_stages(&server, Tool::Tofu, &kubectl_config(&kubeconfig), &plugins)?;
        for (at, (stage, _)) in STAGES.iter().enumerate() {
            let name = format!("{stage}, {case}");
            self.table.row(&name, "groma", &ours[at].sample);
            self.table.row(&name, "tofu, kubectl", &theirs[at].sample);
            let asked = |stages: &[Stage]| stages[at].requests / COUNT as f64;
            note(&format!("{name}: {:.2} requests per object (kubectl: {:.2})", asked(&ours), asked(&theirs)));
        }
        let total = |stages: &[Stage]| stages.iter().map(|stage| stage.sample.median().as_secs_f64()).sum::<f64>();
        let name = format!("plan, apply and second plan, {case}: tofu, kubectl / groma");
        self.table.bar(Bar::at_least(&name, total(&theirs) / total(&ours), FASTER));
        let asked = ours.last().map_or(f64::NAN, |last| last.requests / COUNT as f64);
        self.table.bar(Bar::at_most(&format!("requests of a second plan per object, {case}"), asked, REQUESTS));
        let documents = ours.iter().map(|stage| stage.documents).sum::<f64>() / COUNT as f64;
        self.table.bar(Bar::at_most(&format!("OpenAPI documents per object, {case}"), documents, 0.01));
        Ok(())
    }

    /// The stages of one tool. The objects are gone afterwards.
    fn object_stages(
        &self,
        server: &ApiServer,
        tool: Tool,
        config: &str,
        plugins: &[(&str, &str)],
    ) -> Result<Vec<Stage>> {
        let dir = self.initialised("kubernetes-objects", tool, config, plugins)?;
        let program = self.program(tool).to_owned();
        let stages = STAGES.iter().map(|(_, arguments)| Stage::take(server, &program, &dir, arguments));
        let stages: Vec<Stage> = stages.collect::<Result<_>>()?;
        let destroy = Job { program: &program, dir: &dir, arguments: &["destroy", "-auto-approve"], input: "" };
        take(&destroy, 1)?;
        Ok(stages)
    }
}

/// What one stage took.
struct Stage {
    sample: Sample,
    /// Requests of all kinds.
    requests: f64,
    /// Requests for documents about the API.
    documents: f64,
}

impl Stage {
    fn take(server: &ApiServer, program: &Path, dir: &Path, arguments: &[&str]) -> Result<Self> {
        let before = Asked::now(server)?;
        let sample = take(&Job { program, dir, arguments, input: "" }, 1)?;
        let after = Asked::now(server)?;
        Ok(Self { sample, requests: after.objects - before.objects, documents: after.documents - before.documents })
    }
}

/// What the API server was asked since it runs.
struct Asked {
    objects: f64,
    documents: f64,
}

impl Asked {
    fn now(server: &ApiServer) -> Result<Self> {
        let text = server.metrics().context("the API server does not say what it was asked")?;
        let sum = |wanted: &dyn Fn(&str) -> bool| {
            let lines = text.lines().filter(|line| line.starts_with("apiserver_request_total{") && wanted(line));
            lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum::<f64>()
        };
        // Which cluster it is, is asked once, whatever there is in it.
        let objects = sum(&|line| line.contains("resource=\"configmaps\""));
        let documents = sum(&|line| line.contains("subresource=\"/openapi") || line.contains("/openapi/v"));
        Ok(Self { objects, documents })
    }
}

fn groma_config(kubeconfig: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    k8sconnect = {{ source = \"jmorris0x0/k8sconnect\" }}\n  }}\n}}\n\n\
         provider \"k8sconnect\" {{\n  cluster = {{ kubeconfig_path = \"{kubeconfig}\" }}\n}}\n\n\
         resource \"k8sconnect_object\" \"many\" {{\n  count = {COUNT}\n  yaml_body = {}\n}}\n",
        object("ours")
    )
}

fn kubectl_config(kubeconfig: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    kubectl = {{ source = \"example.com/peers/kubectl\" }}\n  }}\n}}\n\n\
         provider \"kubectl\" {{\n  config_path = \"{kubeconfig}\"\n}}\n\n\
         resource \"kubectl_manifest\" \"many\" {{\n  count = {COUNT}\n  yaml_body = {}\n}}\n",
        object("theirs")
    )
}

/// A small object, one of many.
fn object(name: &str) -> String {
    format!(
        "<<-EOT\n    apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      name: {name}-${{count.index}}\n      \
         namespace: default\n    data:\n      number: \"${{count.index}}\"\n      app.conf: hello\n  EOT"
    )
}
