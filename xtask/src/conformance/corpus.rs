//! Reading the corpora: expression files, and the entries of the other directories.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::workspace;

/// One expression file.
#[derive(Debug, PartialEq)]
pub(super) struct Topic {
    pub(super) name: String,
    /// The directory below `fixtures` in whose scope the expressions are evaluated.
    pub(super) fixture: String,
    /// Values of variables, as `NAME=VALUE`.
    pub(super) variables: Vec<String>,
    pub(super) expressions: Vec<String>,
}

/// A directory of the corpora.
pub(super) fn directory(name: &str) -> PathBuf {
    workspace::root().join("tests/conformance").join(name)
}

/// What lies in a directory of the corpora, by name.
pub(super) fn entries(name: &str) -> Result<Vec<PathBuf>> {
    let dir = directory(name);
    let listing = std::fs::read_dir(&dir).with_context(|| format!("cannot list {}", dir.display()))?;
    let mut paths: Vec<PathBuf> = listing.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    Ok(paths)
}

/// The file's name without its directory, and for topics without its extension.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Every expression file.
pub(super) fn topics() -> Result<Vec<Topic>> {
    let mut topics = Vec::new();
    for path in entries("console")? {
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = name_of(&path).trim_end_matches(".txt").to_owned();
        topics.push(parse(name, &text).with_context(|| path.display().to_string())?);
    }
    Ok(topics)
}

/// Reads the format that `tests/conformance/README.md` explains.
fn parse(name: String, text: &str) -> Result<Topic> {
    let mut topic = Topic { name, fixture: "main".to_owned(), variables: Vec::new(), expressions: Vec::new() };
    let mut block: Option<Vec<&str>> = None;
    for line in text.split('\n') {
        match (&mut block, line) {
            (Some(lines), ">>>") => {
                topic.expressions.push(lines.join("\n"));
                block = None;
            }
            (Some(lines), _) => lines.push(line),
            (None, "<<<") => block = Some(Vec::new()),
            (None, _) => single_line(&mut topic, line)?,
        }
    }
    if block.is_some() {
        bail!("a block that `<<<` opens is never closed by `>>>`");
    }
    Ok(topic)
}

fn single_line(topic: &mut Topic, line: &str) -> Result<()> {
    if let Some(header) = line.strip_prefix("#!") {
        match header.trim().split_once(':') {
            Some(("fixture", value)) => value.trim().clone_into(&mut topic.fixture),
            Some(("var", value)) => topic.variables.push(value.trim().to_owned()),
            _ => bail!("unknown header `{line}`"),
        }
    } else if !line.trim().is_empty() && !line.starts_with('#') {
        topic.expressions.push(line.to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_comments_lines_and_blocks_are_told_apart() {
        let text = "# c\n#! fixture: other\n#! var: a=b c\n1 + 1\n\n<<<\n[\n# in\n]\n>>>\n\"x\"\n";
        let expected = Topic {
            name: "t".to_owned(),
            fixture: "other".to_owned(),
            variables: vec!["a=b c".to_owned()],
            expressions: vec!["1 + 1".to_owned(), "[\n# in\n]".to_owned(), "\"x\"".to_owned()],
        };
        assert_eq!(parse("t".to_owned(), text).unwrap(), expected);
    }

    #[test]
    fn an_open_block_and_an_unknown_header_are_errors() {
        assert!(parse("t".to_owned(), "<<<\n1\n").is_err());
        assert!(parse("t".to_owned(), "#! nope: 1\n").is_err());
    }

    #[test]
    fn no_expression_stands_twice_in_one_topic() {
        for topic in topics().unwrap() {
            let mut seen = std::collections::BTreeSet::new();
            for expression in &topic.expressions {
                assert!(seen.insert(expression), "{}: `{expression}` twice", topic.name);
            }
        }
    }

    #[test]
    fn every_fixture_exists() {
        for topic in topics().unwrap() {
            assert!(directory("fixtures").join(&topic.fixture).is_dir(), "{}", topic.name);
        }
    }
}
