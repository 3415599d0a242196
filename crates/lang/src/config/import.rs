//! `import` blocks.

use std::sync::Arc;

use groma_model::diag::Diagnostic;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::{Expr, ExprKind, Traversal};
use groma_syntax::body::{Block, BodySchema, Content};

use super::ProviderSource;
use super::addresses::{self, Keys, ObjectAddress};
use super::read::Decoder;
use super::{ProviderRef, ResourceKey};

/// `import { to, id }`
#[derive(Debug, Clone)]
pub struct Import {
    /// The address of the instance; instance keys may be expressions. None only if the declaration is broken.
    pub to: Option<Arc<Expr>>,
    /// The names of the modules on the way to the resource, and the resource.
    pub target: Option<(Vec<Str>, ResourceKey)>,
    /// The address of the instance, if all its keys are constant.
    pub constant_to: Option<ObjectAddress>,
    /// `id`
    pub id: Option<Arc<Expr>>,
    /// `identity`
    pub identity: Option<Arc<Expr>>,
    /// `for_each`
    pub for_each: Option<Arc<Expr>>,
    /// `provider`, if given.
    pub provider_ref: Option<ProviderRef>,
    /// Where `provider` is given.
    pub provider_span: Option<Span>,
    /// Which provider it belongs to.
    pub provider: Option<ProviderSource>,
    /// The header of its block.
    pub header: Span,
}

impl Import {
    /// Reads an `import` block.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> Self {
        let schema = BodySchema::new()
            .optional("provider")
            .optional("id")
            .optional("identity")
            .required("to")
            .optional("for_each");
        let content = decoder.content(&block.body, &schema);
        let expr = |name| content.attr(name).map(|attribute| Arc::clone(&attribute.expr));
        let mut import = Self {
            to: None,
            target: None,
            constant_to: None,
            id: expr("id"),
            identity: expr("identity"),
            for_each: expr("for_each"),
            provider_ref: None,
            provider_span: None,
            provider: None,
            header: block.header_span,
        };
        if let Some(to) = expr("to")
            && !import.decode_to(decoder, to)
        {
            return import;
        }
        import.decode_provider(decoder, &content);
        import.check_identification(decoder, &content);
        import
    }

    /// Reads `to`. Returns false if it is no address, and then nothing else can be said about the block.
    fn decode_to(&mut self, decoder: &mut Decoder<'_>, to: Arc<Expr>) -> bool {
        let to = match to.json_expr() {
            Some(parsed) => {
                let failed = parsed.diagnostics.has_errors();
                decoder.diagnostics.extend(parsed.diagnostics);
                if failed {
                    return false;
                }
                Arc::new(parsed.value)
            }
            None => to,
        };
        self.to = Some(Arc::clone(&to));
        let address = without_dynamic_keys(&to).and_then(|mut traversal| {
            traversal.span = to.span;
            addresses::parse(&traversal, Keys::Allowed)
        });
        let problem = match address {
            Ok(ObjectAddress { resource: Some((resource, _)), modules, .. }) => {
                self.target = Some((modules.into_iter().map(|(name, _)| name).collect(), resource));
                let constant = to.as_traversal().ok();
                self.constant_to = constant.and_then(|traversal| addresses::parse(&traversal, Keys::Allowed).ok());
                return true;
            }
            Ok(_) => Diagnostic::error(
                "Invalid address",
                "A resource instance address is required here. \
                 The module path must be followed by a resource instance specification.",
            )
            .at(to.span),
            Err(problem) => *problem,
        };
        decoder.diagnostics.push(problem);
        false
    }

    fn decode_provider(&mut self, decoder: &mut Decoder<'_>, content: &Content) {
        let Some(attribute) = content.attr("provider") else { return };
        if self.target.as_ref().is_some_and(|(modules, _)| !modules.is_empty()) {
            decoder.error(
                "Invalid import provider argument",
                "The provider argument can only be specified in import blocks that will generate configuration.\n\n\
                 Use the providers argument within the module block to configure providers for all resources within a \
                 module, including imported resources.",
                attribute.span,
            );
        }
        self.provider_ref = ProviderRef::decode(decoder, &attribute.expr, "provider");
        self.provider_span = Some(attribute.span);
    }

    fn check_identification(&self, decoder: &mut Decoder<'_>, content: &Content) {
        match (content.attr("id"), content.attr("identity")) {
            (None, None) => decoder.error(
                "Missing required import argument",
                "One of 'id' or 'identity' must be specified in an import block to identify the resource instance to \
                 import.",
                self.header,
            ),
            (Some(id), Some(identity)) => decoder.error(
                "Conflicting import arguments",
                "Only one of 'id' or 'identity' can be specified in an import block.",
                id.span.to(identity.span),
            ),
            _ => {}
        }
    }
}

/// The reference that is left of an address when its calculated keys are dropped.
fn without_dynamic_keys(expr: &Expr) -> Result<Traversal, Box<Diagnostic>> {
    match &expr.kind {
        ExprKind::Index(index) => without_dynamic_keys(&index.collection),
        ExprKind::RelTraversal(relative) => {
            let mut traversal = without_dynamic_keys(&relative.base)?;
            traversal.steps.extend_from_slice(&relative.steps);
            Ok(traversal)
        }
        ExprKind::Traversal(traversal) => Ok(Traversal::clone(traversal)),
        _ => Err(Box::new(
            Diagnostic::error(
                "Invalid import address expression",
                "Import address must be a reference to a resource's address, and only allows for indexing with dynamic \
                 keys. For example: module.my_module[expression1].aws_s3_bucket.my_buckets[expression2] for resources \
                 inside of modules, or simply aws_s3_bucket.my_bucket for a resource in the root module",
            )
            .at(expr.span),
        )),
    }
}
