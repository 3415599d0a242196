//! What addresses mean. The tables were made by OpenTofu 1.12.6.

use super::*;
use crate::archive::Format;

/// Address, package, directory.
const UNDERSTOOD: [(&str, &str, &str); 92] = [
    ("github.com/hashicorp/terraform-cidr-subnets", "git::https://github.com/hashicorp/terraform-cidr-subnets.git", ""),
    (
        "github.com/hashicorp/terraform-cidr-subnets//example/foo",
        "git::https://github.com/hashicorp/terraform-cidr-subnets.git",
        "example/foo",
    ),
    (
        "github.com/hashicorp/terraform-cidr-subnets//example/foo?ref=bar",
        "git::https://github.com/hashicorp/terraform-cidr-subnets.git?ref=bar",
        "example/foo",
    ),
    (
        "github.com/hashicorp/terraform-cidr-subnets//example/foo?",
        "git::https://github.com/hashicorp/terraform-cidr-subnets.git",
        "example/foo",
    ),
    (
        "github.com/hashicorp/terraform-cidr-subnets//example/foo?ref=bar/baz",
        "git::https://github.com/hashicorp/terraform-cidr-subnets.git?ref=bar/baz",
        "example/foo",
    ),
    ("github.com/hashicorp/foo?foo=bar", "git::https://github.com/hashicorp/foo.git?foo=bar", ""),
    ("github.com/hashicorp/foo.git", "git::https://github.com/hashicorp/foo.git", ""),
    ("github.com/hashicorp/foo.git?foo=bar", "git::https://github.com/hashicorp/foo.git?foo=bar", ""),
    ("github.com/hashicorp/foo/bar", "git::https://github.com/hashicorp/foo.git", "bar"),
    ("github.com/hashicorp/foo/bar/baz?ref=x", "git::https://github.com/hashicorp/foo.git?ref=x", "bar/baz"),
    ("github.com/hashicorp/foo.git/bar", "git::https://github.com/hashicorp/foo.git", "bar"),
    ("github.com/hashicorp/foo//bar//baz", "git::https://github.com/hashicorp/foo.git", "bar/baz"),
    ("github.com/hashicorp/foo/bar//baz", "git::https://github.com/hashicorp/foo.git", "bar/baz"),
    ("github.com/a/b c", "git::https://github.com/a/b%20c.git", ""),
    ("github.com/a/b%20c", "git::https://github.com/a/b%20c.git", ""),
    ("github.com/a/b?ref=x#frag", "git::https://github.com/a/b.git?ref=x#frag", ""),
    ("github.com/hashicorp/foo/", "git::https://github.com/hashicorp/foo.git", ""),
    ("github.com/hashicorp/foo//", "git::https://github.com/hashicorp/foo.git", ""),
    ("github.com/hashicorp/foo//.", "git::https://github.com/hashicorp/foo.git", "."),
    ("git@github.com:hashicorp/foo.git", "git::ssh://git@github.com/hashicorp/foo.git", ""),
    (
        "git@github.com:hashicorp/foo.git?ref=v1&depth=1",
        "git::ssh://git@github.com/hashicorp/foo.git?depth=1&ref=v1",
        "",
    ),
    ("git@github.com:hashicorp/foo.git?z=1&a=2", "git::ssh://git@github.com/hashicorp/foo.git?a=2&z=1", ""),
    ("git@github.com:hashicorp/foo.git//bar", "git::ssh://git@github.com/hashicorp/foo.git", "bar"),
    ("git@github.com:hashicorp/foo.git//bar?ref=x", "git::ssh://git@github.com/hashicorp/foo.git?ref=x", "bar"),
    ("git@github.com:hashicorp/foo.git?foo=bar", "git::ssh://git@github.com/hashicorp/foo.git?foo=bar", ""),
    ("git@github.xyz.com:org/project.git", "git::ssh://git@github.xyz.com/org/project.git", ""),
    (
        "git@github.xyz.com:org/project.git?ref=test-branch",
        "git::ssh://git@github.xyz.com/org/project.git?ref=test-branch",
        "",
    ),
    ("git@github.xyz.com:org/project.git//module/a", "git::ssh://git@github.xyz.com/org/project.git", "module/a"),
    (
        "git@github.xyz.com:org/project.git//module/a?ref=test-branch",
        "git::ssh://git@github.xyz.com/org/project.git?ref=test-branch",
        "module/a",
    ),
    ("git@github.xyz.com:/org/project.git", "git::ssh://git@github.xyz.com/org/project.git", ""),
    ("git@github.xyz.com://org/project.git", "git::ssh://git@github.xyz.com/org/project.git", ""),
    ("host:path", "host:path", ""),
    ("git::git@github.com:hashicorp/foo.git", "git::ssh://git@github.com/hashicorp/foo.git", ""),
    ("git::git@github.com:hashicorp/foo.git?ref=a b", "git::ssh://git@github.com/hashicorp/foo.git?ref=a+b", ""),
    ("git::ssh://git@example.com/code/baz.git", "git::ssh://git@example.com/code/baz.git", ""),
    (
        "git::ssh://git@example.com:2222/code/baz.git//x?ref=y",
        "git::ssh://git@example.com:2222/code/baz.git?ref=y",
        "x",
    ),
    (
        "git::https://example.com/code/baz.git//bleep/bloop?otherthing=blah",
        "git::https://example.com/code/baz.git?otherthing=blah",
        "bleep/bloop",
    ),
    ("git::https://example.com/code/baz.git//*?ref=1", "git::https://example.com/code/baz.git?ref=1", "*"),
    ("git::https://user:pw@example.com/code/baz.git", "git::https://user:pw@example.com/code/baz.git", ""),
    ("git::file:///srv/x.git", "git::file:///srv/x.git", ""),
    ("git::/srv/x.git", "git::file:///srv/x.git", ""),
    ("git::/srv/x.git//sub?ref=a", "git::file:///srv/x.git?ref=a", "sub"),
    ("git://example.com/code/baz.git", "git://example.com/code/baz.git", ""),
    ("git://example.com/code/baz.git//bleep/bloop", "git://example.com/code/baz.git", "bleep/bloop"),
    ("hg::http://example.com/foo.hg", "hg::http://example.com/foo.hg", ""),
    ("hg::https://example.com/foo", "hg::https://example.com/foo", ""),
    ("http://example.com/module", "http://example.com/module", ""),
    ("https://example.com/module.zip", "https://example.com/module.zip", ""),
    (
        "https://example.com/module?archive=tar&checksum=blah",
        "https://example.com/module?archive=tar&checksum=blah",
        "",
    ),
    ("https://example.com/vpc-module.zip//foo?archive=zip", "https://example.com/vpc-module.zip?archive=zip", "foo"),
    ("https://example.com//a//b", "https://example.com", "a/b"),
    ("https://example.com/a//b/../c", "https://example.com/a", "c"),
    ("https://[::1]:80/x", "https://[::1]:80/x", ""),
    ("HTTPS://example.com/x", "HTTPS://example.com/x", ""),
    (
        "s3::https://s3-eu-west-1.amazonaws.com/examplecorp-terraform-modules/vpc.zip",
        "s3::https://s3-eu-west-1.amazonaws.com/examplecorp-terraform-modules/vpc.zip",
        "",
    ),
    (
        "s3-eu-west-1.amazonaws.com/examplecorp-terraform-modules/vpc.zip",
        "s3::https://s3-eu-west-1.amazonaws.com/examplecorp-terraform-modules/vpc.zip",
        "",
    ),
    ("bucket.s3-eu-west-1.amazonaws.com/foo", "s3::https://s3-eu-west-1.amazonaws.com/bucket/foo", ""),
    (
        "bucket.s3-eu-west-1.amazonaws.com/foo/bar.baz?version=1234",
        "s3::https://s3-eu-west-1.amazonaws.com/bucket/foo/bar.baz?version=1234",
        "",
    ),
    ("bucket.s3.eu-west-1.amazonaws.com/foo//bar", "s3::https://s3.eu-west-1.amazonaws.com/bucket/foo", "bar"),
    (
        "www.googleapis.com/storage/v1/BUCKET_NAME/PATH_TO_MODULE",
        "gcs::https://www.googleapis.com/storage/v1/BUCKET_NAME/PATH_TO_MODULE",
        "",
    ),
    (
        "www.googleapis.com/storage/v1/foo/bar/baz.zip//x",
        "gcs::https://www.googleapis.com/storage/v1/foo/bar/baz.zip",
        "x",
    ),
    (
        "gcs::https://www.googleapis.com/storage/v1/BUCKET_NAME/PATH/TO/module.zip",
        "gcs::https://www.googleapis.com/storage/v1/BUCKET_NAME/PATH/TO/module.zip",
        "",
    ),
    ("oci://example.com/repo?tag=1", "oci://example.com/repo?tag=1", ""),
    ("oci://example.com/repo//sub?digest=sha256:abc", "oci://example.com/repo?digest=sha256:abc", "sub"),
    ("/srv/foo", "file:///srv/foo", ""),
    ("/srv/foo//example", "file:///srv/foo", "example"),
    ("/srv/foo bar", "file:///srv/foo bar", ""),
    ("/", "file:///", ""),
    ("dfgdfgsd:dgfhdfghdfghdfg/dfghdfghdfg", "dfgdfgsd:dgfhdfghdfghdfg/dfghdfghdfg", ""),
    ("localhost:8080/foo", "localhost:8080/foo", ""),
    ("example.com:8443/ns/name/system", "example.com:8443/ns/name/system", ""),
    ("github.com/a/b/c", "git::https://github.com/a/b.git", "c"),
    ("C:\\foo\\bar", "C:\\foo\\bar", ""),
    ("c:/foo", "c:/foo", ""),
    ("git::", "git::", ""),
    ("git::http::x", "git::http::x", ""),
    ("foo::https://example.com/x", "foo::https://example.com/x", ""),
    ("foo-bar::https://example.com/x", "foo-bar::https://example.com/x", ""),
    ("https://example.com/x?y=http://a//b", "https://example.com/x?y=http://a//b", ""),
    ("https://example.com/x//y?z=http://a//b", "https://example.com/x?z=http://a//b", "y"),
    ("file:///srv/x", "file:///srv/x", ""),
    ("file:///srv/x//y", "file:///srv/x", "y"),
    ("file://srv/x", "file://srv/x", ""),
    ("file::/srv/x", "file::file:///srv/x", ""),
    ("https://", "https://", ""),
    ("https:///x", "https:///x", ""),
    ("a:b@c:d", "a:b@c:d", ""),
    ("git@github.com:a b/c.git", "git::ssh://git@github.com/a%20b/c.git", ""),
    ("github.com/a/b//c d", "git::https://github.com/a/b.git", "c d"),
    ("github.com/a/b//c?ref=a%20b", "git::https://github.com/a/b.git?ref=a%20b", "c"),
    ("/srv/é", "file:///srv/é", ""),
    ("github.com/a/é", "git::https://github.com/a/%C3%A9.git", ""),
];

