//! Files that come, change, break and go.

use std::sync::Arc;

use super::*;
use crate::api::shared::Moment;
use crate::objects::{Kind, Store as _};

struct Scene {
    directory: tempfile::TempDir,
    state: tempfile::TempDir,
    people: People,
    store: Files,
}

impl Scene {
    fn new() -> Self {
        let (directory, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let clock = Arc::new(|| Moment(jiff::Timestamp::from_second(1_000).unwrap()));
        let store = Files::open(state.path(), clock, None).unwrap();
        let people = People::new(directory.path(), state.path()).unwrap();
        Self { directory, state, people, store }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.directory.path().join(name)).unwrap();
    }

    /// Looks until everything has settled.
    fn look(&mut self) -> Vec<String> {
        for _ in 0..3 {
            self.people.attend(&self.store);
        }
        self.people.attend(&self.store).iter().map(ToString::to_string).collect()
    }

    fn names(&self) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(self.store.list(&Kind::config_map(), None, &[])).unwrap();
        found
            .into_iter()
            .map(|object| format!("{}={}", object.metadata.name.unwrap(), object.data["data"]["a"]))
            .collect()
    }
}

fn map(name: &str, value: &str) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: \"{value}\"\n")
}

#[test]
fn objects_come_change_and_go_with_their_files() {
    let mut scene = Scene::new();
    scene.write("one.yaml", &map("one", "1"));
    scene.write("deep/two.yml", &(map("two", "2") + &map("three", "3")));
    scene.write(".hidden.yaml", "{");
    scene.write("notes.txt", "{");
    assert_eq!(scene.look(), Vec::<String>::new());
    assert_eq!(scene.names(), ["one=\"1\"", "three=\"3\"", "two=\"2\""]);
    scene.write("one.yaml", &map("one", "other"));
    scene.write("deep/two.yml", &map("two", "2"));
    scene.look();
    assert_eq!(scene.names(), ["one=\"other\"", "two=\"2\""]);
    fs::rename(scene.directory.path().join("one.yaml"), scene.directory.path().join("moved.yaml")).unwrap();
    scene.look();
    assert_eq!(scene.names(), ["one=\"other\"", "two=\"2\""]);
    scene.remove("moved.yaml");
    scene.look();
    assert_eq!(scene.names(), ["two=\"2\""]);
}

#[test]
fn nothing_goes_at_the_first_look() {
    let mut scene = Scene::new();
    scene.write("one.yaml", &map("one", "1"));
    scene.write("two.yaml", &map("two", "2"));
    scene.look();
    scene.remove("one.yaml");
    scene.people.attend(&scene.store);
    assert_eq!(scene.names().len(), 2);
    scene.write("one.yaml", &map("one", "1"));
    scene.look();
    assert_eq!(scene.names().len(), 2);
}

#[test]
fn a_broken_file_takes_nothing_down_and_is_told() {
    let mut scene = Scene::new();
    scene.write("a.yaml", &(map("one", "1") + &map("two", "2")));
    scene.look();
    for broken in
        ["{", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n", "\u{feff}\0", &map("one", "3").replace("data", "dta")]
    {
        scene.write("a.yaml", broken);
        let told = scene.look();
        assert_eq!(told.len(), 1, "{broken}: {told:?}");
        assert!(told[0].starts_with("a.yaml"), "{told:?}");
        assert_eq!(scene.names(), ["one=\"1\"", "two=\"2\""], "{broken}");
    }
    scene.write("a.yaml", &map("one", "3"));
    assert_eq!(scene.look(), Vec::<String>::new());
    assert_eq!(scene.names(), ["one=\"3\""]);
}

#[test]
fn what_is_written_twice_is_told_and_the_first_holds() {
    let mut scene = Scene::new();
    scene.write("b.yaml", &map("one", "b"));
    scene.look();
    scene.write("a.yaml", &map("one", "a"));
    assert_eq!(scene.look(), ["a.yaml: ConfigMap default/one is in b.yaml already: one of them has to go"]);
    assert_eq!(scene.names(), ["one=\"b\""]);
    scene.remove("b.yaml");
    assert_eq!(scene.look(), Vec::<String>::new());
    assert_eq!(scene.names(), ["one=\"a\""]);
}

#[test]
fn files_that_are_too_large_are_not_read() {
    let mut scene = Scene::new();
    scene.write("a.yaml", &"#".repeat(usize::try_from(MOST_BYTES).unwrap() + 1));
    let told = scene.look();
    assert!(told.len() == 1 && told[0].contains("and may have 4194304"), "{told:?}");
}

#[test]
fn a_directory_that_is_gone_takes_nothing_down() {
    let mut scene = Scene::new();
    scene.write("one.yaml", &map("one", "1"));
    scene.look();
    let aside = scene.state.path().join("aside");
    fs::rename(scene.directory.path(), &aside).unwrap();
    assert!(scene.look()[0].contains("it cannot be looked into"));
    fs::create_dir(scene.directory.path()).unwrap();
    assert!(scene.look()[0].contains("it is not the directory that it was"));
    // Who begins anew with a directory that has nothing in it does not know whether that is meant.
    scene.people = People::new(scene.directory.path(), scene.state.path()).unwrap();
    assert!(scene.look()[0].contains("there is no YAML file in it, though 1 objects were made"));
    assert_eq!(scene.names(), ["one=\"1\""]);
    scene.write("empty.yaml", "");
    assert_eq!(scene.look(), Vec::<String>::new());
    assert!(scene.names().is_empty());
}
