//! Following a path through a schema: whether there is such a field, what type it has, and whether it may be shown.

use std::collections::BTreeMap;

use groma_model::diag::Diagnostic;
use groma_model::path::PathStep;
use groma_model::schema::{Attribute, AttributeKind, Block, NestedBlock, Nesting, Schema};
use groma_model::text::{Str, suggestion};
use groma_model::ty::Type;

use super::{FieldPath, FieldStep};
use crate::replace::problem::Code;

static ANYTHING: Type = Type::Dynamic;

/// Why what a path leads to must not be shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Secrecy {
    /// It, or something that it is a part of, is sensitive.
    pub sensitive: bool,
    /// It, or something that it is a part of, goes to the provider and is never stored.
    pub write_only: bool,
    /// Some part of it is one or the other.
    pub inside: bool,
}

impl Secrecy {
    /// Whether there is any reason.
    pub fn is_secret(self) -> bool {
        self.sensitive || self.write_only || self.inside
    }
}

/// A place in a schema.
#[derive(Clone, Copy)]
struct Ground<'s> {
    /// Whether it is a collection of what follows.
    many: Option<Nesting>,
    of: Of<'s>,
}

#[derive(Clone, Copy)]
enum Of<'s> {
    Block(&'s Block),
    Attributes(&'s BTreeMap<Str, Attribute>),
    Type(&'s Type),
}

/// Why a step leads nowhere.
enum Miss {
    /// There is no such attribute or block, but perhaps this one was meant.
    Name(Option<Str>),
    /// Elements of sets have no index.
    IndexOfSet,
    /// It is not that kind of thing.
    Kind(&'static str),
}

impl FieldPath {
    /// What is wrong with it, if objects have this schema. What is inside a dynamic attribute cannot be known.
    pub fn check(&self, schema: &Schema) -> Vec<Diagnostic> {
        let mut ground = Ground { many: None, of: Of::Block(&schema.block) };
        for (at, step) in self.steps.iter().enumerate() {
            match ground.step(step, &mut Secrecy::default()) {
                Ok(next) => ground = next,
                Err(miss) => return vec![self.located(self.told(at, miss), at)],
            }
        }
        Vec::new()
    }

    fn told(&self, at: usize, miss: Miss) -> Diagnostic {
        let around = match self.ranges.get(at) {
            Some((start, _)) if *start > 0 => format!("{:?}", &self.text[..*start]),
            _ => "the resource".to_owned(),
        };
        match miss {
            Miss::Name(meant) => {
                let name = match &self.steps[at] {
                    FieldStep::Name(name) | FieldStep::Key(name) => name.as_str(),
                    _ => "",
                };
                let meant = meant.map_or(String::new(), |meant| format!(" Did you mean {:?}?", meant.as_str()));
                let detail = format!("There is no attribute or block {name:?} in {around}.{meant}");
                Code(1103).error("No such field", detail)
            }
            Miss::IndexOfSet => {
                let detail = format!("{around} is a set, whose elements have no index. Use [*] for all of them.");
                Code(1106).error("Index on a set", detail)
            }
            Miss::Kind(what) => Code(1103).error("No such field", format!("{around} {what}.")),
        }
    }

    /// The place that it leads to.
    fn ground<'s>(&self, schema: &'s Schema, secrecy: &mut Secrecy) -> Option<Ground<'s>> {
        let mut ground = Ground { many: None, of: Of::Block(&schema.block) };
        for step in &self.steps {
            ground = ground.step(step, secrecy).ok()?;
        }
        Some(ground)
    }

    /// Why what it leads to must not be shown, by the schema.
    pub fn secrecy(&self, schema: &Schema) -> Secrecy {
        let mut secrecy = Secrecy::default();
        let ground = self.ground(schema, &mut secrecy);
        secrecy.inside = match ground.map(|ground| ground.of) {
            Some(Of::Block(block)) => block.contains_sensitive() || block.contains_write_only(),
            Some(Of::Attributes(attributes)) => attributes.values().any(holds_secrets),
            Some(Of::Type(_)) | None => false,
        };
        secrecy
    }

    /// Whether it leads to something that goes to the provider and is never stored.
    pub(crate) fn is_write_only(&self, schema: &Schema) -> bool {
        let mut secrecy = Secrecy::default();
        self.ground(schema, &mut secrecy);
        secrecy.write_only
    }

    /// The type of what it leads to; of one of them if there are several. None if there is no such field.
    pub fn ty(&self, schema: &Schema) -> Option<Type> {
        self.ground(schema, &mut Secrecy::default()).map(Ground::ty)
    }

    /// Whether what it leads to can be configured, and so can be another one in the new object.
    pub(crate) fn is_configurable(&self, schema: &Schema) -> bool {
        let names = self.steps.iter().filter_map(|step| match step {
            FieldStep::Name(name) => Some(PathStep::Attr(name.clone())),
            FieldStep::Index(_) | FieldStep::Key(_) | FieldStep::Every => None,
        });
        let attribute = schema.block.attribute_at(&names.collect::<Vec<_>>().into());
        attribute.is_some_and(|attribute| attribute.optional || attribute.required)
    }

    /// Whether it leads to elements of a set, which have no place by which one of then is one of now.
    pub(crate) fn leads_into_set(&self, schema: &Schema) -> bool {
        let mut ground = Ground { many: None, of: Of::Block(&schema.block) };
        for step in &self.steps {
            if ground.is_set_for(step) {
                return true;
            }
            match ground.step(step, &mut Secrecy::default()) {
                Ok(next) => ground = next,
                Err(_) => return false,
            }
        }
        false
    }

    /// Whether it leads to blocks, of which there are none rather than null.
    pub(crate) fn leads_to_blocks(&self, schema: &Schema) -> bool {
        let ground = self.ground(schema, &mut Secrecy::default());
        ground.is_some_and(|ground| ground.many.is_some() && matches!(ground.of, Of::Block(_)))
    }
}

fn holds_secrets(attribute: &Attribute) -> bool {
    attribute.may_hide()
        || attribute.write_only
        || matches!(&attribute.ty, AttributeKind::Nested(nested) if nested.attributes.values().any(holds_secrets))
}

impl<'s> Ground<'s> {
    fn of_attribute(attribute: &'s Attribute, secrecy: &mut Secrecy) -> Self {
        secrecy.sensitive |= attribute.may_hide();
        secrecy.write_only |= attribute.write_only;
        match &attribute.ty {
            AttributeKind::Type(ty) => Self { many: None, of: Of::Type(ty) },
            AttributeKind::Nested(nested) => {
                Self { many: collection(nested.nesting), of: Of::Attributes(&nested.attributes) }
            }
        }
    }

    fn of_block(nested: &'s NestedBlock) -> Self {
        Self { many: collection(nested.nesting), of: Of::Block(&nested.block) }
    }

    fn of_type(ty: &'s Type) -> Self {
        Self { many: None, of: Of::Type(ty) }
    }

    fn step(self, step: &FieldStep, secrecy: &mut Secrecy) -> Result<Self, Miss> {
        if let Some(nesting) = self.many {
            let one = Self { many: None, ..self };
            return match (step, nesting) {
                (FieldStep::Name(_), _) => one.step(step, secrecy),
                (FieldStep::Every, _) | (FieldStep::Index(_), Nesting::List) | (FieldStep::Key(_), Nesting::Map) => {
                    Ok(one)
                }
                (FieldStep::Index(_), Nesting::Set) => Err(Miss::IndexOfSet),
                (FieldStep::Index(_), _) => Err(Miss::Kind("has elements with keys: use [\"key\"] or [*]")),
                (FieldStep::Key(_), _) => Err(Miss::Kind("has elements without keys: use [*]")),
            };
        }
        match (self.of, step) {
            (Of::Type(ty), _) => into_type(ty, step).map(Self::of_type),
            (Of::Block(block), FieldStep::Name(name) | FieldStep::Key(name)) => {
                match block.attributes.get(name) {
                    Some(attribute) => Ok(Self::of_attribute(attribute, secrecy)),
                    None => block.block_types.get(name).map(Self::of_block).ok_or_else(|| {
                        Miss::Name(meant(name, block.attributes.keys().chain(block.block_types.keys())))
                    }),
                }
            }
            (Of::Attributes(attributes), FieldStep::Name(name) | FieldStep::Key(name)) => match attributes.get(name) {
                Some(attribute) => Ok(Self::of_attribute(attribute, secrecy)),
                None => Err(Miss::Name(meant(name, attributes.keys()))),
            },
            (_, FieldStep::Index(_) | FieldStep::Every) => Err(Miss::Kind("is one object, which has no elements")),
        }
    }

    /// Whether a step goes through elements of a set.
    fn is_set_for(self, step: &FieldStep) -> bool {
        let through = |ty: &Type| {
            let mut ty = ty;
            // A name goes through all collections on its way.
            while let (Type::List(element), FieldStep::Name(_)) = (ty, step) {
                ty = element;
            }
            matches!(ty, Type::Set(_))
        };
        self.many == Some(Nesting::Set) || matches!(self.of, Of::Type(ty) if through(ty))
    }

    fn ty(self) -> Type {
        let one = match self.of {
            Of::Type(ty) => ty.without_optional(),
            Of::Block(block) => block.implied_type(),
            Of::Attributes(attributes) => {
                Type::object(attributes.iter().map(|(name, attribute)| (name.clone(), attribute.implied_type())))
            }
        };
        match self.many {
            None | Some(Nesting::Single | Nesting::Group) => one,
            Some(Nesting::List) => Type::list(one),
            Some(Nesting::Set) => Type::set(one),
            Some(Nesting::Map) => Type::map(one),
        }
    }
}

fn collection(nesting: Nesting) -> Option<Nesting> {
    match nesting {
        Nesting::Single | Nesting::Group => None,
        Nesting::List | Nesting::Set | Nesting::Map => Some(nesting),
    }
}

fn meant<'a>(name: &str, names: impl Iterator<Item = &'a Str>) -> Option<Str> {
    suggestion(name, names.map(Str::as_str)).map(Str::from)
}

