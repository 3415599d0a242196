//! Provisioners, as the engine sees them: something that is run with an evaluated configuration. What they do is none of its
//! business.

use std::sync::Arc;

use async_trait::async_trait;
use groma_model::diag::Diagnostics;
use groma_model::schema::Block;
use groma_model::text::Str;
use groma_model::value::Value;

use crate::interrupt::Interrupt;

/// A provisioner to run.
pub struct Provision {
    /// `local-exec`, `file` or `remote-exec`.
    pub kind: Str,
    /// Its arguments by its schema, wholly known, without marks.
    pub config: Value,
    /// How to reach the machine, by [`Provisioners::connection_schema`]; null if nothing was said.
    pub connection: Value,
    /// Whether what it prints may be shown: its configuration has no secrets.
    pub shows_output: bool,
    /// Is told every line that it prints.
    pub output: Arc<dyn Fn(&str) + Send + Sync>,
    /// When to give up.
    pub interrupt: Interrupt,
}

/// Runs provisioners.
#[async_trait]
pub trait Provisioners: Send + Sync {
    /// The arguments of a kind of provisioner. None if there is no such kind.
    fn schema(&self, kind: &str) -> Option<&Block>;

    /// The arguments of `connection` blocks.
    fn connection_schema(&self) -> &Block;

    /// Runs one to its end. Errors fail it.
    async fn run(&self, provision: Provision) -> Diagnostics;
}

/// There are none.
pub struct NoProvisioners;

#[async_trait]
impl Provisioners for NoProvisioners {
    fn schema(&self, _: &str) -> Option<&Block> {
        None
    }

    fn connection_schema(&self) -> &Block {
        static NOTHING: std::sync::LazyLock<Block> = std::sync::LazyLock::new(Block::default);
        &NOTHING
    }

    async fn run(&self, _: Provision) -> Diagnostics {
        Diagnostics::new()
    }
}
