//! Schemas in few words, with the rules that planning and checking follow.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::diag::Diagnostic;
use groma_model::path::Path;
use groma_model::schema::{
    Attribute, AttributeKind, Block, Description, NestedBlock, NestedObject, Nesting, Schema, SensitiveWhen, TextKind,
};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;

/// What a check sees: where, and a value that is known and not null.
pub type Check = Arc<dyn Fn(&Path, &Value) -> Option<Diagnostic> + Send + Sync>;

/// When a change of an attribute needs a new object.
#[derive(Clone, Copy, Default)]
pub enum Replace {
    /// Never.
    #[default]
    Never,
    /// Whenever it changes.
    Always,
    /// When it changes and the configuration gives it.
    IfConfigured,
    /// When it changes and this says so of the old and the new value.
    If(fn(&Value, &Value) -> bool),
}

/// What planning and checking need to know of an attribute beyond its schema.
#[derive(Clone, Default)]
pub struct Rules {
    pub(super) replace: Replace,
    pub(super) keep: bool,
    pub(super) default: Option<Value>,
    pub(super) fractional: bool,
    pub(super) checks: Vec<Check>,
    pub(super) inner: BTreeMap<Str, Rules>,
}

/// An attribute with its rules.
#[derive(Clone)]
pub struct Attr {
    attribute: Attribute,
    rules: Rules,
}

/// An attribute that must be given.
pub fn required(ty: Type) -> Attr {
    Attr::new(Attribute { required: true, ..Attribute::of_type(ty) })
}

/// An attribute that may be given.
pub fn optional(ty: Type) -> Attr {
    Attr::new(Attribute { optional: true, ..Attribute::of_type(ty) })
}

/// An attribute that the provider decides.
pub fn computed(ty: Type) -> Attr {
    Attr::new(Attribute { computed: true, ..Attribute::of_type(ty) })
}

/// An attribute that the provider decides unless it is given.
pub fn optional_computed(ty: Type) -> Attr {
    Attr::new(Attribute { optional: true, computed: true, ..Attribute::of_type(ty) })
}

impl Attr {
    fn new(attribute: Attribute) -> Self {
        Self { attribute, rules: Rules::default() }
    }

    /// Documentation, as it is.
    pub fn doc(mut self, text: &str) -> Self {
        self.attribute.description = Description { text: text.to_owned(), kind: TextKind::Plain };
        self
    }

    /// Documentation in Markdown.
    pub fn markdown(mut self, text: &str) -> Self {
        self.attribute.description = Description { text: text.to_owned(), kind: TextKind::Markdown };
        self
    }

    /// It must not be shown.
    pub fn sensitive(mut self) -> Self {
        self.attribute.sensitive = true;
        self
    }

    /// It must not be shown where this says so of its value.
    pub fn sensitive_when(mut self, when: SensitiveWhen) -> Self {
        self.attribute.sensitive_when = Some(when);
        self
    }

    /// It goes to the provider and is never stored.
    pub fn write_only(mut self) -> Self {
        self.attribute.write_only = true;
        self
    }

    /// Its use is discouraged.
    pub fn deprecated(mut self, why: &str) -> Self {
        self.attribute.deprecated = true;
        self.attribute.deprecation_message = Some(Str::from(why));
        self
    }

    /// A change needs a new object.
    pub fn replace(self) -> Self {
        self.replace_when(Replace::Always)
    }

    /// A change needs a new object under a condition.
    pub fn replace_when(mut self, when: Replace) -> Self {
        self.rules.replace = when;
        self
    }

    /// Once decided by the provider, it does not change.
    pub fn keep(mut self) -> Self {
        self.rules.keep = true;
        self
    }

    /// What it is where the configuration gives nothing.
    pub fn default(mut self, value: impl Into<Value>) -> Self {
        self.rules.default = Some(value.into());
        self
    }

    /// Its number may have a fraction. All others are whole numbers of 64 bits, as in the published plugins.
    pub fn fractional(mut self) -> Self {
        self.rules.fractional = true;
        self
    }

    /// What must hold where it is known and not null.
    pub fn check(mut self, check: impl Fn(&Path, &Value) -> Option<Diagnostic> + Send + Sync + 'static) -> Self {
        self.rules.checks.push(Arc::new(check));
        self
    }

    /// Its values are objects (or collections of them) whose attributes have schemas of their own. The type given before
    /// does not count.
    pub fn nested<const N: usize>(mut self, nesting: Nesting, attributes: [(&str, Attr); N]) -> Self {
        let mut schemas = BTreeMap::new();
        for (name, attr) in attributes {
            self.rules.inner.insert(Str::from(name), attr.rules);
            schemas.insert(Str::from(name), attr.attribute);
        }
        self.attribute.ty = AttributeKind::Nested(Arc::new(NestedObject { attributes: schemas, nesting }));
        self
    }
}

/// The schema of a type with its rules.
#[derive(Clone, Default)]
pub struct Spec {
    pub(super) schema: Schema,
    pub(super) rules: BTreeMap<Str, Rules>,
}

impl Spec {
    /// A schema of version 0 with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Which version of the schema this is.
    pub fn version(mut self, version: i64) -> Self {
        self.schema.version = version;
        self
    }

    /// Documentation, as it is.
    pub fn doc(mut self, text: &str) -> Self {
        self.schema.block.description = Description { text: text.to_owned(), kind: TextKind::Plain };
        self
    }

    /// Documentation in Markdown.
    pub fn markdown(mut self, text: &str) -> Self {
        self.schema.block.description = Description { text: text.to_owned(), kind: TextKind::Markdown };
        self
    }

    /// The use of the whole type is discouraged.
    pub fn deprecated(mut self, why: &str) -> Self {
        self.schema.block.deprecated = true;
        self.schema.block.deprecation_message = Some(Str::from(why));
        self
    }

    /// With an attribute.
    pub fn attr(mut self, name: &str, attr: Attr) -> Self {
        self.schema.block.attributes.insert(Str::from(name), attr.attribute);
        self.rules.insert(Str::from(name), attr.rules);
        self
    }

    /// With a kind of nested block. At most `max` of them; 0 if there is no limit.
    pub fn block(mut self, name: &str, nesting: Nesting, (min, max): (u64, u64), inner: Spec) -> Self {
        let block = NestedBlock { block: inner.schema.block, nesting, min_items: min, max_items: max };
        self.schema.block.block_types.insert(Str::from(name), block);
        self.rules.insert(Str::from(name), Rules { inner: inner.rules, ..Rules::default() });
        self
    }

    /// What must hold for a kind of nested block as a whole, of which there is at least one.
    pub fn block_check(
        mut self,
        name: &str,
        check: impl Fn(&Path, &Value) -> Option<Diagnostic> + Send + Sync + 'static,
    ) -> Self {
        self.rules.entry(Str::from(name)).or_default().checks.push(Arc::new(check));
        self
    }

    /// A change inside a kind of nested block needs a new object.
    pub fn block_replace(mut self, name: &str) -> Self {
        self.rules.entry(Str::from(name)).or_default().replace = Replace::Always;
        self
    }

    /// The schema alone.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The contents of the schema.
    pub fn contents(&self) -> &Block {
        &self.schema.block
    }
}
