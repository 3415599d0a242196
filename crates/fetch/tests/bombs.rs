//! Archives that grow, in a process of their own: how much memory and time it takes to refuse them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs::File;
use std::io::{Seek, Write};

use groma_fetch::archive::{ArchiveError, Format, Limits, unpack};

/// The most memory that this process ever had, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// The header of a tar archive with one file of zeros.
fn header(size: u64) -> [u8; 512] {
    let mut header = tar::Header::new_gnu();
    header.set_path("zeros").unwrap();
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    *header.as_bytes()
}

fn write_zeros(output: &mut impl Write, size: u64) {
    let block = vec![0; 1 << 20];
    for _ in 0..size >> 20 {
        output.write_all(&block).unwrap();
    }
}

fn gzip_bomb(size: u64) -> File {
    let mut encoder = flate2::write::GzEncoder::new(tempfile::tempfile().unwrap(), flate2::Compression::fast());
    encoder.write_all(&header(size)).unwrap();
    write_zeros(&mut encoder, size);
    encoder.finish().unwrap()
}

fn bzip2_bomb(size: u64) -> File {
    let mut encoder = bzip2::write::BzEncoder::new(tempfile::tempfile().unwrap(), bzip2::Compression::fast());
    encoder.write_all(&header(size)).unwrap();
    write_zeros(&mut encoder, size);
    encoder.finish().unwrap()
}

fn zip_bomb(size: u64) -> File {
    let mut writer = zip::ZipWriter::new(tempfile::tempfile().unwrap());
    writer.start_file("zeros", zip::write::SimpleFileOptions::default()).unwrap();
    write_zeros(&mut writer, size);
    writer.finish().unwrap()
}

/// The time that this process has computed, in hundredths of a second. Others on the machine do not count.
fn computed() -> u64 {
    let line = std::fs::read_to_string("/proc/self/stat").unwrap();
    let behind_name = line.rsplit(')').next().unwrap();
    let numbers: Vec<&str> = behind_name.split_whitespace().collect();
    numbers[11].parse::<u64>().unwrap() + numbers[12].parse::<u64>().unwrap()
}

#[test]
fn bombs_are_refused_quickly_and_without_memory() {
    const SIZE: u64 = 256 << 20;
    let bombs = [(gzip_bomb(SIZE), Format::TarGz), (bzip2_bomb(SIZE), Format::TarBz2), (zip_bomb(SIZE), Format::Zip)];
    // The second limits are for archives that are large enough not to grow too much in proportion.
    let in_all = Limits { ratio: u64::MAX, bytes: 128 << 20, ..Limits::SOURCE };
    let before = peak_memory();
    for (mut bomb, format) in bombs {
        let place = tempfile::tempdir().unwrap();
        let packed = bomb.stream_position().unwrap();
        for limits in [Limits::SOURCE, in_all] {
            let start = computed();
            let result = unpack(&mut bomb, format, &place.path().join("x"), &limits);
            assert!(matches!(result, Err(ArchiveError::TooLarge { .. })), "{format} of {packed}: {result:?}");
            assert!(computed() - start < 500, "{format}: {} hundredths of a second", computed() - start);
            assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
        }
    }
    let grown = peak_memory() - before;
    assert!(grown < 32 << 20, "memory grew by {grown} bytes");
}
