//! Archives that grow. How much memory and time they take is measured by an integration test.

use super::build::{Zip, bzip2, file, gzip, tar, tar_entry, xz, zip};
use super::*;

const SIZE: usize = 32 << 20;

fn zeros() -> Vec<u8> {
    tar_entry(b"zeros", b'0', 0o644, b"", &vec![0; SIZE])
}

#[test]
fn content_that_grows_too_much_is_refused() {
    let mut archive = Zip::default();
    let stored = archive.data(b"zeros", &vec![0; SIZE], true);
    archive.entry(b"zeros", 0o100_644, stored);
    for (bytes, format) in [
        (archive.finish(), Format::Zip),
        (gzip(&zeros()), Format::TarGz),
        (bzip2(&zeros()), Format::TarBz2),
        (xz(&zeros()), Format::TarXz),
    ] {
        let result = Place::new().unpack(&bytes, format, &Limits::SOURCE);
        assert!(matches!(result, Err(ArchiveError::TooLarge { .. })), "{format}: {result:?}");
    }
}

#[test]
fn small_files_may_compress_as_well_as_they_like() {
    let content = tar_entry(b"zeros", b'0', 0o644, b"", &vec![0; 1 << 20]);
    Place::new().unpack(&gzip(&content), Format::TarGz, &Limits::SOURCE).unwrap();
}

#[test]
fn one_piece_of_data_for_many_files_is_refused() {
    // Every entry of the directory leads to the same bytes.
    let mut archive = Zip::default();
    let stored = archive.data(b"f", &vec![0; 1 << 20], true);
    for index in 0..2000 {
        archive.entry(format!("f{index}").as_bytes(), 0o100_644, stored);
    }
    let result = Place::new().unpack(&archive.finish(), Format::Zip, &Limits::SOURCE);
    assert!(result.is_err(), "{result:?}");
}

#[test]
fn too_many_things_are_refused() {
    let limits = Limits { files: 100, ..Limits::SOURCE };
    let things: Vec<_> = (0..101).map(|index| file(&format!("f{index}"), "")).collect();
    for (bytes, format) in [(zip(&things), Format::Zip), (tar(&things), Format::Tar)] {
        let result = Place::new().unpack(&bytes, format, &limits);
        assert!(matches!(result, Err(ArchiveError::TooMany { limit: 100 })), "{format}: {result:?}");
        Place::new().unpack(&bytes, format, &Limits::SOURCE).unwrap();
    }
    // Directories count too, also if they come again and again.
    let same = tar(&vec![super::build::directory("d"); 101]);
    assert!(matches!(Place::new().unpack(&same, Format::Tar, &limits), Err(ArchiveError::TooMany { .. })));
}

#[test]
fn a_directory_of_a_zip_archive_that_promises_too_much_is_not_read() {
    // The record for large archives says four billion entries.
    let mut bytes = zip(&[file("a", "x")]);
    let end = bytes.split_off(bytes.len() - 22);
    let offset = bytes.len() as u64;
    let mut record = b"PK\x06\x06".to_vec();
    record.extend(44_u64.to_le_bytes());
    record.extend([0; 12]);
    record.extend((u64::from(u32::MAX)).to_le_bytes());
    record.extend((u64::from(u32::MAX)).to_le_bytes());
    record.extend([0; 16]);
    bytes.extend(record);
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend(offset.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(end);
    let result = Place::new().unpack(&bytes, Format::Zip, &Limits::SOURCE);
    assert!(matches!(result, Err(ArchiveError::TooMany { .. })), "{result:?}");
}

#[test]
fn headers_that_do_not_end_are_refused() {
    for kind in [b'L', b'K', b'x', b'g'] {
        let endless = tar_entry(b"././@LongLink", kind, 0, b"", &vec![b'x'; 8 << 20]);
        let bytes = [endless, tar(&[file("a", "")])].concat();
        let result = Place::new().unpack(&gzip(&bytes), Format::TarGz, &Limits::SOURCE);
        assert!(matches!(result, Err(ArchiveError::Damaged(_))), "{}: {result:?}", char::from(kind));
    }
}

#[test]
fn endless_padding_is_refused() {
    let bytes = [tar(&[file("a", "")]), vec![0; 8 << 20]].concat();
    let result = Place::new().unpack(&gzip(&bytes), Format::TarGz, &Limits::SOURCE);
    assert!(matches!(result, Err(ArchiveError::Damaged(_))), "{result:?}");
}

#[test]
fn limits_of_bytes_hold_for_all_files_together() {
    let limits = Limits { bytes: 1000, ..Limits::SOURCE };
    let things: Vec<_> = (0..11).map(|index| file(&format!("f{index}"), &"x".repeat(100))).collect();
    let result = Place::new().unpack(&tar(&things), Format::Tar, &limits);
    assert!(matches!(result, Err(ArchiveError::TooLarge { limit: 1000 })), "{result:?}");
    Place::new().unpack(&tar(&things[..10]), Format::Tar, &limits).unwrap();
}
