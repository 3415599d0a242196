//! What can be said about the backend without a server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use groma_model::value::Value;

use super::location::Location;
use super::xml::{self, Found};
use super::*;

fn surroundings(variables: &'static [(&str, &str)]) -> (tokio::runtime::Runtime, Surroundings) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let surroundings = Surroundings {
        variable: Arc::new(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, it)| (*it).to_owned())),
        working_dir: "wd".into(),
        home: None,
        runtime: runtime.handle().clone(),
        random: Arc::new(|| [0; 16]),
        spool: "spool".into(),
        cluster: None,
        limits: crate::Limits::default(),
        is_gone: None,
    };
    (runtime, surroundings)
}

fn settings(pairs: &[(&str, &str)]) -> Value {
    let value = |text: &str| match text {
        "true" => Value::from(true),
        text => Value::string(text),
    };
    Value::object(pairs.iter().map(|(name, text)| (*name, value(text))))
}

const ENOUGH: [(&str, &str); 3] = [("bucket", "b"), ("key", "k"), ("region", "eu-west-1")];

fn configure(more: &[(&str, &str)], variables: &'static [(&str, &str)]) -> Result<Arc<dyn Backend>, Vec<String>> {
    let (_runtime, surroundings) = surroundings(variables);
    let all: Vec<_> = ENOUGH.iter().chain(more).copied().collect();
    let diagnostics = |all: Diagnostics| all.iter().map(|one| format!("{}: {}", one.summary, one.detail)).collect();
    S3.configure(&settings(&all), &surroundings).map_err(diagnostics)
}

fn object(more: &[(&str, &str)], bucket: &str, variables: &'static [(&str, &str)]) -> String {
    let (_runtime, surroundings) = surroundings(variables);
    let all: Vec<_> = ENOUGH.iter().chain(more).copied().collect();
    let values = settings(&all);
    let mut settings = Settings::new(&values, &surroundings);
    Location::new(&mut settings, &surroundings, bucket).unwrap().object("env:/a b/k+ü")
}

#[test]
fn objects_have_addresses_that_can_be_signed() {
    assert_eq!(object(&[], "b", &[]), "https://b.s3.eu-west-1.amazonaws.com/env%3A/a%20b/k%2B%C3%BC");
    assert_eq!(object(&[], "b.c", &[]), "https://s3.eu-west-1.amazonaws.com/b.c/env%3A/a%20b/k%2B%C3%BC");
    let dual = [("use_dualstack_endpoint", "true"), ("use_fips_endpoint", "true"), ("use_path_style", "true")];
    assert_eq!(object(&dual, "b", &[]), "https://s3-fips.dualstack.eu-west-1.amazonaws.com/b/env%3A/a%20b/k%2B%C3%BC");
    let own = [("endpoint", "http://[::1]:99/x/"), ("force_path_style", "true")];
    assert_eq!(object(&own, "b", &[]), "http://[::1]:99/x/b/env%3A/a%20b/k%2B%C3%BC");
    let variable = &[("AWS_ENDPOINT_URL_S3", "store.example:9000")];
    assert_eq!(object(&[], "b", variable), "https://b.store.example:9000/env%3A/a%20b/k%2B%C3%BC");
}

#[test]
fn listings_and_errors_are_read() {
    let page = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\"><Prefix>p</Prefix><IsTruncated>true</IsTruncated>\
        <Contents><Key>a&amp;b &#252;</Key><ETag>&quot;e&quot;</ETag><Size>3</Size><Owner><ID>i</ID></Owner></Contents>\
        <Contents><Key>c</Key><Size>0</Size></Contents><NextContinuationToken>t=</NextContinuationToken></ListBucketResult>";
    let page = xml::listing(page).unwrap();
    let found = |key: &str, size| Found { key: key.to_owned(), size };
    assert_eq!(page.found, [found("a&b ü", 3), found("c", 0)]);
    assert_eq!(page.next.as_deref(), Some("t="));
    assert_eq!(xml::listing("<ListBucketResult/>").unwrap(), xml::Page::default());
    assert!(xml::listing("<html><body>hello").is_err());
    assert!(xml::listing("nonsense").is_err());
    let error = "<Error><Code>NoSuchBucket</Code><Message>no &lt;bucket&gt;</Message></Error>";
    assert_eq!(xml::error(error), ("NoSuchBucket".to_owned(), "no <bucket>".to_owned()));
    assert_eq!(xml::error("gone"), (String::new(), String::new()));
}

