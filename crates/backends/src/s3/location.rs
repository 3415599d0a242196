//! Where objects are: the address of a key in a bucket, for servers of Amazon and of others.

use std::fmt::Write as _;

use url::Url;

use crate::Surroundings;
use crate::settings::{Settings, invalid};

/// Where the objects of a bucket are.
#[derive(Debug, Clone)]
pub(super) struct Location {
    /// With the bucket, without a slash at its end.
    base: String,
    pub(super) region: String,
}

impl Location {
    /// From settings and variables. None if they cannot be used, which is said there.
    pub(super) fn new(settings: &mut Settings<'_>, surroundings: &Surroundings, bucket: &str) -> Option<Self> {
        let variable = |name: &str| (surroundings.variable)(name).filter(|value| !value.is_empty());
        let region = settings.text("region", "AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
        let Some(region) = region else {
            let detail = "The \"region\" attribute or the \"AWS_REGION\" or \"AWS_DEFAULT_REGION\" environment variables must be set.";
            settings.wrong.push(groma_model::diag::Diagnostic::error("Missing region value", detail));
            return None;
        };
        let inner = settings.given("endpoints").map(Settings::inner).and_then(|endpoints| endpoints.text("s3", ""));
        let variables = ["AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT", "AWS_ENDPOINT_URL"];
        let endpoint = inner
            .or_else(|| settings.text("endpoint", ""))
            .or_else(|| variables.iter().find_map(|name| variable(name)));
        let by_path = settings.flag("use_path_style", "", false) || settings.flag("force_path_style", "", false);
        let dual = settings.flag("use_dualstack_endpoint", "AWS_USE_DUALSTACK_ENDPOINT", false);
        let fips = settings.flag("use_fips_endpoint", "AWS_USE_FIPS_ENDPOINT", false);
        let (scheme, host) = match endpoint {
            Some(endpoint) => match parse(&endpoint) {
                Ok(found) => found,
                Err(reason) => {
                    settings
                        .wrong
                        .push(invalid("endpoints", format!("{endpoint:?} is no address of a server: {reason}")));
                    return None;
                }
            },
            None => ("https".to_owned(), host(&region, dual, fips)),
        };
        // A dot in a bucket would be one more level than certificates are for.
        let by_path = by_path
            || bucket.contains('.')
            || !bucket.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        let base = if by_path {
            format!("{scheme}://{host}/{}", encoded(bucket, false))
        } else {
            format!("{scheme}://{bucket}.{host}")
        };
        Some(Location { base, region })
    }

    /// The address of an object, or of the bucket if the key is empty.
    pub(super) fn object(&self, key: &str) -> String {
        format!("{}/{}", self.base, encoded(key, true))
    }

    /// The address of a listing.
    pub(super) fn listing(&self, prefix: &str, after: Option<&str>) -> String {
        let after = after.map(|token| format!("continuation-token={}&", encoded(token, false))).unwrap_or_default();
        // In the order in which it is signed.
        format!("{}?{after}list-type=2&prefix={}", self.base.clone() + "/", encoded(prefix, false))
    }
}

fn host(region: &str, dual: bool, fips: bool) -> String {
    let fips = if fips { "-fips" } else { "" };
    let dual = if dual { ".dualstack" } else { "" };
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    format!("s3{fips}{dual}.{region}.{domain}")
}

/// The scheme and the host of an endpoint, with its port and path.
fn parse(endpoint: &str) -> Result<(String, String), String> {
    let full = if endpoint.contains("://") { endpoint.to_owned() } else { format!("https://{endpoint}") };
    let url = Url::parse(&full).map_err(|error| error.to_string())?;
    if !["http", "https"].contains(&url.scheme()) {
        return Err("it begins neither with http:// nor with https://".to_owned());
    }
    let name = url.host_str().ok_or("it names no host")?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    Ok((url.scheme().to_owned(), format!("{name}{port}{path}")))
}

/// A text as it stands in an address that is signed.
pub(super) fn encoded(text: &str, is_path: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte.into()),
            b'/' if is_path => out.push('/'),
            other => drop(write!(out, "%{other:02X}")),
        }
    }
    out
}