/// Address, error.
const REFUSED: [(&str, &str); 49] = [
    ("github.com/hashicorp/foo/bar//../baz", "subdirectory path \"../baz\" leads outside of the module package"),
    ("github.com/hashicorp", "GitHub URLs should be github.com/username/repo"),
    ("github.com/", "GitHub URLs should be github.com/username/repo"),
    ("github.com", "cannot detect a supported external module source type for github.com"),
    ("git@host:", "cannot detect a supported external module source type for git@host:"),
    ("git@host", "cannot detect a supported external module source type for git@host"),
    ("git@:x", "cannot detect a supported external module source type for git@:x"),
    ("user@host:path/x", "cannot detect a supported external module source type for user@host:path/x"),
    (
        "git::user@github.com:hashicorp/foo.git",
        "cannot detect a supported external module source type for user@github.com:hashicorp/foo.git",
    ),
    (
        "git::ssh://git@example.com:code/baz.git",
        "cannot detect a supported external module source type for ssh://git@example.com:code/baz.git",
    ),
    ("git::./x", "cannot detect a supported external module source type for ./x"),
    ("git::x/y", "cannot detect a supported external module source type for x/y"),
    ("https://example.com/a//../c", "subdirectory path \"../c\" leads outside of the module package"),
    ("https://example.com/%zz", "cannot detect a supported external module source type for https://example.com/%zz"),
    ("https://exa mple.com/x", "cannot detect a supported external module source type for https://exa mple.com/x"),
    (
        "https://example.com:port/x",
        "cannot detect a supported external module source type for https://example.com:port/x",
    ),
    ("https://[::1/x", "cannot detect a supported external module source type for https://[::1/x"),
    ("a.b.c.d.e.f.amazonaws.com/foo", "URL is not a valid S3 URL"),
    ("www.googleapis.com/storage/v1/foo", "URL is not a valid GCS URL"),
    ("/srv/foo//example/../../invalid", "subdirectory path \"../invalid\" leads outside of the module package"),
    ("//x", "invalid source string: "),
    ("boop/bloop", "cannot detect a supported external module source type for boop/bloop"),
    ("boop", "cannot detect a supported external module source type for boop"),
    ("gitlab.com/a/b", "cannot detect a supported external module source type for gitlab.com/a/b"),
    (
        "gitlab.com/hashicorp/foo/bar",
        "cannot detect a supported external module source type for gitlab.com/hashicorp/foo/bar",
    ),
    (
        "example.com/ns/name/system",
        "cannot detect a supported external module source type for example.com/ns/name/system",
    ),
    (
        "example.com/ns/name/system//sub",
        "cannot detect a supported external module source type for example.com/ns/name/system",
    ),
    (
        "EXAMPLE.com/ns/name/system",
        "cannot detect a supported external module source type for EXAMPLE.com/ns/name/system",
    ),
    ("hashicorp/consul/aws", "cannot detect a supported external module source type for hashicorp/consul/aws"),
    ("hashicorp/consul/aws//../x", "subdirectory path \"../x\" leads outside of the module package"),
    (
        "hashicorp/consul/aws?ref=1",
        "cannot detect a supported external module source type for hashicorp/consul/aws?ref=1",
    ),
    ("a/b/c/d", "cannot detect a supported external module source type for a/b/c/d"),
    ("foo.bar/baz/qux", "cannot detect a supported external module source type for foo.bar/baz/qux"),
    ("Испытание.com/a/b/c", "cannot detect a supported external module source type for Испытание.com/a/b/c"),
    (
        "xn--80akhbyknj4f.com/a/b/c",
        "cannot detect a supported external module source type for xn--80akhbyknj4f.com/a/b/c",
    ),
    ("a_b/c_d/e", "cannot detect a supported external module source type for a_b/c_d/e"),
    ("_a/b/c", "cannot detect a supported external module source type for _a/b/c"),
    ("a/b/c-d", "cannot detect a supported external module source type for a/b/c-d"),
    ("a/B/C", "cannot detect a supported external module source type for a/B/C"),
    ("::foo", "cannot detect a supported external module source type for ::foo"),
    ("git::::x", "cannot detect a supported external module source type for ::x"),
    ("a::b", "cannot detect a supported external module source type for b"),
    ("?x", "cannot detect a supported external module source type for ?x"),
    ("#x", "cannot detect a supported external module source type for #x"),
    ("a?b//c", "cannot detect a supported external module source type for a?b//c"),
    ("~/foo", "cannot detect a supported external module source type for ~/foo"),
    ("", "invalid source string: "),
    ("a\nb", "cannot detect a supported external module source type for a\nb"),
    ("https://x/\u{1}", "cannot detect a supported external module source type for https://x/\u{1}"),
];

