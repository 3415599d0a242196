//! Archives as they should be.

use super::build::{Thing, bzip2, directory, file, gzip, hardlink, symlink, tar, tar_entry, xz, zip};
use super::*;

fn sample() -> Vec<Thing> {
    vec![
        directory("repo-1.0/"),
        file("repo-1.0/main.tf", "resource {}"),
        file("repo-1.0/modules/a/main.tf", &"x".repeat(5000)),
        Thing::File(b"repo-1.0/run.sh".into(), b"#!/bin/sh".into(), 0o755),
        directory("repo-1.0/empty"),
        file("./dotted/./file", ""),
    ]
}

fn check_sample(place: &Place) {
    let at = |path: &str| place.destination().join(path);
    assert_eq!(std::fs::read_to_string(at("repo-1.0/main.tf")).unwrap(), "resource {}");
    assert_eq!(std::fs::read_to_string(at("repo-1.0/modules/a/main.tf")).unwrap().len(), 5000);
    assert!(at("repo-1.0/empty").is_dir() && at("dotted/file").is_file());
}

#[test]
fn every_format_is_unpacked() {
    let tar = tar(&sample());
    for (bytes, format) in [
        (zip(&sample()), Format::Zip),
        (tar.clone(), Format::Tar),
        (gzip(&tar), Format::TarGz),
        (bzip2(&tar), Format::TarBz2),
        (xz(&tar), Format::TarXz),
    ] {
        let place = Place::new();
        let unpacked =
            place.unpack(&bytes, format, &Limits::SOURCE).unwrap_or_else(|error| panic!("{format}: {error}"));
        assert_eq!(unpacked, Unpacked { files: 6, bytes: 5020 }, "{format}");
        check_sample(&place);
        assert_eq!(Format::sniff(&mut std::io::Cursor::new(bytes)).unwrap(), Some(format));
    }
}

#[cfg(unix)]
#[test]
fn only_the_execute_bit_survives() {
    use std::os::unix::fs::PermissionsExt;
    let things = [
        Thing::File(b"plain".into(), b"".into(), 0o666),
        Thing::File(b"program".into(), b"".into(), 0o700),
        Thing::File(b"setuid".into(), b"".into(), 0o6755),
        Thing::File(b"sticky".into(), b"".into(), 0o1000),
    ];
    for (bytes, format) in [(tar(&things), Format::Tar), (zip(&things), Format::Zip)] {
        let place = Place::new();
        place.unpack(&bytes, format, &Limits::SOURCE).unwrap();
        let mode = |name: &str| place.destination().join(name).metadata().unwrap().permissions().mode() & 0o7777;
        // Whoever runs the tests may have any mask.
        assert_eq!(mode("plain") & 0o7133, 0, "{format}");
        assert_eq!((mode("program") & 0o7000, mode("program") & 0o100), (0, 0o100), "{format}");
        assert_eq!(mode("setuid") & 0o7000, 0, "{format}");
        assert_eq!(mode("sticky") & 0o7000, 0, "{format}");
        assert_eq!(place.destination().metadata().unwrap().permissions().mode() & 0o777, 0o755);
    }
}

#[cfg(unix)]
#[test]
fn links_inside_are_kept() {
    let things = [
        file("a/b/file", "content"),
        symlink("a/near", "b/file"),
        symlink("a/b/up", "../../a/b/file"),
        symlink("a/dir", "./b"),
        symlink("dangling", "later"),
        hardlink("second", "a/b/file"),
    ];
    let place = Place::new();
    place.unpack(&tar(&things), Format::Tar, &Limits::SOURCE).unwrap();
    for name in ["a/near", "a/b/up", "a/dir/file", "second"] {
        assert_eq!(std::fs::read_to_string(place.destination().join(name)).unwrap(), "content", "{name}");
    }
    let place = Place::new();
    place.unpack(&zip(&things[..5]), Format::Zip, &Limits::SOURCE).unwrap();
    assert_eq!(std::fs::read_to_string(place.destination().join("a/dir/file")).unwrap(), "content");
}

#[test]
fn remarks_in_tar_archives_are_passed_over() {
    let remark = tar_entry(b"pax_global_header", b'g', 0o666, b"", b"19 comment=abcdefg\n");
    let attributes = tar_entry(b"PaxHeader/x", b'x', 0o666, b"", b"13 path=long\n");
    let bytes = [remark, attributes, tar(&[file("short", "x")])].concat();
    let place = Place::new();
    place.unpack(&bytes, Format::Tar, &Limits::SOURCE).unwrap();
    assert_eq!(names(&place.destination()), ["long"]);
}

#[test]
fn long_names_are_read() {
    let name = format!("{}/{}", "d".repeat(90), "f".repeat(90));
    let place = Place::new();
    place.unpack(&tar(&[file(&name, "x")]), Format::Tar, &Limits::SOURCE).unwrap();
    assert!(place.destination().join(name).is_file());
}

#[test]
fn a_single_file_is_decompressed() {
    let content = vec![b'x'; 10_000];
    for (bytes, format) in [(gzip(&content), Format::Gz), (bzip2(&content), Format::Bz2), (xz(&content), Format::Xz)] {
        let mut packed = tempfile::tempfile().unwrap();
        packed.write_all(&bytes).unwrap();
        let mut output = Vec::new();
        assert_eq!(decompress(&mut packed, format, &mut output, &Limits::SOURCE).unwrap(), 10_000);
        assert_eq!(output, content);
        let place = Place::new();
        assert!(matches!(place.unpack(&bytes, format, &Limits::SOURCE), Err(ArchiveError::SingleFile(_))));
        let small = Limits { bytes: 9_999, ..Limits::SOURCE };
        let refused = decompress(&mut packed, format, &mut Vec::new(), &small);
        assert!(matches!(refused, Err(ArchiveError::TooLarge { limit: 9_999 })));
    }
}

#[test]
fn what_is_there_is_not_overwritten() {
    let place = Place::new();
    std::fs::create_dir(place.destination()).unwrap();
    std::fs::write(place.destination().join("mine"), "mine").unwrap();
    let mut archive = tempfile::tempfile().unwrap();
    archive.write_all(&tar(&sample())).unwrap();
    let refused = unpack(&mut archive, Format::Tar, &place.destination(), &Limits::SOURCE);
    assert!(matches!(refused, Err(ArchiveError::Write { .. })));
    assert_eq!(names(&place.destination()), ["mine"]);
    place.check_outside();
}
