//! Templates as people have them, and values that try to be more than values.

use serde_json::json;

use super::*;

/// As in the document that describes it.
const SIMPLE: &str = r#"terraform {
  backend "local" {
    path = "/tmp/terraform-{{ .Namespace }}-{{ .Name }}.tfstate"
  }
}

resource "random_string" "value" {
  length  = {{ .Length }}
  special = lookup(var.custom_vars, "special", "true") == "true"
}

variable "custom_vars" {
  type    = map(string)
  default = {
    {{- range $key, $value := .Vars }}
    "{{ $key }}" = "{{ $value }}"
    {{- end }}
  }
}
"#;

fn rendered(template: &str, data: Json) -> String {
    render(template, &data).unwrap()
}

fn problem(template: &str) -> String {
    render(template, &json!({"A": 1, "L": [1]})).unwrap_err().to_string()
}

#[test]
fn the_template_of_the_document() {
    let data =
        json!({"Namespace": "default", "Name": "sample", "Length": 16, "Vars": {"upper": "false", "special": "true"}});
    let text = rendered(SIMPLE, data);
    assert!(text.contains("path = \"/tmp/terraform-default-sample.tfstate\""), "{text}");
    assert!(text.contains("  length  = 16\n"), "{text}");
    assert!(text.contains("  default = {\n    \"special\" = \"true\"\n    \"upper\" = \"false\"\n  }\n"), "{text}");
}

