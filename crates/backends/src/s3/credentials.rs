//! Who asks: keys from the settings, or from wherever the tools of Amazon look for them. Environment, files and requests go through
//! what is handed in.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;

use bytes::Bytes;
use groma_model::number::Number;
use groma_model::value::Value;
use groma_network::{Networks, check_url};
use reqsign_aws_v4::{
    AssumeRoleCredentialProvider, AssumeRoleWithWebIdentityCredentialProvider, Credential, DefaultCredentialProvider,
    IMDSv2CredentialProvider, ProfileCredentialProvider, RequestSigner, StaticCredentialProvider,
};
use reqsign_core::{Context, Env, Error, FileRead, HttpSend, ProvideCredentialChain, Signer};

use super::client::causes;
use crate::Surroundings;
use crate::settings::{Settings, invalid};

/// Signs requests to a region. None if the settings cannot be used, which is said there.
pub(super) fn signer(
    settings: &mut Settings<'_>,
    surroundings: &Surroundings,
    web: &reqwest::Client,
    region: &str,
) -> Option<Signer<Credential>> {
    let context = Context::new()
        .with_env(Variables(surroundings.clone()))
        .with_file_read(Files(surroundings.clone()))
        .with_http_send(Web { client: web.clone(), networks: surroundings.limits.networks.clone() });
    let base = base(settings);
    let sts_region = settings.text("sts_region", "").unwrap_or_else(|| region.to_owned());
    let sign = RequestSigner::new("s3", region);
    let role = role(settings);
    let web_identity = settings.given("assume_role_with_web_identity");
    if (role.is_some() || web_identity.is_some()) && has_sts_endpoint(settings) {
        settings.wrong.push(invalid("endpoints", "a server for STS of your own is not supported with roles"));
        return None;
    }
    let base = match web_identity {
        None => base,
        Some(given) => ProvideCredentialChain::new().push(web_role(settings, given, &sts_region)?),
    };
    let Some(role) = role else { return Some(Signer::new(context, base, sign)) };
    let sts = Signer::new(context.clone(), base, RequestSigner::new("sts", &sts_region));
    Some(Signer::new(context, assumed(settings, role, sts, sts_region)?, sign))
}

fn has_sts_endpoint(settings: &Settings<'_>) -> bool {
    let inner = settings.given("endpoints").map(Settings::inner).and_then(|endpoints| endpoints.text("sts", ""));
    inner.or_else(|| settings.text("sts_endpoint", "AWS_ENDPOINT_URL_STS")).is_some()
}

/// Who asks before any role is taken on.
fn base(settings: &mut Settings<'_>) -> ProvideCredentialChain<Credential> {
    let (key, secret) = (settings.text("access_key", ""), settings.text("secret_key", ""));
    match (key, secret) {
        (Some(key), Some(secret)) => {
            let mut fixed = StaticCredentialProvider::new(&key, &secret);
            if let Some(token) = settings.text("token", "") {
                fixed = fixed.with_session_token(&token);
            }
            return ProvideCredentialChain::new().push(fixed);
        }
        (None, None) => {}
        (Some(_), None) => settings.wrong.push(invalid("access_key", "it goes together with \"secret_key\"")),
        (None, Some(_)) => settings.wrong.push(invalid("secret_key", "it goes together with \"access_key\"")),
    }
    let mut files = settings.texts("shared_credentials_files");
    files.extend(settings.text("shared_credentials_file", ""));
    let config_files = settings.texts("shared_config_files");
    let config_files = if config_files.is_empty() {
        settings.text("", "AWS_SHARED_CONFIG_FILE").into_iter().collect()
    } else {
        config_files
    };
    let mut profiles = ProfileCredentialProvider::new();
    if !files.is_empty() {
        profiles = profiles.with_credentials_file(files.join(BETWEEN));
    }
    if !config_files.is_empty() {
        profiles = profiles.with_config_file(config_files.join(BETWEEN));
    }
    let mut builder = DefaultCredentialProvider::builder().profile(profiles);
    if let Some(profile) = settings.text("profile", "") {
        // Who names a profile does not mean what happens to be in the environment.
        builder = builder.no_env().with_profile(profile);
    }
    if settings.flag("skip_metadata_api_check", "", false) {
        builder = builder.no_imds();
    } else if let Some(endpoint) = settings.text("ec2_metadata_service_endpoint", "AWS_EC2_METADATA_SERVICE_ENDPOINT") {
        builder = builder.imds(IMDSv2CredentialProvider::new().with_endpoint(endpoint));
    }
    ProvideCredentialChain::new().push(builder.build())
}

