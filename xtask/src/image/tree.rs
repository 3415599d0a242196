//! The files of an image, and the layer that they become. Who made them and when is left out: equal files give an equal layer.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Write;

use anyhow::{Context as _, Result};
use tar::{Builder, EntryType, Header};

/// Files by their paths, without a slash at the front.
#[derive(Default)]
pub(super) struct Tree(BTreeMap<String, Node>);

struct Node {
    mode: u32,
    owner: u32,
    kind: Kind,
}

enum Kind {
    Folder,
    File(Vec<u8>),
    /// A symbolic link.
    Link(String),
}

impl Tree {
    /// Adds a file of root.
    pub(super) fn add_file(&mut self, path: &str, mode: u32, content: Vec<u8>) {
        self.add(path, Node { mode, owner: 0, kind: Kind::File(content) });
    }

    /// Adds a folder, and gives it away.
    pub(super) fn add_folder(&mut self, path: &str, mode: u32, owner: u32) {
        self.add(path, Node { mode, owner, kind: Kind::Folder });
    }

    /// Adds a symbolic link.
    pub(super) fn add_link(&mut self, path: &str, target: &str) {
        self.add(path, Node { mode: 0o777, owner: 0, kind: Kind::Link(target.to_owned()) });
    }

    /// Adds a symbolic link where nothing is.
    pub(super) fn add_link_unless_there(&mut self, path: &str, target: &str) {
        if !self.0.contains_key(path) {
            self.add_link(path, target);
        }
    }

    /// Adds everything of another tree, in place of what is there.
    pub(super) fn add_all(&mut self, other: Self) {
        for (path, node) in other.0 {
            self.add(&path, node);
        }
    }

    /// What is in a file.
    pub(super) fn file(&self, path: &str) -> Option<&[u8]> {
        match &self.0.get(path)?.kind {
            Kind::File(content) => Some(content),
            Kind::Folder | Kind::Link(_) => None,
        }
    }

    /// The contents of all files in a folder, in the order of their names.
    pub(super) fn files_below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let paths = self.0.range(folder.to_owned()..).map(|(path, _)| path);
        paths.take_while(move |path| path.starts_with(folder)).filter_map(|path| self.file(path))
    }

    fn add(&mut self, path: &str, node: Node) {
        for (at, _) in path.match_indices('/') {
            if let Entry::Vacant(vacant) = self.0.entry(path.get(..at).unwrap_or_default().to_owned()) {
                vacant.insert(Node { mode: 0o755, owner: 0, kind: Kind::Folder });
            }
        }
        self.0.insert(path.to_owned(), node);
    }

    /// Writes a layer.
    pub(super) fn write(&self, to: impl Write) -> Result<()> {
        let mut builder = Builder::new(to);
        for (path, node) in &self.0 {
            append(&mut builder, path, node).with_context(|| format!("cannot pack {path}"))?;
        }
        builder.into_inner()?.flush()?;
        Ok(())
    }
}

fn append(builder: &mut Builder<impl Write>, path: &str, node: &Node) -> Result<()> {
    let mut header = Header::new_gnu();
    header.set_mode(node.mode);
    header.set_uid(node.owner.into());
    header.set_gid(node.owner.into());
    header.set_mtime(0);
    header.set_size(0);
    match &node.kind {
        Kind::Folder => {
            header.set_entry_type(EntryType::Directory);
            builder.append_data(&mut header, format!("{path}/"), std::io::empty())?;
        }
        Kind::File(content) => {
            header.set_entry_type(EntryType::Regular);
            header.set_size(content.len() as u64);
            builder.append_data(&mut header, path, content.as_slice())?;
        }
        Kind::Link(target) => {
            header.set_entry_type(EntryType::Symlink);
            builder.append_link(&mut header, path, target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(tree: &Tree) -> Vec<u8> {
        let mut bytes = Vec::new();
        tree.write(&mut bytes).unwrap();
        bytes
    }

    fn listing(bytes: &[u8]) -> Vec<String> {
        let mut archive = tar::Archive::new(bytes);
        let entries = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let link = entry.link_name().unwrap().map(|to| format!(" -> {}", to.display())).unwrap_or_default();
            let header = entry.header();
            let (mode, owner) = (header.mode().unwrap(), header.uid().unwrap());
            format!("{mode:o} {owner} {}{link}", entry.path().unwrap().display())
        });
        entries.collect()
    }

    #[test]
    fn folders_come_before_what_is_in_them_and_need_not_be_named() {
        let mut tree = Tree::default();
        tree.add_file("usr/bin/groma", 0o755, b"x".to_vec());
        tree.add_folder("tmp", 0o1777, 7);
        tree.add_link_unless_there("usr/bin/groma", "elsewhere");
        tree.add_link_unless_there("bin", "usr/bin");
        let expected = ["777 0 bin -> usr/bin", "1777 7 tmp/", "755 0 usr/", "755 0 usr/bin/", "755 0 usr/bin/groma"];
        assert_eq!(listing(&layer(&tree)), expected);
    }

    #[test]
    fn the_order_in_which_files_come_does_not_matter() {
        let (mut first, mut second) = (Tree::default(), Tree::default());
        first.add_file("a/b", 0o644, b"1".to_vec());
        first.add_file("c", 0o644, b"2".to_vec());
        second.add_file("c", 0o644, b"2".to_vec());
        second.add_file("a/b", 0o644, b"1".to_vec());
        assert_eq!(layer(&first), layer(&second));
    }

    #[test]
    fn files_of_a_folder_are_found_by_name_and_in_order() {
        let mut tree = Tree::default();
        tree.add_file("c/2", 0o644, b"two".to_vec());
        tree.add_file("c/1", 0o644, b"one".to_vec());
        tree.add_file("d", 0o644, b"three".to_vec());
        assert_eq!(tree.files_below("c/").collect::<Vec<_>>(), [b"one", b"two"]);
        assert_eq!(tree.file("d"), Some(&b"three"[..]));
        assert_eq!(tree.file("c"), None);
    }
}
