//! Where keys come from: passphrases, and programs that know them.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use groma_state::encryption::{EncryptionError, Key, Passphrase, PassphraseMeta};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::programs::Program;

/// What key providers need to find their keys again, by their names.
pub(super) type Meta = BTreeMap<String, Vec<u8>>;

/// The word that programs greet with which know keys.
const MAGIC: &str = "OpenTofu-External-Key-Provider";

/// A source of keys.
pub(super) enum KeySource {
    /// Keys are made of a text.
    Passphrase {
        /// Under what name it is kept what was done.
        meta: String,
        /// The text.
        secret: Secret,
        /// How keys are made; its own text does not count.
        shape: Passphrase,
    },
    /// A program knows keys.
    External {
        /// Under what name it is kept what it says.
        meta: String,
        /// Which one.
        program: Program,
    },
    /// They stand in the configuration.
    Given {
        /// To write with.
        encryption: Key,
        /// To read with.
        decryption: Option<Key>,
    },
}

/// What keys are made of.
pub(super) enum Secret {
    /// This.
    Text(String),
    /// The key of another source.
    Chained(Box<KeySource>),
}

/// What a program answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    keys: AnsweredKeys,
    #[serde(default)]
    meta: Kept,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredKeys {
    #[serde(default)]
    encryption_key: Option<String>,
    #[serde(default)]
    decryption_key: Option<String>,
}

/// What a program wants to be told the next time.
#[derive(Default, Deserialize)]
struct Kept {
    #[serde(default)]
    external_data: Option<Map<String, Json>>,
}

impl KeySource {
    /// A new key. What finds it again is added to `meta`.
    pub(super) fn new_key(&self, meta: &mut Meta) -> Result<Key, EncryptionError> {
        match self {
            KeySource::Given { encryption, .. } => Ok(encryption.clone()),
            KeySource::Passphrase { meta: name, secret, shape } => {
                let text = match secret {
                    Secret::Text(text) => text.clone().into_bytes(),
                    Secret::Chained(chain) => chain.new_key(meta)?.bytes().to_vec(),
                };
                let maker = maker(name, shape, text)?;
                let mut trouble = None;
                let made = maker.new_meta(&mut |salt| trouble = super::target::random(salt).err());
                let made = made.map_err(|error| refused(name, &error))?;
                if let Some(error) = trouble {
                    return Err(error);
                }
                meta.insert(name.clone(), made.encode());
                Ok(maker.key(&made))
            }
            KeySource::External { meta: name, program } => {
                let answer = ask(name, program, None)?;
                let key = decoded(name, answer.keys.encryption_key)?;
                let kept = serde_json::json!({ "external_data": answer.meta.external_data });
                meta.insert(name.clone(), kept.to_string().into_bytes());
                key.ok_or_else(|| refused(name, &"it gave no encryption key"))
            }
        }
    }

    /// The key again that something was encrypted with. None if there is nothing to find it by.
    pub(super) fn key_again(&self, meta: &Meta) -> Result<Option<Key>, EncryptionError> {
        match self {
            KeySource::Given { decryption, .. } => Ok(decryption.clone()),
            KeySource::Passphrase { meta: name, secret, shape } => {
                let Some(made) = meta.get(name) else { return Ok(None) };
                let made = PassphraseMeta::decode(made).map_err(|error| refused(name, &error))?;
                let text = match secret {
                    Secret::Text(text) => text.clone().into_bytes(),
                    Secret::Chained(chain) => match chain.key_again(meta)? {
                        Some(key) => key.bytes().to_vec(),
                        None => return Ok(None),
                    },
                };
                Ok(Some(maker(name, shape, text)?.key(&made)))
            }
            KeySource::External { meta: name, program } => {
                decoded(name, ask(name, program, meta.get(name).map(Vec::as_slice))?.keys.decryption_key)
            }
        }
    }

    /// Under what names it and those that it is made of keep things.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            KeySource::Given { .. } => Vec::new(),
            KeySource::External { meta, .. } | KeySource::Passphrase { meta, secret: Secret::Text(_), .. } => {
                vec![meta]
            }
            KeySource::Passphrase { meta, secret: Secret::Chained(chain), .. } => {
                let mut names = chain.names();
                names.push(meta);
                names
            }
        }
    }

    /// How long its keys are, if that is known before they are made.
    pub(super) fn key_length(&self) -> Option<usize> {
        match self {
            KeySource::Passphrase { shape, .. } => Some(shape.key_length),
            KeySource::Given { encryption, .. } => Some(encryption.bytes().len()),
            KeySource::External { .. } => None,
        }
    }
}

/// What makes keys of a text, if it is long enough.
fn maker(name: &str, shape: &Passphrase, text: Vec<u8>) -> Result<Passphrase, EncryptionError> {
    shape.with_secret(text).map_err(|error| refused(name, &error))
}

fn refused(name: &str, why: &dyn std::fmt::Display) -> EncryptionError {
    EncryptionError::KeyProvider { name: name.to_owned(), why: why.to_string() }
}

/// Asks a program for keys. It is handed what it said the last time.
fn ask(name: &str, program: &Program, kept: Option<&[u8]>) -> Result<Answer, EncryptionError> {
    let kept: Option<Kept> = kept
        .map(serde_json::from_slice::<Option<Kept>>)
        .transpose()
        .map_err(|_| refused(name, &"what is kept to find the key again is damaged"))?
        .flatten();
    let input = kept.and_then(|kept| kept.external_data).map(|data| serde_json::json!({ "external_data": data }));
    let input = input.unwrap_or(Json::Null).to_string().into_bytes();
    program.ask(MAGIC, input).map_err(|why| refused(name, &why))
}

fn decoded(name: &str, key: Option<String>) -> Result<Option<Key>, EncryptionError> {
    let key = key.filter(|key| !key.is_empty()).map(|key| BASE64.decode(key).map(Key::new)).transpose();
    key.map_err(|_| refused(name, &"its key is not base64"))
}
