//! The protocol against a server on this machine, and the addresses of modules.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::credentials::StaticCredentials;
use crate::http::testing::{Asked, Reply, Server, client};

fn module(host: &str) -> ModuleAddress {
    let part = str::to_owned;
    ModuleAddress { host: Host::parse(host).unwrap(), namespace: part("ns"), name: part("name"), system: part("sys") }
}

fn registry(server: &Server) -> ModuleRegistry {
    let services = BTreeMap::from([(MODULES.to_owned(), server.url("/v1/modules").to_string())]);
    let host = Host::parse("example.test").unwrap();
    let tokens = StaticCredentials(BTreeMap::from([(host.clone(), Token::new("hunter2"))]));
    ModuleRegistry::new(Discovery::new(client(server), Arc::new(tokens)).with_services(host, services))
}

async fn location(handler: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Result<ModuleLocation, String> {
    let server = Server::start(handler);
    let found = registry(&server).location(&module("example.test"), "1.0.0").await;
    assert!(server.asked()[0].path.starts_with("/v1/modules/ns/name/sys/1.0.0/download"));
    found.map_err(|error| error.to_string())
}

#[tokio::test]
async fn versions_are_listed() {
    let server = Server::start(|_, _| {
        Reply::json(
            r#"{"modules":[{"source":"x","versions":[{"version":"1.0.0","root":{}},{"version":"2.0.0-beta"}]}]}"#,
        )
    });
    let versions = registry(&server).versions(&module("example.test")).await.unwrap();
    assert_eq!(versions, ["1.0.0", "2.0.0-beta"]);
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/v1/modules/ns/name/sys/versions");
    assert_eq!(asked.header("authorization"), Some("Bearer hunter2"));
}

#[tokio::test]
async fn a_missing_module_is_told_from_a_broken_registry() {
    let versions = async |reply: Reply| {
        let server = Server::start(move |_, _| reply.clone());
        registry(&server).versions(&module("example.test")).await.unwrap_err()
    };
    let error = versions(Reply::new(404, "")).await;
    assert_eq!(error.to_string(), "module example.test/ns/name/sys not found");
    let error = versions(Reply::new(500, "boom")).await.to_string();
    assert!(error.starts_with("error looking up module versions:") && error.contains("500"), "{error}");
    assert!(matches!(versions(Reply::json("nonsense")).await, ModuleRegistryError::Versions(_)));
}

#[tokio::test]
async fn the_location_is_in_the_header_or_in_the_body() {
    let header = |value: &'static str| move |_: &Asked, _| Reply::new(204, "").header("X-Terraform-Get", value);
    let expected = |text: &str| Ok(ModuleLocation::Indirect(RemoteSource::parse(text).unwrap()));
    assert_eq!(location(header("github.com/a/b?ref=v1")).await, expected("github.com/a/b?ref=v1"));
    let body = |text: &'static str| move |_: &Asked, _| Reply::json(text);
    assert_eq!(location(body(r#"{"location":"https://x.test/a.zip//*"}"#)).await, expected("https://x.test/a.zip//*"));
    let both = |_: &Asked, _| Reply::json("{}").header("X-Terraform-Get", "github.com/a/b");
    assert_eq!(location(both).await, expected("github.com/a/b"));
}

#[tokio::test]
async fn paths_are_relative_to_the_registry() {
    let header = |value: &'static str| move |_: &Asked, _| Reply::new(204, "").header("X-Terraform-Get", value);
    for (given, path) in [
        ("/x/a.zip", "/x/a.zip"),
        ("./a.zip", "/v1/modules/ns/name/sys/1.0.0/a.zip"),
        ("../a.zip//s", "/v1/modules/ns/name/sys/a.zip"),
    ] {
        let Ok(ModuleLocation::Indirect(source)) = location(header(given)).await else { panic!("{given}") };
        assert!(
            source.address.starts_with("http://127.0.0.1:") && source.address.ends_with(path),
            "{}",
            source.address
        );
    }
}

#[tokio::test]
async fn registries_may_host_packages_themselves() {
    let body = |text: &'static str| move |_: &Asked, _| Reply::json(text);
    let with = location(body(r#"{"location":"./a.zip","use_registry_credentials":true}"#)).await.unwrap();
    let ModuleLocation::Direct { url, token } = with else { panic!("{with:?}") };
    assert!(url.path().ends_with("/1.0.0/a.zip"));
    assert_eq!(token, Some(Token::new("hunter2")));
    let without = location(body(r#"{"location":"https://x.test/a.zip","use_registry_credentials":false}"#)).await;
    assert!(matches!(without, Ok(ModuleLocation::Direct { token: None, .. })));
    for bad in [
        r#"{"location":"ftp://x/y","use_registry_credentials":true}"#,
        r#"{"location":"/a#b","use_registry_credentials":true}"#,
    ] {
        assert!(location(body(bad)).await.unwrap_err().contains("invalid package location"), "{bad}");
    }
}

#[tokio::test]
async fn bad_locations_are_told() {
    let error = location(|_, _| Reply::new(204, "")).await.unwrap_err();
    assert_eq!(error, "registry did not return a location for this package");
    let error = location(|_, _| Reply::new(404, "")).await.unwrap_err();
    assert_eq!(error, "module \"example.test/ns/name/sys\" version \"1.0.0\" not found");
    let error = location(|_, _| Reply::new(204, "").header("X-Terraform-Get", "nonsense")).await.unwrap_err();
    assert!(error.starts_with("registry returned invalid package location \"nonsense\":"), "{error}");
    let error = location(|_, _| Reply::new(403, "go away")).await.unwrap_err();
    assert!(error.contains("403") && error.contains("go away"), "{error}");
}

#[test]
fn addresses_of_modules_are_read() {
    let default = Host::parse("registry.opentofu.org").unwrap();
    let read = |text: &str| {
        let (address, subdir) = ModuleAddress::parse(text, &default).map_err(|error| error.to_string())?;
        Ok::<_, String>(subdir.map_or(address.to_string(), |subdir| format!("{address}//{subdir}")))
    };
    for (given, expected) in [
        ("gitlab.com/hashicorp/foo/bar", "gitlab.com/hashicorp/foo/bar"),
        ("example.com/ns/name/system//sub", "example.com/ns/name/system//sub"),
        ("example.com:8443/ns/name/system", "example.com:8443/ns/name/system"),
        ("EXAMPLE.com/ns/name/system", "example.com/ns/name/system"),
        ("hashicorp/consul/aws", "registry.opentofu.org/hashicorp/consul/aws"),
        ("Испытание.com/a/b/c", "испытание.com/a/b/c"),
        ("a_b/c_d/e", "registry.opentofu.org/a_b/c_d/e"),
    ] {
        assert_eq!(read(given).as_deref(), Ok(expected), "{given}");
    }
    for (given, expected) in [
        ("./a", "can't use local directory \"./a\" as a module registry address"),
        ("a/b", "a module registry source address must have either three or four slash-separated components"),
        ("hashicorp/consul/aws//../x", "subdirectory path \"../x\" leads outside of the module package"),
        ("hashicorp/consul/aws?ref=1", "module registry addresses may not include a query string portion"),
        ("a/b/c/d", "invalid module registry hostname: must contain at least one dot"),
        (
            "foo.bar/baz/qux",
            "source address must have three more components after the hostname: the namespace, the name, and the target system",
        ),
        (
            "xn--80akhbyknj4f.com/a/b/c",
            "invalid module registry hostname \"xn--80akhbyknj4f.com\"; internationalized domain names must be given as direct unicode characters, not in punycode",
        ),
        (
            "github.com/a/b/c",
            "can't use \"github.com\" as a module registry host, because it's reserved for installing directly from version control repositories",
        ),
        ("a/b/c-d", "invalid target system \"c-d\": must be between one and 64 ASCII letters or digits"),
    ] {
        assert_eq!(read(given).unwrap_err(), expected, "{given}");
    }
}
