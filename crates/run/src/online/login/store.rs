//! Where the token of a host is kept: in a file that only groma and its like write, or by a program that knows better.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use groma_fetch::credentials::Token;
use groma_fetch::host::Host;
use groma_model::diag::Diagnostic;
use serde_json::{Map, Value, json};

use crate::online::Online;

/// Where a token is, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this file.
    File(PathBuf),
    /// With the credentials helper of this name.
    Helper(String),
    /// In a file that a person wrote, and that is not changed.
    OtherFile,
}

/// Where the token of a host is kept.
#[derive(Debug, Clone)]
pub struct TokenStore {
    place: Place,
    /// Whether there is one, as far as can be told without asking.
    known: bool,
}

impl TokenStore {
    /// A token stays where it is: only hosts that no file names are left to the helper.
    pub(super) fn of_host(online: &Online, host: &Host) -> Result<Self, Diagnostic> {
        let config = online.config();
        let file = config.credentials_file.clone();
        if file.as_ref().is_some_and(|file| hosts_in(file).contains(host)) {
            return Ok(Self { place: Place::File(file.unwrap_or_default()), known: true });
        }
        if config.credentials.contains_key(host) {
            return Ok(Self { place: Place::OtherFile, known: true });
        }
        if let Some((name, _)) = online.credentials_helper() {
            return Ok(Self { place: Place::Helper(name.to_owned()), known: true });
        }
        let file = file.ok_or_else(|| {
            Diagnostic::error("No place for credentials", "Tokens are kept in the user's home, and HOME is not set.")
        })?;
        Ok(Self { place: Place::File(file), known: false })
    }

    /// Where it is, or would be.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Whether there may be a token.
    pub fn may_have_one(&self) -> bool {
        self.known
    }

    /// Keeps a token, or forgets it. The error is a sentence without its end.
    pub(super) fn keep(&self, online: &Online, host: &Host, token: Option<&Token>) -> Result<(), String> {
        match &self.place {
            Place::OtherFile => Err("it stands in a file that is not changed by groma".to_owned()),
            Place::File(file) => update(file, host, token),
            Place::Helper(_) => {
                let (_, helper) = online.credentials_helper().ok_or("the credentials helper is gone")?;
                let done = online.wait(async {
                    match token {
                        Some(token) => helper.store(host, token).await,
                        None => helper.forget(host).await,
                    }
                });
                done.map_err(|problem| problem.detail)?.map_err(|problem| problem.to_string())
            }
        }
    }
}

/// The hosts that a file has tokens for. One that cannot be read has none; whoever writes it finds out why.
fn hosts_in(file: &Path) -> BTreeSet<Host> {
    let read = fs::read(file).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let hosts = read.as_ref().and_then(|content| content.get("credentials")?.as_object());
    hosts.into_iter().flat_map(Map::keys).filter_map(|name| Host::parse(name).ok()).collect()
}

/// Changes the entry of one host; everything else in the file stays.
fn update(file: &Path, host: &Host, token: Option<&Token>) -> Result<(), String> {
    let shown = file.display();
    let mut content = match fs::read(file) {
        Ok(bytes) if bytes.is_empty() => Map::new(),
        // The file is full of secrets: the parser's words about it are not repeated.
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_err(|_| format!("cannot read {shown}: it is no JSON object"))?
        }
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Map::new(),
        Err(problem) => return Err(format!("cannot read {shown}: {problem}")),
    };
    let entries = content.entry("credentials").or_insert_with(|| json!({}));
    let Value::Object(entries) = entries else {
        return Err(format!("credentials file {shown} has invalid value for \"credentials\": it must be an object"));
    };
    // However it was written.
    entries.retain(|name, _| Host::parse(name).ok().as_ref() != Some(host));
    if let Some(token) = token {
        entries.insert(host.for_display(), json!({ "token": token.reveal() }));
    }
    let text = serde_json::to_string_pretty(&content).map_err(|problem| problem.to_string())?;
    replace(file, &text).map_err(|problem| format!("cannot write {shown}: {problem}"))
}

/// The old file is there until the new one is safely on disk. Nobody but the owner may read it, from the start.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let dir = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut staged = tempfile::Builder::new().prefix(".credentials").tempfile_in(dir)?;
    staged.write_all(text.as_bytes())?;
    staged.as_file().sync_all()?;
    staged.persist(&file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_host_changes_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("new").join("credentials.tfrc.json");
        let host = Host::parse("example.com").unwrap();
        update(&file, &host, Some(&Token::new("one"))).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::write(&file, r#"{"credentials":{"EXAMPLE.com":{"token":"old"},"other.test":{"token":"t"}},"x":[1]}"#)
            .unwrap();
        update(&file, &host, Some(&Token::new("two"))).unwrap();
        let content: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let expected =
            json!({ "credentials": { "example.com": { "token": "two" }, "other.test": { "token": "t" } }, "x": [1] });
        assert_eq!(content, expected);
        assert_eq!(hosts_in(&file).len(), 2);
        update(&file, &host, None).unwrap();
        assert_eq!(hosts_in(&file), [Host::parse("other.test").unwrap()].into());
    }

    #[test]
    fn a_file_that_is_something_else_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("credentials.tfrc.json");
        let host = Host::parse("example.com").unwrap();
        for content in ["hunter2", "[]", "{\"credentials\": 3}"] {
            fs::write(&file, content).unwrap();
            let problem = update(&file, &host, Some(&Token::new("secret"))).unwrap_err();
            assert!(!problem.contains("hunter2") && !problem.contains("secret"), "{problem}");
            assert_eq!(fs::read_to_string(&file).unwrap(), content);
        }
        assert!(hosts_in(&file).is_empty());
    }
}
