//! How a transfer tells how far it is. Nothing is drawn here.

/// Told about one transfer. A caller that runs several at once makes one value for each.
pub trait Progress: Send + Sync {
    /// A transfer begins. The size is known only if the other side says it. It can begin again after a failed attempt.
    fn started(&self, what: &str, total: Option<u64>);
    /// So many more bytes have arrived.
    fn advanced(&self, bytes: u64);
    /// The transfer has ended, well or not.
    fn finished(&self);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn started(&self, _what: &str, _total: Option<u64>) {}
    fn advanced(&self, _bytes: u64) {}
    fn finished(&self) {}
}