#[test]
fn values_stay_values_wherever_they_stand() {
    let evil = "\" }\nresource \"x\" \"y\" {} #${file(\"/etc/passwd\")}%{ if true }\\";
    for (template, expected) in [
        ("a = \"{{ .V }}\"", r#"a = "\" }\nresource \"x\" \"y\" {} #$${file(\"/etc/passwd\")}%%{ if true }\\""#),
        ("a = {{ .V }}", r#"a = "\" }\nresource \"x\" \"y\" {} #$${file(\"/etc/passwd\")}%%{ if true }\\""#),
        ("# {{ .V }}\nb", "# \" } resource \"x\" \"y\" {} #${file(\"/etc/passwd\")}%{ if true }\\\nb"),
        (
            "a = \"${f({{ .V }})}\"",
            r#"a = "${f("\" }\nresource \"x\" \"y\" {} #$${file(\"/etc/passwd\")}%%{ if true }\\")}""#,
        ),
    ] {
        assert_eq!(rendered(template, json!({ "V": evil })), expected);
    }
    let heredoc = rendered("a = <<EOT\n{{ .V }}\nEOT\n", json!({"V": "${x} %{y}"}));
    assert_eq!(heredoc, "a = <<EOT\n$${x} %%{y}\nEOT\n");
    let ended = render("a = <<-EOT\n{{ .V }}\nEOT\n", &json!({"V": "x\n  EOT\nresource"})).unwrap_err();
    assert_eq!(ended.to_string(), "line 2: a value would end the text that EOT ends");
    assert_eq!(rendered("/* {{ .V }} */", json!({"V": "*/ resource"})), "/* * / resource */");
    assert!(render("a = \"${{ .V }}\"", &json!({"V": "x"})).is_ok());
    assert_eq!(
        rendered("a = {{ .V }}", json!({"V": {"b\"": [1, null, true, "${x}"]}})),
        "a = {\"b\\\"\" = [1, null, true, \"$${x}\"]}"
    );
}

#[test]
fn a_dollar_sign_before_a_value_makes_nothing_of_it() {
    assert!(render("a = \"${{ .V }}\"", &json!({"V": "{file(1)}"})).is_err());
    assert_eq!(rendered("a = \"{{ .V }}{{ .W }}\"", json!({"V": "$", "W": "x"})), "a = \"$x\"");
    assert!(render("a = \"{{ .V }}{{ .W }}\"", &json!({"V": "$", "W": "{file(1)}"})).is_err());
}

#[test]
fn values_make_nothing_together_with_what_stands_beside_them() {
    let told = |template: &str, one: &str, other: &str| {
        render(template, &json!({"V": one, "W": other})).unwrap_or_else(|problem| problem.problem)
    };
    let sign = "a value that ends with \"$\" or \"%\" cannot stand right before \"{\"";
    assert_eq!(
        told("a = \"{{ .V }}{{ \"{\" }}{{ .W }}}\"", "$", "path.module"),
        "a value cannot stand right behind \"$\" or \"%\""
    );
    assert_eq!(told("a = \"{{ .V }}{ {{ .W }} }\"", "$", "path.module"), sign);
    assert_eq!(told("a = \"{{ .V }}${x}\"", "$", ""), sign);
    assert_eq!(told("a = \"${{ .V }}{x}\"", "", ""), sign);
    assert_eq!(told("a = \"{{ .V }}${x}\"", "50% of $1", ""), "a = \"50% of $1${x}\"");
    // Behind a sign, a sign cannot be doubled.
    assert_eq!(told("a = \"{{ .V }}\"", "$${x} %%{y}", ""), "a = \"$\\u0024{x} %\\u0025{y}\"");
    assert_eq!(told("a = \"{{ .V }}{{ .W }}\"", "$", "${x}"), "a = \"$\\u0024{x}\"");
    assert_eq!(told("a = {{ .V }}", "$${x}", ""), "a = \"$\\u0024{x}\"");
    // Lines of several values.
    let ended = "a value would end the text that EOT ends";
    assert_eq!(told("a = <<EOT\n{{ .V }}{{ .W }}\nEOT\n", "x\nEO", "T\nresource"), ended);
    assert_eq!(told("a = <<EOT\n{{ .V }}T\nb\nEOT\n", "EO", ""), ended);
    assert_eq!(told("a = <<EOT\n  E{{ .V }}\nb\nEOT\n", "OT ", ""), ended);
    assert_eq!(told("a = <<EOT\nx{{ .V }}\nEOT\nb = {{ .W }}\n", "EOT", "w"), "a = <<EOT\nxEOT\nEOT\nb = \"w\"\n");
    assert_eq!(
        told("a = <<EOT\n{{ .V }}\nEOT\n", "$${x}", ""),
        "a value with \"$${\" or \"%%{\" cannot stand in the text that EOT ends"
    );
    assert_eq!(told("a = <<EOT\n{{ .V }}{x}\nEOT\n", "%", ""), sign);
    // Comments.
    assert_eq!(told("/* *{{ .V }} */", "/ resource", ""), "/* * / resource */");
    assert_eq!(told("/* {{ .V }}/ */", "*", ""), "/* * / */");
}

#[test]
fn where_we_are_is_followed_through_everything() {
    let after =
        |text: &str| rendered(&format!("{text}{{{{ .V }}}}"), json!({"V": "v"})).split_at(text.len()).1.to_owned();
    for (text, expected) in [
        ("a = ", "\"v\""),
        ("a = \"", "v"),
        ("a = \"\\\"", "v"),
        ("a = \"b\" + ", "\"v\""),
        ("a = \"${b[\"c\"] + ", "\"v\""),
        ("a = \"${ {d = \"", "v"),
        ("a = \"${ {d = 1}.d } ", "v"),
        ("a = \"$${ ", "v"),
        ("# \"\n", "\"v\""),
        ("// \"\n", "\"v\""),
        ("/* \" */ ", "\"v\""),
        ("a = <<EOT\n\"\n", "v"),
        ("a = <<EOT\n\"\nEOT\n", "\"v\""),
        ("a = <<EOT\n${b(\"", "v"),
        ("a = 1 << 2\n", "\"v\""),
    ] {
        assert_eq!(after(text), expected, "after {text:?}");
    }
}

#[test]
fn actions() {
    for (template, expected) in [
        ("{{ if .T }}1{{ else }}2{{ end }}", "1"),
        ("{{ if .F }}1{{ else if eq .A 1 }}2{{ end }}", "2"),
        ("{{ if and .T (not .F) }}1{{ end }}", "1"),
        ("{{ with .M }}{{ .x }}{{ end }}", "7"),
        ("{{ range .L }}{{ . }},{{ end }}", "1,2,"),
        ("{{ range $i, $v := .L }}{{ $i }}={{ $v }};{{ end }}", "0=1;1=2;"),
        ("{{ range .E }}x{{ else }}none{{ end }}", "none"),
        ("{{ $x := .A }}{{ $x }}{{ $.A }}", "11"),
        ("a   {{- /* nothing */ -}}   b", "ab"),
        ("{{ .A | default 3 }}{{ .Z | default 3 }}", "13"),
        ("{{ len .L }}{{ index .L 1 }}{{ index .M \"x\" }}", "227"),
        ("\"{{ \"a}}b\" }}\"", "\"a}}b\""),
        ("\"{{ upper \"a\" }}{{ print .A `b` }}\"", "\"A1b\""),
    ] {
        let data = json!({"T": true, "F": false, "A": 1, "Z": 0, "M": {"x": 7}, "L": [1, 2], "E": []});
        assert_eq!(rendered(template, data), expected, "{template}");
    }
}

#[test]
fn mistakes_are_told_with_their_line() {
    assert_eq!(problem("a\n{{ .B }}"), "line 2: there is no field \"B\"; there are: A, L");
    assert_eq!(problem("{{ .A.b }}"), "line 1: there is no field \"b\": this is no object");
    assert_eq!(problem("\n\n{{ if .A }}"), "line 3: this is never ended by {{ end }}");
    assert_eq!(problem("{{ end }}"), "line 1: \"end\" belongs to nothing");
    assert_eq!(problem("{{ .A"), "line 1: \"{{\" is never closed by \"}}\"");
    assert_eq!(problem("{{ template \"x\" }}"), "line 1: \"template\" is not supported here");
    assert_eq!(problem("{{ $y }}"), "line 1: there is no variable $y");
    assert_eq!(problem("{{ range .A }}{{ end }}"), "line 1: range goes over lists and maps only");
    assert_eq!(problem("{{ lt 1 \"a\" }}"), "line 1: lt compares two numbers or two texts");
    assert_eq!(problem("{{ | }}"), "line 1: a value is missing here");
    assert_eq!(problem("{{ (.A }}"), "line 1: \"(\" is never closed");
    assert!(problem("{{ env \"HOME\" }}").starts_with("line 1: there is no function \"env\"; there are: and,"));
    assert!(problem(&"{{ if .A }}".repeat(60)).contains("too many actions"));
    let doubling = "{{ range .L }}".repeat(30) + "x" + &"{{ end }}".repeat(30);
    let long = json!({"L": [1, 2], "A": 1});
    assert!(render(&doubling.replace(".L", "$.L"), &long).unwrap_err().to_string().contains("repeats too much"));
}