#[test]
fn addresses_have_the_normal_form_that_opentofu_gives_them() {
    for (given, package, subdir) in UNDERSTOOD {
        let source = RemoteSource::parse(given).unwrap_or_else(|error| panic!("{given}: {error}"));
        assert_eq!(
            (source.address.as_str(), source.subdir.as_deref().unwrap_or_default()),
            (package, subdir),
            "{given}"
        );
    }
}

#[test]
fn what_opentofu_refuses_is_refused_in_its_words() {
    for (given, expected) in REFUSED {
        let error = RemoteSource::parse(given).expect_err(given);
        assert_eq!(error.to_string(), expected, "{given}");
    }
}

#[test]
fn the_normal_form_is_read_as_itself() {
    for (given, ..) in UNDERSTOOD {
        let source = RemoteSource::parse(given).unwrap();
        let again = RemoteSource::parse(&source.to_string());
        assert_eq!(again.as_ref(), Ok(&source), "{given}");
    }
}

#[test]
fn some_things_differ_on_purpose() {
    // Nobody is asked over the network what an address means.
    let source = RemoteSource::parse("bitbucket.org/a/b?ref=x").unwrap();
    assert_eq!(source.address, "git::https://bitbucket.org/a/b.git?ref=x");
    assert!(RemoteSource::parse("bitbucket.org/a").is_err());
    // The parent of the package is outside, also without a slash behind it.
    assert_eq!(RemoteSource::parse("https://example.com/a//.."), Err(AddressError::Outside("..".into())));
}

