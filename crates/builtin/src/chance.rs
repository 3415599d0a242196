//! Randomness in the shapes that resources need. Where it comes from is outside.

use std::sync::Arc;

use groma_model::diag::Diagnostic;

use crate::kit::outside::{Outside, Randomness};

/// What messages advise when randomness fails.
pub(crate) const RETRY: &str = "Retry the operation. If the error still occurs or happens regularly, the system has \
                                trouble providing randomness.";

/// A source of randomness.
#[derive(Clone)]
pub(crate) struct Chance(Arc<dyn Randomness>);

impl Chance {
    pub(crate) fn of(outside: &Outside) -> Self {
        Self(Arc::clone(&outside.randomness))
    }

    /// So many bytes.
    pub(crate) fn bytes(&self, count: usize) -> Result<Vec<u8>, Diagnostic> {
        let mut bytes = vec![0; count];
        self.0.fill(&mut bytes).map_err(|error| {
            let detail = format!(
                "While attempting to generate a random value for this resource, a read error was generated.\n\n\
                 {RETRY}\n\nOriginal Error: {error}"
            );
            Diagnostic::error("Random Read Error", detail)
        })?;
        Ok(bytes)
    }

    fn word(&self) -> Result<u64, Diagnostic> {
        let bytes = self.bytes(8)?;
        Ok(bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
    }

    /// A number below the limit, each one as likely as the others. 0 if the limit is 0.
    pub(crate) fn below(&self, limit: u64) -> Result<u64, Diagnostic> {
        if limit < 2 {
            return Ok(0);
        }
        // The last, incomplete round of numbers would favour the small ones.
        let complete = u64::MAX - u64::MAX % limit;
        loop {
            let word = self.word()?;
            if word < complete {
                return Ok(word % limit);
            }
        }
    }

    /// One of the items.
    pub(crate) fn one_of<'a, T>(&self, items: &'a [T]) -> Result<Option<&'a T>, Diagnostic> {
        let at = self.below(items.len() as u64)?;
        Ok(items.get(usize::try_from(at).unwrap_or(0)))
    }

    /// The items in any order.
    pub(crate) fn shuffle<T>(&self, items: &mut [T]) -> Result<(), Diagnostic> {
        for last in (1..items.len()).rev() {
            let other = usize::try_from(self.below(last as u64 + 1)?).unwrap_or(0);
            items.swap(last, other);
        }
        Ok(())
    }

    /// A number that is not negative, as text.
    pub(crate) fn number(&self) -> Result<String, Diagnostic> {
        Ok((self.word()? >> 1).to_string())
    }

    /// Sixteen bytes in the form of a UUID, without the marks of a version.
    pub(crate) fn uuid(&self) -> Result<String, Diagnostic> {
        Ok(uuid_text(&self.bytes(16)?))
    }
}

/// Bytes in the form of a UUID.
pub(crate) fn uuid_text(bytes: &[u8]) -> String {
    let digits = hex::encode(bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| digits.get(range).unwrap_or_default());
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_below_the_limit_and_reach_everything() {
        let chance = Chance::of(&Outside::system("."));
        let mut seen = [false; 7];
        for _ in 0..2_000 {
            seen[usize::try_from(chance.below(7).unwrap()).unwrap()] = true;
        }
        assert_eq!(seen, [true; 7]);
        assert_eq!(chance.below(0).unwrap(), 0);
        assert_eq!(chance.one_of::<u8>(&[]).unwrap(), None);
    }

    #[test]
    fn shuffling_loses_nothing() {
        let chance = Chance::of(&Outside::system("."));
        let mut items: Vec<u32> = (0..100).collect();
        chance.shuffle(&mut items).unwrap();
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn bytes_become_uuids() {
        let bytes: Vec<u8> = (0..16).collect();
        assert_eq!(uuid_text(&bytes), "00010203-0405-0607-0809-0a0b0c0d0e0f");
    }
}