#[test]
fn settings_that_cannot_be_used_are_refused_with_what_to_do() {
    let wrong = |more: &[(&str, &str)]| configure(more, &[]).err().unwrap().join("\n");
    assert!(configure(&[], &[]).is_ok());
    assert!(wrong(&[("bucket", "")]).contains("Invalid bucket value"));
    assert!(wrong(&[("key", "/k")]).contains("Invalid key value"));
    assert!(wrong(&[("key", "k/")]).contains("start or end"));
    assert!(wrong(&[("workspace_key_prefix", "/x")]).contains("Invalid workspace_key_prefix value"));
    assert!(wrong(&[("region", "")]).contains("Missing region value"));
    assert!(wrong(&[("dynamodb_table", "t")]).contains("Locks in DynamoDB are not supported"));
    assert!(wrong(&[("sse_customer_key", "short")]).contains("Invalid sse_customer_key value"));
    assert!(wrong(&[("endpoint", "ftp://x")]).contains("\"endpoints\""));
    assert!(wrong(&[("access_key", "x")]).contains("secret_key"));
    assert!(wrong(&[("retry_mode", "often")]).contains("Invalid retry mode"));
    let both = [("kms_key_id", "x"), ("sse_customer_key", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")];
    let both = wrong(&both);
    assert!(both.contains("Invalid encryption configuration") && !both.contains("MDEy"), "{both}");
}

#[test]
fn workspaces_are_known_by_their_keys() {
    let (_runtime, surroundings) = surroundings(&[]);
    let backend = |prefix: &str, key: &str| {
        let all = [("bucket", "b"), ("key", key), ("region", "r"), ("workspace_key_prefix", prefix)];
        let values = settings(&all);
        let mut settings = Settings::new(&values, &surroundings);
        let client = Arc::new(Client::new(&mut settings, &surroundings, "b").unwrap());
        let (bucket, key, prefix) = names(&mut settings);
        S3Backend { client, bucket, key, prefix, use_lockfile: true, surroundings: surroundings.clone() }
    };
    let name = |text: &str| WorkspaceName::parse(text).unwrap();
    for (prefix, key, expected) in [("env:", "a/b", "env:/w/a/b"), ("", "a/b", "w/a/b"), ("x/y", "k", "x/y/w/k")] {
        let backend = backend(prefix, key);
        assert_eq!(backend.key_of(&WorkspaceName::default_workspace()), key);
        assert_eq!(backend.key_of(&name("w")), expected);
        assert_eq!(backend.workspace_of(expected), Some(name("w")));
        assert_eq!(backend.workspace_of(&format!("{expected}.tflock")), None);
        assert_eq!(backend.workspace_of(&format!("{expected}.groma-journal/x")), None);
        assert_eq!(backend.workspace_of("elsewhere"), None);
    }
}

#[test]
fn who_has_no_credentials_is_told_where_they_could_be() {
    let (runtime, surroundings) = surroundings(&[]);
    let all = [
        ENOUGH.as_slice(),
        &[("skip_metadata_api_check", "true"), ("endpoint", "http://127.0.0.1:9"), ("use_path_style", "true")],
    ];
    let backend = S3.configure(&settings(&all.concat()), &surroundings).unwrap();
    let error = backend.workspaces().err().unwrap().to_string();
    assert!(error.contains("No valid credential sources found"), "{error}");
    drop(runtime);
}