fn package(address: &str) -> Result<Package, AddressError> {
    RemoteSource::parse(address).and_then(|source| source.package())
}

fn git(address: &str) -> GitSource {
    match package(address) {
        Ok(Package::Git(git)) => git,
        other => panic!("{address}: {other:?}"),
    }
}

#[test]
fn git_parameters_are_ours_and_the_rest_is_the_servers() {
    let source = git("git::https://example.com/a.git?ref=v1&depth=3&sshkey=QUJD&other=x%20y");
    assert_eq!(source.url, "https://example.com/a.git?other=x+y");
    assert_eq!(source.reference.as_deref(), Some("v1"));
    assert_eq!((source.depth, source.ssh_key.as_deref()), (Some(3), Some("QUJD")));
    assert_eq!(git("git::https://example.com/a.git?depth=all&ref=").url, "https://example.com/a.git");
    assert_eq!(git("git::https://example.com/a.git?depth=0").depth, None);
    assert_eq!(git("github.com/a/b//c?ref=feature/x").reference.as_deref(), Some("feature/x"));
    assert_eq!(git("git@example.com:a/b.git?ref=v1").url, "ssh://git@example.com/a/b.git");
    assert_eq!(git("git://example.com/a.git").url, "git://example.com/a.git");
    assert_eq!(git("git::/srv/a.git").url, "file:///srv/a.git");
}

