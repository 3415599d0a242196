//! What matters of small trees.

use std::collections::BTreeMap;

use super::*;

impl Files for BTreeMap<String, String> {
    fn paths(&self) -> Vec<&str> {
        self.keys().map(String::as_str).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.get(path).map(|text| text.clone().into_bytes())
    }
}

const OTHERS: [&str; 9] = [
    "README.md",
    "dag/streams/a.json",
    "dag/streams/deep/b.json",
    "dag/other.json",
    "infra/files/c.json",
    "infra/modules/m/d.json",
    "infra/modules/m/e/f.json",
    "scripts/g.sh",
    "vars/prod.tfvars",
];

fn tree(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    let others = OTHERS.iter().map(|path| ((*path).to_owned(), String::new()));
    others.chain(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))).collect()
}

fn asked(root: &str) -> Question {
    Question { root: root.to_owned(), var_files: Vec::new(), programs: false }
}

/// What matters besides the files that are given.
fn found(files: &[(&str, &str)], question: &Question) -> String {
    match relevance(&tree(files), question) {
        Relevance::Everything(why) => format!("everything: {why}"),
        Relevance::Files(found) => {
            let given: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
            found.iter().map(String::as_str).filter(|path| !given.contains(path)).collect::<Vec<_>>().join(" ")
        }
    }
}

fn check(main: &str, expected: &str) {
    assert_eq!(found(&[("infra/main.tf", main)], &asked("infra")), expected, "{main}");
}

#[test]
fn a_module_is_its_directory() {
    check("output \"a\" {\n  value = 1\n}\n", "");
    let files = [("main.tf", ""), (".terraform.lock.hcl", ""), ("waits.groma.hcl", "")];
    assert_eq!(found(&files, &asked(".")), "README.md");
}

#[test]
fn local_modules_that_are_called_matter() {
    let main = "module \"m\" {\n  source = \"./modules/m\"\n}\nmodule \"far\" {\n  source = \"a/b/c\"\n}\n";
    let module = "output \"x\" {\n  value = file(\"${path.module}/e/f.json\")\n}\nmodule \"up\" {\n  source = \"../../../dag\"\n}\n";
    let files = [("infra/main.tf", main), ("infra/modules/m/main.tf", module)];
    let expected = "dag/other.json infra/modules/m/d.json infra/modules/m/e/f.json";
    assert_eq!(found(&files, &asked("infra")), expected);
    check(
        "module \"m\" {\n  source = var.where\n}\n",
        "everything: nobody can tell from the text which modules \"infra\" calls",
    );
}

