//! Configurations that benchmarks run on, generated so that every tool gets the same bytes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// One variable, one resource, one output.
pub(super) fn small_module(scratch: &Path) -> Result<PathBuf> {
    write(scratch, "small", &[("main.tf", SMALL.to_owned())])
}

const SMALL: &str = r#"variable "name" {
  type    = string
  default = "world"
}

resource "terraform_data" "greeting" {
  input = "hello, ${var.name}"
}

output "greeting" {
  value = terraform_data.greeting.output
}
"#;

/// Resources that have nothing to do with each other.
pub(super) fn independent(count: usize) -> String {
    format!("resource \"terraform_data\" \"a\" {{\n  count = {count}\n  input = \"value ${{count.index}}\"\n}}\n")
}

/// Twice as many, of which each second one refers to one of the first.
pub(super) fn chained(count: usize) -> String {
    let first = independent(count);
    format!(
        "{first}resource \"terraform_data\" \"b\" {{\n  count = {count}\n  input = terraform_data.a[count.index].output\n}}\n"
    )
}

/// A module of about `lines` lines: variables, locals, resources and outputs that refer to each
/// other as people write them, spread over files of 1,000 lines.
pub(super) fn large_module(scratch: &Path, lines: usize) -> Result<PathBuf> {
    let mut files = Vec::new();
    let mut unit = 0;
    let mut written = 0;
    while written < lines {
        let mut text = String::new();
        while text.lines().count() < 1000 && written + text.lines().count() < lines {
            write!(text, "{}", service(unit))?;
            unit += 1;
        }
        written += text.lines().count();
        files.push((format!("services_{:02}.tf", files.len()), text));
    }
    let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    write(scratch, "large", &files)
}

/// One service of the large module: 40 lines.
fn service(n: usize) -> String {
    format!(
        r#"variable "service_{n}" {{
  description = "Settings of service {n}"
  type = object({{
    name     = string
    replicas = optional(number, 2)
    labels   = optional(map(string), {{}})
  }})
  default = {{
    name = "service-{n}"
  }}

  validation {{
    condition     = length(var.service_{n}.name) > 3
    error_message = "The name of service {n} is too short: ${{var.service_{n}.name}}."
  }}
}}

locals {{
  labels_{n} = merge(var.service_{n}.labels, {{
    app  = lower(var.service_{n}.name)
    tier = var.service_{n}.replicas > 2 ? "large" : "small"
  }})
  ports_{n} = [for port in range(8000, 8004) : {{ name = "p${{port}}", port = port }}]
}}

resource "terraform_data" "service_{n}" {{
  count = var.service_{n}.replicas

  input = {{
    name   = format("%s-%02d", var.service_{n}.name, count.index)
    labels = local.labels_{n}
    ports  = {{ for p in local.ports_{n} : p.name => p.port if p.port != 8001 }}
  }}
}}

output "service_{n}" {{
  description = "Names of the instances of service {n}"
  value       = [for instance in terraform_data.service_{n} : instance.output.name]
}}

"#
    )
}

/// Two modules with `count` instances each, where every instance of `b` refers to the one of `a` with its index.
pub(super) fn instances(scratch: &Path, count: usize) -> Result<PathBuf> {
    let main = format!(
        r#"module "a" {{
  source = "./a"
  count  = {count}
  x      = count.index
}}

module "b" {{
  source = "./a"
  count  = {count}
  x      = module.a[count.index].x
}}
"#
    );
    let a = "variable \"x\" {\n  type = number\n}\n\noutput \"x\" {\n  value = var.x + 1\n}\n";
    write(scratch, &format!("instances-{count}"), &[("main.tf", main), ("a/main.tf", a.to_owned())])
}

/// Writes files into a fresh folder.
pub(super) fn write(scratch: &Path, name: &str, files: &[(&str, String)]) -> Result<PathBuf> {
    let dir = scratch.join(name);
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    for (file, text) in files {
        let path = dir.join(file);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_large_module_has_the_promised_size() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = large_module(scratch.path(), 20_000).unwrap();
        let lines: usize = std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap().lines().count())
            .sum();
        assert!((20_000..20_100).contains(&lines), "{lines}");
    }
}
