//! Archives with random damage: whatever comes, nothing panics and nothing is outside.

use proptest::prelude::*;

use super::build::{directory, file, gzip, hardlink, symlink, tar, zip};
use super::*;

fn sample() -> Vec<super::build::Thing> {
    vec![
        directory("d"),
        file("d/a", "content of a"),
        symlink("d/l", "a"),
        hardlink("h", "d/a"),
        file("b", &"b".repeat(600)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_bytes_stay_inside(damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8), which in 0..3) {
        let (mut bytes, format) = match which {
            0 => (tar(&sample()), Format::Tar),
            1 => (zip(&sample()), Format::Zip),
            _ => (gzip(&tar(&sample())), Format::TarGz),
        };
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let place = Place::new();
        let _ = place.unpack(&bytes, format, &Limits::SOURCE);
    }

    #[test]
    fn any_name_stays_inside(name in "[a-z./\\\\: ]{0,20}", target in "[a-z./]{0,20}") {
        for things in [vec![file(&name, "x")], vec![symlink(&name, &target), file(&format!("{name}/x"), "x")]] {
            let place = Place::new();
            let _ = place.unpack(&tar(&things), Format::Tar, &Limits::SOURCE);
            let place = Place::new();
            let _ = place.unpack(&zip(&things), Format::Zip, &Limits::SOURCE);
        }
    }
}