#[test]
fn a_key_in_an_address_is_not_shown() {
    let address = "git::ssh://git@example.com/a.git?sshkey=QUJDREVG";
    assert!(!format!("{:?}", git(address)).contains("QUJD"));
    assert!(!RemoteSource::parse(address).unwrap().for_display().contains("QUJD"));
}

#[test]
fn archives_are_told_by_their_name_or_by_a_parameter() {
    let choice = |address: &str| match package(address) {
        Ok(Package::Http(http)) => (http.url.to_string(), http.archive),
        other => panic!("{address}: {other:?}"),
    };
    let unpack = |url: &str, format| (url.to_owned(), ArchiveChoice::Unpack(format));
    assert_eq!(choice("https://example.com/a.zip"), unpack("https://example.com/a.zip", Format::Zip));
    assert_eq!(choice("https://example.com/a.tar.gz?x=1"), unpack("https://example.com/a.tar.gz?x=1", Format::TarGz));
    assert_eq!(choice("https://example.com/a?archive=tgz&x=1"), unpack("https://example.com/a?x=1", Format::TarGz));
    assert_eq!(choice("https://example.com/a.zip?archive=false").1, ArchiveChoice::No);
    assert_eq!(choice("https://example.com/a").1, ArchiveChoice::No);
    assert!(package("https://example.com/a?archive=rar").is_err());
    assert!(
        matches!(package("/srv/a.zip"), Ok(Package::File(file)) if file.archive == ArchiveChoice::Unpack(Format::Zip))
    );
    assert!(matches!(package("/srv/a%20b"), Ok(Package::File(file)) if file.path.to_str() == Some("/srv/a b")));
}

#[test]
fn checksums_have_a_kind_and_the_right_length() {
    let checksum = |text: &str| match package(&format!("https://example.com/a.zip?checksum={text}")) {
        Ok(Package::Http(http)) => Ok(http.checksum.unwrap().kind),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    };
    let hex = |bytes: usize| "ab".repeat(bytes);
    assert_eq!(checksum(&hex(16)), Ok(HashKind::Md5));
    assert_eq!(checksum(&hex(32)), Ok(HashKind::Sha256));
    assert_eq!(checksum(&format!("sha512:{}", hex(64))), Ok(HashKind::Sha512));
    for bad in ["zz".to_owned(), hex(5), format!("md5:{}", hex(32)), format!("crc:{}", hex(4)), "file:x".to_owned()] {
        assert!(checksum(&bad).is_err(), "{bad}");
    }
}

#[test]
fn ways_of_fetching_that_are_missing_say_what_to_do() {
    for (address, word) in [
        ("hg::https://example.com/a", "Mercurial"),
        ("s3::https://s3.amazonaws.com/a/b.zip", "S3"),
        ("gcs::https://www.googleapis.com/storage/v1/a/b", "Google"),
        ("oci://example.com/a", "OCI"),
    ] {
        let error = package(address).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("not supported"), "{error}");
    }
    assert_eq!(package("localhost:8080/a").unwrap_err().to_string(), "download not supported for scheme 'localhost'");
    assert_eq!(package("ext::https://x").unwrap_err().to_string(), "download not supported for scheme 'ext'");
}

#[test]
fn a_port_that_is_a_path_is_explained() {
    let source = RemoteSource { address: "git::ssh://git@example.com:owner/a.git".into(), subdir: None };
    let error = source.package().unwrap_err().to_string();
    assert!(error.contains("scp-like"), "{error}");
}

#[test]
fn directories_add_up() {
    let source = RemoteSource::parse("github.com/a/b//c").unwrap();
    assert_eq!(source.clone().with_subdir("d/e").unwrap().to_string(), "git::https://github.com/a/b.git//c/d/e");
    assert_eq!(source.clone().with_subdir("../d").unwrap().subdir.as_deref(), Some("d"));
    assert!(source.with_subdir("../../d").is_err());
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_panicking(text in ".{0,40}", prefix in 0_usize..6) {
        let prefix = ["", "git::", "github.com/", "git@", "https://", "file:///"][prefix];
        if let Ok(source) = RemoteSource::parse(&format!("{prefix}{text}")) {
            let _ = source.package();
            proptest::prop_assert!(!source.subdir.as_deref().is_some_and(|subdir| subdir.starts_with("../")));
        }
    }
}