#[test]
fn a_static_path_names_a_file() {
    check(r#"x = file("${path.module}/../dag/streams/a.json")"#, "dag/streams/a.json");
    check(r#"x = jsondecode(file("files/c.json"))"#, "infra/files/c.json");
    check(r#"x = filesha256("${path.root}/../scripts/g.sh")"#, "scripts/g.sh");
    check(r#"x = file("${path.cwd}/files/c.json")"#, "infra/files/c.json");
    check(r#"x = file(abspath("../dag/other.json"))"#, "dag/other.json");
    check(r#"x = file("missing.json")"#, "");
    check(r#"x = file("/etc/hostname")"#, "everything: nobody can tell from the text which file file() reads");
}

#[test]
fn a_path_with_dynamic_parts_names_a_directory() {
    check(r#"x = file("${path.module}/../dag/streams/${var.x}.json")"#, "dag/streams/a.json dag/streams/deep/b.json");
    check(r#"x = file("../dag/streams/a${var.x}")"#, "dag/streams/a.json dag/streams/deep/b.json");
    // A text that names a directory stands for all of it, whatever is done with it.
    check(
        r#"x = [for f in fileset("${path.module}/../dag", "streams/*.json") : f]"#,
        "dag/other.json dag/streams/a.json dag/streams/deep/b.json",
    );
    check(
        r#"x = fileset(path.module, "../scripts/*")"#,
        "infra/files/c.json infra/modules/m/d.json infra/modules/m/e/f.json scripts/g.sh",
    );
    check(r#"x = "${path.module}/files/${var.x}""#, "infra/files/c.json");
}

#[test]
fn where_nothing_can_be_told_everything_matters() {
    let said = "everything: nobody can tell from the text which file file() reads";
    check("x = file(var.x)", said);
    check(r#"x = file("${var.x}/a.json")"#, said);
    check("x = [for v in y : file(v)]", said);
    check(r#"x = fileset("../dag", var.x)"#, "everything: nobody can tell from the text which file fileset() reads");
    check("x = [", "everything: infra/main.tf cannot be read");
}

#[test]
fn locals_are_followed() {
    let main = "locals {\n  dag = \"${path.module}/../dag\"\n  streams = \"${local.dag}/streams\"\n}\n";
    let files = format!("{main}x = file(\"${{local.streams}}/${{var.x}}\")\n");
    check(&files, "dag/other.json dag/streams/a.json dag/streams/deep/b.json");
    let loops = "locals {\n  a = local.b\n  b = local.a\n}\nx = file(local.a)\n";
    check(loops, "everything: nobody can tell from the text which file file() reads");
}

#[test]
fn texts_that_are_paths_matter() {
    check("x {\n  source_dir = \"../scripts\"\n  y = \".\"\n  z = \"\"\n  n = \"..\"\n}\n", "scripts/g.sh");
    check("x {\n  name = \"files\"\n}\n", "infra/files/c.json");
    check("x = path.module", "infra/files/c.json infra/modules/m/d.json infra/modules/m/e/f.json");
}

#[test]
fn templates_are_read_as_well() {
    let main = r#"x = templatefile("${path.module}/t.tftpl", { a = 1 })"#;
    let with = |template: &str| found(&[("infra/main.tf", main), ("infra/t.tftpl", template)], &asked("infra"));
    assert_eq!(with("${file(\"../dag/other.json\")}"), "dag/other.json");
    assert_eq!(with("${a}"), "");
    assert_eq!(with("${file(a)}"), "everything: nobody can tell from the text which file file() reads");
}

#[test]
fn the_json_syntax_is_the_same() {
    let main = r#"{"module": {"m": {"source": "./modules/m"}}, "locals": {"x": "${file(\"../dag/other.json\")}"}}"#;
    let files = [("infra/main.tf.json", main)];
    assert_eq!(found(&files, &asked("infra")), "dag/other.json infra/modules/m/d.json");
}

#[test]
fn variables_and_programs_matter_if_there_are_some() {
    let question = Question { var_files: vec!["vars/prod.tfvars".to_owned()], ..asked("infra") };
    assert_eq!(found(&[("infra/main.tf", "")], &question), "vars/prod.tfvars");
    let question = Question { programs: true, ..asked("infra/modules") };
    assert_eq!(found(&[], &question), "infra/modules/m/d.json infra/modules/m/e/f.json");
}

/// Whatever is static is found, whichever directory the module is in and however the path goes there.
#[test]
fn every_file_is_found_from_every_directory() {
    for root in ["", "infra", "infra/modules/m", "dag/streams/deep"] {
        for file in OTHERS {
            let up = "../".repeat(root.split('/').filter(|part| !part.is_empty()).count());
            for path in [format!("{up}{file}"), format!("./{up}./{file}"), format!("${{path.module}}/{up}{file}")] {
                let main = format!("x = file(\"{path}\")\n");
                let place = if root.is_empty() { "main.tf".to_owned() } else { format!("{root}/main.tf") };
                let found = relevance(&tree(&[(&place, &main)]), &asked(root));
                let Relevance::Files(found) = found else { panic!("{root} {path}: {found:?}") };
                assert!(found.contains(file), "{root} {path}: {found:?}");
            }
        }
    }
}