/// A role to take on.
struct Role<'v> {
    inner: Option<&'v Value>,
    arn: String,
}

fn role<'v>(settings: &Settings<'v>) -> Option<Role<'v>> {
    let inner = settings.given("assume_role");
    let arn = match inner {
        Some(inner) => Settings::inner(inner).text("role_arn", ""),
        None => settings.text("role_arn", ""),
    };
    arn.map(|arn| Role { inner, arn })
}

/// Seconds of a text like `1h30m`.
fn seconds(text: &str) -> Option<u32> {
    let mut total = 0u32;
    let mut number = String::new();
    for letter in text.chars() {
        let unit = match letter {
            '0'..='9' => {
                number.push(letter);
                continue;
            }
            'h' => 3600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        total = total.checked_add(std::mem::take(&mut number).parse::<u32>().ok()?.checked_mul(unit)?)?;
    }
    (number.is_empty() && total > 0).then_some(total)
}

fn assumed(
    settings: &mut Settings<'_>,
    role: Role<'_>,
    sts: Signer<Credential>,
    region: String,
) -> Option<AssumeRoleCredentialProvider> {
    let mut provider =
        AssumeRoleCredentialProvider::new(role.arn, sts).with_region(region).with_regional_sts_endpoint();
    let nested = role.inner.map(Settings::inner);
    let at = nested.as_ref().unwrap_or(settings);
    let prefixed = |name: &str| if role.inner.is_some() { name.to_owned() } else { format!("assume_role_{name}") };
    let given = at.text("duration", "").filter(|_| role.inner.is_some());
    let old = at.given("assume_role_duration_seconds").and_then(Value::as_number).and_then(Number::to_u64);
    let duration = given.as_deref().map_or_else(|| old.and_then(|it| u32::try_from(it).ok()), seconds);
    if given.is_some() && duration.is_none() {
        settings.wrong.push(invalid("assume_role.duration", "it is no time like \"1h30m\""));
        return None;
    }
    if let Some(duration) = duration {
        provider = provider.with_duration_seconds(duration);
    }
    if let Some(name) = at.text("session_name", "") {
        provider = provider.with_role_session_name(name);
    }
    if let Some(id) = at.text("external_id", "") {
        provider = provider.with_external_id(id);
    }
    if let Some(policy) = at.text(&prefixed("policy"), "") {
        provider = provider.with_policy(policy.trim().to_owned());
    }
    let policies = at.texts(&prefixed("policy_arns"));
    if !policies.is_empty() {
        provider = provider.with_policy_arns(policies);
    }
    let tags: Vec<(String, String)> = at.texts_by_name(&prefixed("tags")).into_iter().collect();
    if !tags.is_empty() {
        provider = provider.with_tags(tags);
    }
    if !at.texts(&prefixed("transitive_tag_keys")).is_empty() {
        settings.wrong.push(invalid("transitive_tag_keys", "tags that go on to further sessions are not supported"));
        return None;
    }
    Some(provider)
}

fn web_role(
    settings: &mut Settings<'_>,
    given: &Value,
    region: &str,
) -> Option<AssumeRoleWithWebIdentityCredentialProvider> {
    let inner = Settings::inner(given);
    let mut provider =
        AssumeRoleWithWebIdentityCredentialProvider::new().with_region(region.to_owned()).with_regional_sts_endpoint();
    if let Some(arn) = inner.text("role_arn", "") {
        provider = provider.with_role_arn(arn);
    }
    if let Some(token) = inner.text("web_identity_token", "").or_else(|| settings.text("", "AWS_WEB_IDENTITY_TOKEN")) {
        provider = provider.with_subject_token(token);
    } else if let Some(path) = inner.text("web_identity_token_file", "") {
        provider = provider.with_web_identity_token_file(path);
    }
    if let Some(name) = inner.text("session_name", "") {
        provider = provider.with_role_session_name(name);
    }
    if let Some(policy) = inner.text("policy", "") {
        provider = provider.with_policy(policy);
    }
    let policies = inner.texts("policy_arns");
    if !policies.is_empty() {
        provider = provider.with_policy_arns(policies);
    }
    if let Some(text) = inner.text("duration", "") {
        let Some(seconds) = seconds(&text) else {
            settings.wrong.push(invalid("assume_role_with_web_identity.duration", "it is no time like \"1h30m\""));
            return None;
        };
        provider = provider.with_duration_seconds(seconds);
    }
    Some(provider)
}

/// Why nothing could be signed.
pub(super) fn explain(error: &Error) -> String {
    let text = error.to_string();
    if text.contains("failed to load signing credential") {
        return "No valid credential sources found. Set access_key and secret_key, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a \
             profile"
            .to_owned();
    }
    format!("the request could not be signed: {text}")
}

/// Between the names of files that count as one.
const BETWEEN: &str = "\n";

/// What is looked for among all variables, rather than by name.
const ASKED_FOR: [&str; 11] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_STS_REGIONAL_ENDPOINTS",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
];