/// Whether a name on a collection of these means each of them.
fn has_names(element: &Type) -> bool {
    !element.is_primitive()
}

fn into_type<'s>(ty: &'s Type, step: &FieldStep) -> Result<&'s Type, Miss> {
    let mut ty = ty;
    // A name on a collection of objects means each of them, and so on for collections of collections.
    if let FieldStep::Name(_) = step {
        while let Type::List(element) | Type::Set(element) = ty
            && has_names(element)
        {
            ty = element;
        }
        if let Type::Map(element) = ty
            && matches!(**element, Type::Object(_))
        {
            ty = element;
        }
    }
    match (ty, step) {
        (Type::Dynamic, _) => Ok(&ANYTHING),
        (Type::List(element) | Type::Set(element) | Type::Map(element), FieldStep::Every) => Ok(element),
        (Type::List(element), FieldStep::Index(_)) => Ok(element),
        (Type::Set(_), FieldStep::Index(_)) => Err(Miss::IndexOfSet),
        (Type::Map(element), FieldStep::Name(_) | FieldStep::Key(_)) => Ok(element),
        (Type::Map(_), FieldStep::Index(_)) => Err(Miss::Kind("has elements with keys: use [\"key\"] or [*]")),
        (Type::List(_) | Type::Set(_), _) => Err(Miss::Kind("is a collection without names: use [*]")),
        // The elements of a tuple need not be alike.
        (Type::Tuple(_), FieldStep::Every | FieldStep::Name(_)) => Ok(&ANYTHING),
        (Type::Tuple(elements), FieldStep::Index(index)) => {
            let element = usize::try_from(*index).ok().and_then(|index| elements.get(index));
            element.ok_or(Miss::Kind("has not that many elements"))
        }
        (Type::Object(object), FieldStep::Name(name) | FieldStep::Key(name)) => {
            object.get(name).ok_or_else(|| Miss::Name(meant(name, object.iter().map(|(name, _)| name))))
        }
        (Type::Object(_), _) => Err(Miss::Kind("is one object, which has no elements")),
        (Type::Tuple(_), FieldStep::Key(_)) => Err(Miss::Kind("has elements without keys: use [*]")),
        (Type::Bool | Type::Number | Type::String, _) => Err(Miss::Kind("has no parts")),
    }
}
