//! What a host says about logging in there (`login.v1` of its discovery document).

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde_json::Value;
use url::Url;

/// The lowest port that programs of users may have.
const FIRST_PORT: u16 = 1024;

/// How a token may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GrantType {
    /// `authz_code`: with a page in the browser.
    Code,
    /// `password`: with name and password.
    Password,
}

/// What a host says about logging in there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginService {
    /// Who we are there.
    pub client: String,
    /// What the host accepts, as far as it is known here.
    pub grants: BTreeSet<GrantType>,
    /// The page where a person says yes.
    pub authorization: Option<Url>,
    /// Where a token is asked for.
    pub token: Option<Url>,
    /// The ports of this machine that the host sends a browser to.
    pub ports: RangeInclusive<u16>,
    /// What to ask for.
    pub scopes: Vec<String>,
}

impl LoginService {
    /// Reads a description. Relative addresses start from the discovery document.
    pub fn read(base: &Url, described: &Value) -> Result<Self, String> {
        // A block of the old configuration language is a list with one object.
        let described = match described {
            Value::Array(items) => items.first().unwrap_or(described),
            other => other,
        };
        let Value::Object(fields) = described else { return Err("it must be an object".to_owned()) };
        let grants = grants(fields.get("grant_types"))?;
        let address = |name: &str| fields.get(name).and_then(Value::as_str).map(|text| read_url(base, name, text));
        let required = |name: &str, needed: bool| match address(name).transpose()? {
            None if needed => Err(format!("it is missing required property {name:?}")),
            found => Ok(found),
        };
        let client = fields.get("client").and_then(Value::as_str);
        Ok(Self {
            client: client.ok_or("it is missing required property \"client\"")?.to_owned(),
            authorization: required("authz", grants.contains(&GrantType::Code))?,
            token: required("token", !grants.is_empty())?,
            ports: ports(fields.get("ports"))?,
            scopes: scopes(fields.get("scopes"))?,
            grants,
        })
    }
}

fn grants(given: Option<&Value>) -> Result<BTreeSet<GrantType>, String> {
    let items = match given {
        None => return Ok([GrantType::Code].into()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err("\"grant_types\" must be a list of strings".to_owned()),
    };
    // Others may come one day.
    let known = |item: &Value| match item.as_str()? {
        "authz_code" => Some(GrantType::Code),
        "password" => Some(GrantType::Password),
        _ => None,
    };
    Ok(items.iter().filter_map(known).collect())
}

fn read_url(base: &Url, name: &str, text: &str) -> Result<Url, String> {
    let wrong = |reason: String| format!("its {name:?} is no usable address: {reason}");
    let mut url = base.join(text).map_err(|error| wrong(error.to_string()))?;
    if !["https", "http"].contains(&url.scheme()) {
        return Err(wrong(format!("unsupported scheme {}", url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("embedded username/password information is not permitted".to_owned()));
    }
    url.set_fragment(None);
    Ok(url)
}

fn ports(given: Option<&Value>) -> Result<RangeInclusive<u16>, String> {
    let Some(Value::Array(items)) = given else { return Ok(FIRST_PORT..=u16::MAX) };
    let [first, last] = items.as_slice() else { return Err("its \"ports\" must be a list of two numbers".to_owned()) };
    let port = |item: &Value| {
        let number = item.as_u64().and_then(|number| u16::try_from(number).ok());
        let wrong = || format!("its \"ports\" must be whole numbers between {FIRST_PORT} and {}", u16::MAX);
        number.filter(|port| *port >= FIRST_PORT).ok_or_else(wrong)
    };
    let (first, last) = (port(first)?, port(last)?);
    if last < first {
        return Err("the first of its \"ports\" cannot be greater than the last".to_owned());
    }
    Ok(first..=last)
}

fn scopes(given: Option<&Value>) -> Result<Vec<String>, String> {
    let Some(Value::Array(items)) = given else { return Ok(Vec::new()) };
    let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
    texts.collect::<Option<_>>().ok_or_else(|| "its \"scopes\" must be strings".to_owned())
}