struct Variables(Surroundings);

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variables")
    }
}

impl Env for Variables {
    fn var(&self, key: &str) -> Option<String> {
        (self.0.variable)(key).filter(|value| !value.is_empty())
    }

    fn vars(&self) -> HashMap<String, String> {
        ASKED_FOR.iter().filter_map(|name| Some(((*name).to_owned(), self.var(name)?))).collect()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        self.0.home.clone()
    }
}

struct Files(Surroundings);

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Files").field(&self.0.working_dir).finish()
    }
}

impl FileRead for Files {
    async fn file_read(&self, path: &str) -> reqsign_core::Result<Vec<u8>> {
        let mut all = Vec::new();
        for path in path.split(BETWEEN) {
            let reading = async { tokio::fs::read(self.0.readable(path)?).await };
            all.extend(reading.await.map_err(|error| Error::config_invalid(format!("{path}: {error}")))?);
            all.push(b'\n');
        }
        Ok(all)
    }
}

#[derive(Debug)]
struct Web {
    client: reqwest::Client,
    /// Where connections may lead. None for everywhere.
    networks: Option<Networks>,
}

impl HttpSend for Web {
    async fn http_send(&self, request: http::Request<Bytes>) -> reqsign_core::Result<http::Response<Bytes>> {
        let failed = |error: reqwest::Error| Error::unexpected(causes(&error));
        let request = reqwest::Request::try_from(request.map(reqwest::Body::from)).map_err(failed)?;
        check_url(self.networks.as_ref(), request.url()).map_err(|refused| Error::unexpected(refused.to_string()))?;
        // Who is not there at all must not be waited for: the metadata service of a machine that has none.
        let answer = self.client.execute(request);
        let answer = tokio::time::timeout(std::time::Duration::from_secs(5), answer).await;
        let answer = answer.map_err(|_| Error::unexpected("no answer in time"))?.map_err(failed)?;
        let mut out = http::Response::builder().status(answer.status());
        if let Some(headers) = out.headers_mut() {
            headers.clone_from(answer.headers());
        }
        let body = answer.bytes().await.map_err(failed)?;
        out.body(body).map_err(|error| Error::unexpected(error.to_string()))
    }
}
