//! What is wrong with a program that does not run.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// In words, if more can be said than the system does.
pub(super) fn diagnose(program: &Path, error: &io::Error) -> Option<String> {
    let Ok(metadata) = program.metadata() else { return Some("there is no such file".to_owned()) };
    if metadata.is_dir() {
        return Some("it is a directory".to_owned());
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Some("the file is not executable".to_owned());
    }
    let kind = kind_of(program)?;
    if error.kind() == io::ErrorKind::NotFound {
        return Some(format!("it is {kind}, and the loader or interpreter that it needs is not there"));
    }
    Some(format!("it is {kind}, and this machine runs programs for {}: {error}", std::env::consts::ARCH))
}

/// What kind of file it is, by its first bytes.
fn kind_of(program: &Path) -> Option<String> {
    let mut head = [0_u8; 20];
    let length = File::open(program).and_then(|mut file| file.read(&mut head)).ok()?;
    let head = &head[..length];
    if let [0x7f, b'E', b'L', b'F', ..] = head {
        let machine = u16::from_le_bytes([*head.get(18)?, *head.get(19)?]);
        return Some(format!("a Linux program for {}", elf_machine(machine)));
    }
    let kind = match head {
        [b'M', b'Z', ..] => "a Windows program",
        [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => "a macOS program",
        [b'#', b'!', ..] => "a script",
        [] => "an empty file",
        _ => "not a program",
    };
    Some(kind.to_owned())
}

fn elf_machine(machine: u16) -> String {
    match machine {
        3 => "x86".to_owned(),
        40 => "arm".to_owned(),
        62 => "x86_64".to_owned(),
        183 => "aarch64".to_owned(),
        243 => "riscv64".to_owned(),
        21 => "powerpc64".to_owned(),
        22 => "s390x".to_owned(),
        other => format!("machine {other}"),
    }
}
