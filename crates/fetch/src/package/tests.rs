//! Whole packages, from servers and repositories of this machine.
#![cfg(unix)]

use std::io::Write;
use std::sync::Arc;

use super::*;
use crate::git::testing::Lab;
use crate::http::testing::{Asked, Reply, Server, client};
use crate::progress::Silent;

/// An archive with a file in a directory.
fn archive() -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in ["repo-1/main.tf", "repo-1/modules/a/main.tf"] {
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(name.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

struct Place {
    root: tempfile::TempDir,
    fetcher: Fetcher,
}

impl Place {
    fn new(server: &Server) -> Self {
        let fetcher = Fetcher::new(client(server), GitSettings::default());
        Self { root: tempfile::tempdir().unwrap(), fetcher }
    }

    fn destination(&self) -> PathBuf {
        self.root.path().join("modules/x")
    }

    /// Fetches; after an error nothing may be there.
    async fn fetch(&self, address: impl AsRef<str>) -> Result<String, String> {
        let source = RemoteSource::parse(address.as_ref()).map_err(|error| error.to_string())?;
        let result = self.fetcher.fetch(&source, &self.destination(), &Silent).await;
        let modules = self.root.path().join("modules");
        let left: Vec<_> =
            std::fs::read_dir(modules).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
        let fetched = result.map_err(|error| {
            // Only a package that came whole, but lacks the directory, may be there.
            assert!(left.is_empty() || matches!(error, PackageError::Subdir { .. }), "{left:?} after {error}");
            error.to_string()
        })?;
        assert_eq!(left, ["x"]);
        Ok(fetched.directory.strip_prefix(self.root.path()).unwrap().display().to_string())
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.destination().join(name)).unwrap()
    }
}

fn serving(handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> (Server, Place) {
    let server = Server::start(move |asked, _| handler(asked));
    let place = Place::new(&server);
    (server, place)
}

#[tokio::test]
async fn archives_are_unpacked_and_a_directory_is_selected() {
    let (server, place) = serving(|_| Reply::new(200, archive()));
    assert_eq!(place.fetch(server.url("/a.zip//repo-*/modules/a")).await.unwrap(), "modules/x/repo-1/modules/a");
    assert_eq!(place.read("repo-1/main.tf"), "repo-1/main.tf");
    let (server, place) = serving(|_| Reply::new(200, archive()));
    let error = place.fetch(server.url("/a?archive=zip&x=1")).await;
    assert_eq!(error.unwrap(), "modules/x");
    assert_eq!(server.asked()[0].path, "/a?x=1");
    let (server, place) = serving(|_| Reply::new(200, archive()));
    let error = place.fetch(server.url("/a.zip//missing")).await.unwrap_err();
    assert_eq!(error, "subdir \"missing\" not found");
}

#[tokio::test]
async fn checksums_are_checked() {
    let right = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(archive()));
    let (server, place) = serving(|_| Reply::new(200, archive()));
    place.fetch(server.url(&format!("/a.zip?checksum=sha256:{right}"))).await.unwrap();
    let (server, place) = serving(|_| Reply::new(200, archive()));
    let wrong = right.replace('a', "b");
    let error = place.fetch(server.url(&format!("/a.zip?checksum={wrong}"))).await.unwrap_err();
    assert!(error.contains("checksums did not match") && error.contains(&right), "{error}");
}

#[tokio::test]
async fn bad_downloads_leave_nothing() {
    for (reply, words) in [
        (Reply::new(404, "gone"), "404"),
        (Reply::new(500, ""), "500"),
        (Reply::new(200, "<html>"), "cannot unpack"),
        (Reply::new(200, archive()[..50].to_vec()), "cannot unpack"),
        (Reply { promise: Some(99_999), ..Reply::new(200, archive()) }, "cannot reach"),
    ] {
        let (server, place) = serving(move |_| reply.clone());
        let error = place.fetch(server.url("/a.zip")).await.unwrap_err();
        assert!(error.contains(words) && error.contains("/a.zip"), "{error}");
    }
}

#[tokio::test]
async fn a_page_says_where_the_package_is() {
    let (server, place) = serving(|asked| match asked.path.as_str() {
        "/header?terraform-get=1" => Reply::new(204, "").header("X-Terraform-Get", "./meta?x=1"),
        "/meta?x=1&terraform-get=1" => {
            Reply::new(200, r#"<head><meta name="terraform-get" content="/a.zip//repo-1/modules"></head>"#)
        }
        "/a.zip" => Reply::new(200, archive()),
        _ => Reply::new(404, ""),
    });
    assert_eq!(place.fetch(server.url("/header//a")).await.unwrap(), "modules/x/a");
    assert_eq!(place.read("a/main.tf"), "repo-1/modules/a/main.tf");
    assert!(!place.destination().join("repo-1").exists());
}

#[tokio::test]
async fn pages_that_lead_nowhere_or_in_circles_are_refused() {
    let (server, place) = serving(|_| Reply::new(200, "<html><body>hello</body></html>"));
    let error = place.fetch(server.url("/x")).await.unwrap_err();
    assert!(error.starts_with("no source URL was returned"), "{error}");
    let (server, place) = serving(|_| Reply::new(200, "").header("X-Terraform-Get", "/again"));
    let error = place.fetch(server.url("/x")).await.unwrap_err();
    assert!(error.starts_with("too many X-Terraform-Get redirects"), "{error}");
    assert_eq!(server.asked().len(), MAX_HOPS + 1);
}

#[tokio::test]
async fn pages_do_not_lead_to_this_machine() {
    let lab = Lab::new();
    lab.repository("repo", &[("main.tf", "secret")]);
    let path = lab.path("repo").display().to_string();
    for target in [
        format!("file://{path}"),
        format!("git::file://{path}"),
        format!("git::{path}"),
        format!("GIT::file://{path}"),
        "git::FILE:///x".into(),
    ] {
        let location = target.clone();
        let (server, place) = serving(move |_| Reply::new(204, "").header("X-Terraform-Get", &location));
        assert!(place.fetch(server.url("/x")).await.is_err(), "{target}");
    }
    // A path is one of the server, not of this machine.
    let (server, place) = serving(move |_| Reply::new(204, "").header("X-Terraform-Get", &path));
    assert!(place.fetch(server.url("/x")).await.is_err());
    assert!(server.asked().len() > 1);
}

#[tokio::test]
async fn pages_do_not_lead_off_https() {
    let plain = Server::start(|_, _| Reply::new(200, archive()));
    let target = plain.url("/a.zip").to_string();
    let server = Server::start_tls(move |_, _| Reply::new(204, "").header("X-Terraform-Get", &target));
    let error = Place::new(&server).fetch(server.url("/x")).await.unwrap_err();
    assert!(error.contains("unprotected"), "{error}");
    assert!(plain.asked().is_empty());
}

#[tokio::test]
async fn a_directory_that_needs_the_rest_is_no_package() {
    let lab = Lab::new();
    lab.repository("repo", &[("shared/main.tf", "x"), ("module/main.tf", "x")]);
    std::os::unix::fs::symlink("../shared", lab.path("repo/module/shared")).unwrap();
    lab.commit("repo", &[]);
    let repositories = lab.serve();
    let url = repositories.url(&lab.publish("repo")).to_string();
    let place = Place::new(&repositories);
    assert!(place.fetch(&format!("git::{url}//module")).await.is_ok());
    let (server, place) =
        serving(move |_| Reply::new(204, "").header("X-Terraform-Get", &format!("git::{url}//module")));
    let error = place.fetch(server.url("/x")).await.unwrap_err();
    assert!(error.contains("\"shared\"") && error.contains("outside"), "{error}");
}

#[tokio::test]
async fn repositories_are_fetched() {
    let lab = Lab::new();
    lab.repository("repo", &[("main.tf", "1"), ("sub/main.tf", "2")]);
    lab.git("repo", &["tag", "v1"]);
    lab.commit("repo", &[("main.tf", "3")]);
    let server = lab.serve();
    let place = Place::new(&server);
    assert_eq!(place.fetch(&format!("git::{}//sub?ref=v1", lab.url("repo"))).await.unwrap(), "modules/x/sub");
    assert_eq!(place.read("main.tf"), "1");
    let place = Place::new(&server);
    let error = place.fetch(&format!("git::{}?ref=v2", lab.url("repo"))).await.unwrap_err();
    assert!(error.starts_with("invalid ref: \"v2\""), "{error}");
}

#[tokio::test]
async fn directories_and_archives_of_this_machine_are_used_where_allowed() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("sub")).unwrap();
    std::fs::write(outside.path().join("sub/main.tf"), "x").unwrap();
    std::fs::write(outside.path().join("a.zip"), archive()).unwrap();
    let server = Server::start(|_, _| Reply::new(404, ""));
    let path = outside.path().display().to_string();

    let place = Place::new(&server);
    assert_eq!(place.fetch(&format!("{path}//sub")).await.unwrap(), "modules/x/sub");
    assert!(place.destination().symlink_metadata().unwrap().is_symlink());
    let place = Place::new(&server);
    place.fetch(&format!("{path}/a.zip")).await.unwrap();
    assert!(place.destination().join("repo-1/main.tf").is_file());

    for (address, words) in [("/missing/x", "source path error"), ("/sub/main.tf", "must be a directory")] {
        let place = Place::new(&server);
        let error = place.fetch(&format!("{path}{address}")).await.unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let mut place = Place::new(&server);
    place.fetcher.local_files = false;
    for address in [path.clone(), format!("{path}/a.zip")] {
        assert!(place.fetch(&address).await.unwrap_err().contains("on this machine"));
    }
}

#[tokio::test]
async fn what_a_registry_hosts_is_told_by_its_bytes() {
    let (server, place) = serving(|asked| match asked.header("authorization") {
        Some("Bearer t") if asked.path == "/package" => Reply::new(200, archive()),
        Some("Bearer t") => Reply::new(200, "neither"),
        _ => Reply::new(401, ""),
    });
    let fetch = async |path: &str, token: Option<&str>| {
        let token = token.map(Token::new);
        place.fetcher.fetch_archive(&server.url(path), token, &place.destination(), &Silent).await
    };
    assert!(matches!(fetch("/package", None).await, Err(PackageError::Http(_))));
    assert!(matches!(fetch("/other", Some("t")).await, Err(PackageError::UnknownArchive(_))));
    fetch("/package", Some("t")).await.unwrap();
    assert!(place.destination().join("repo-1/main.tf").is_file());
}

#[tokio::test]
async fn hosts_of_the_netrc_file_are_told_who_asks() {
    let (server, mut place) = serving(|_| Reply::new(200, archive()));
    place.fetcher.netrc = Netrc::parse("machine 127.0.0.1 login me password secret");
    place.fetch(server.url("/a.zip")).await.unwrap();
    assert_eq!(server.asked()[0].header("authorization"), Some("Basic bWU6c2VjcmV0"));
}

#[tokio::test]
async fn several_packages_are_fetched_at_once() {
    let server = Arc::new(Server::start(|_, _| Reply::new(200, archive())));
    let fetches = (0..8).map(|_| {
        let server = server.clone();
        tokio::spawn(async move { Place::new(&server).fetch(server.url("/a.zip")).await })
    });
    for fetch in fetches.collect::<Vec<_>>() {
        assert!(fetch.await.unwrap().is_ok());
    }
}
