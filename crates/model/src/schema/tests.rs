//! Types, empty values, marks and rules.

use super::*;
use crate::path::Path;
use crate::value::{Entries, Value};

/// Attributes in few words.
impl Attribute {
    fn new(ty: Type) -> Self {
        Self::of_type(ty)
    }

    fn nested<const N: usize>(nesting: Nesting, attributes: [(&str, Attribute); N]) -> Self {
        let attributes = attributes.into_iter().map(|(name, attribute)| (Str::from(name), attribute)).collect();
        let ty = AttributeKind::Nested(Arc::new(NestedObject { attributes, nesting }));
        Self { ty, ..Self::of_type(Type::Dynamic) }
    }

    fn required(self) -> Self {
        Self { required: true, ..self }
    }

    fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    fn computed(self) -> Self {
        Self { computed: true, ..self }
    }

    fn sensitive(self) -> Self {
        Self { sensitive: true, ..self }
    }
}

impl Block {
    fn new<const N: usize>(attributes: [(&str, Attribute); N]) -> Self {
        let attributes = attributes.into_iter().map(|(name, attribute)| (Str::from(name), attribute)).collect();
        Self { attributes, ..Self::default() }
    }

    fn with_block(mut self, name: &str, block: NestedBlock) -> Self {
        self.block_types.insert(Str::from(name), block);
        self
    }
}

impl NestedBlock {
    fn new(nesting: Nesting, block: Block) -> Self {
        Self { block, nesting, min_items: 0, max_items: 0 }
    }

    fn items(self, min_items: u64, max_items: u64) -> Self {
        Self { min_items, max_items, ..self }
    }
}

fn example() -> Schema {
    let disk = Block::new([
        ("size", Attribute::new(Type::Number).required()),
        ("key", Attribute::new(Type::String).optional().sensitive()),
    ]);
    let any = Block::new([("x", Attribute::new(Type::Dynamic).optional())]);
    let rule = Attribute::nested(
        Nesting::List,
        [
            ("port", Attribute::new(Type::Number).required()),
            ("token", Attribute::new(Type::String).optional().sensitive()),
        ],
    );
    let block = Block::new([
        ("id", Attribute::new(Type::String).computed()),
        ("password", Attribute::new(Type::String).optional().sensitive()),
        ("rules", rule.optional()),
    ])
    .with_block("disk", NestedBlock::new(Nesting::List, disk.clone()))
    .with_block("group", NestedBlock::new(Nesting::Group, disk.clone()))
    .with_block("single", NestedBlock::new(Nesting::Single, disk.clone()))
    .with_block("keyed", NestedBlock::new(Nesting::Map, disk))
    .with_block("any_list", NestedBlock::new(Nesting::List, any.clone()))
    .with_block("any_map", NestedBlock::new(Nesting::Map, any));
    Schema { version: 1, block }
}

#[test]
fn types_follow_nesting() {
    let schema = example();
    let disk = "object({key = string, size = number})";
    assert_eq!(
        schema.block.implied_type().to_string(),
        format!(
            "object({{any_list = any, any_map = any, disk = list({disk}), group = {disk}, id = string, keyed = map({disk}), \
             password = string, rules = list(object({{port = number, token = string}})), single = {disk}}})"
        )
    );
    let rules = schema.block.attributes.get("rules").unwrap();
    assert_eq!(rules.config_type().to_string(), "list(object({port = number, token = optional(string)}))");
}

#[test]
fn absent_things_have_values() {
    let empty = example().block.empty_value();
    let entries = empty.as_entries().unwrap();
    assert_eq!(entries.get("any_list"), Some(&Value::tuple(Vec::new())));
    assert_eq!(entries.get("any_map"), Some(&Value::empty_object()));
    assert!(entries.get("single").unwrap().is_null());
    assert!(entries.get("group").unwrap().as_entries().unwrap().get("size").unwrap().is_null());
    assert_eq!(entries.get("disk").unwrap().as_elements().unwrap().len(), 0);
    assert!(entries.get("keyed").unwrap().as_entries().unwrap().is_empty());
    assert!(empty.conforms_to(&example().block.implied_type()));
}

#[test]
fn what_is_hidden_can_depend_on_the_value() {
    let hides = |value: &Value| value.as_str().is_some_and(|text| text.starts_with("secret"));
    let when = SensitiveWhen { name: "secret texts", hides };
    let text = Attribute { sensitive_when: Some(when), ..Attribute::of_type(Type::String) };
    let block = Block { attributes: [(Str::from("body"), text)].into(), ..Block::default() };
    assert!(block.contains_sensitive());
    let marks = |text: &str| block.sensitive_marks(&Value::object([(Str::from("body"), Value::from(text))])).len();
    assert_eq!((marks("secret: x"), marks("open: x")), (1, 0));
}

#[test]
fn sensitive_parts_are_found() {
    let schema = example();
    let disk = |key: &str| Value::object([("size", Value::from(1)), ("key", Value::string(key))]);
    let disk_type = disk("").ty();
    let rule = Value::object([("port", Value::from(1)), ("token", Value::string("t"))]);
    let mut entries: Vec<(Str, Value)> = schema
        .block
        .empty_value()
        .as_entries()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    entries.push(("disk".into(), Value::list(disk_type.clone(), vec![disk("a"), disk("b")])));
    entries.push(("keyed".into(), Value::map(disk_type, [("k", disk("c"))].into_iter().collect::<Entries>())));
    entries.push(("rules".into(), Value::list(rule.ty(), vec![rule])));
    let value = Value::object(entries);
    let paths: Vec<String> = schema.sensitive_marks(&value).iter().map(|at| at.path.to_string()).collect();
    assert_eq!(
        paths,
        [".password", ".rules[0].token", ".disk[0].key", ".disk[1].key", ".group.key", ".keyed[\"k\"].key"]
    );
    assert!(schema.block.contains_sensitive());
    let marked = value.with_path_marks(&schema.sensitive_marks(&Value::empty_object()));
    assert!(!marked.contains_marks());
}

#[test]
fn attributes_are_found_by_path() {
    let schema = example();
    let find = |path: Path| schema.block.attribute_at(&path).map(|attribute| attribute.sensitive);
    assert_eq!(find(Path::root().attr("id")), Some(false));
    assert_eq!(find(Path::root().attr("disk").index(3).attr("key")), Some(true));
    assert_eq!(find(Path::root().attr("keyed").key("x").attr("key")), Some(true));
    assert_eq!(find(Path::root().attr("single").attr("key")), Some(true));
    assert_eq!(find(Path::root().attr("rules").index(0).attr("token")), Some(true));
    assert_eq!(find(Path::root().attr("rules").index(0)), Some(false));
    assert_eq!(find(Path::root().attr("password").index(0)), Some(true));
    assert_eq!(find(Path::root().attr("disk").index(0)), None);
    assert_eq!(find(Path::root().attr("nothing")), None);
    assert_eq!(find(Path::root()), None);
}

#[test]
fn rules_are_checked() {
    assert_eq!(example().problems(), []);
    let inner = Block::new([("x", Attribute::new(Type::Dynamic).optional())]);
    let block = Block::new([
        ("a", Attribute::new(Type::String)),
        ("b", Attribute::new(Type::String).required().optional()),
        ("c", Attribute::new(Type::String).required().computed()),
        ("d", Attribute::nested(Nesting::Group, [("e", Attribute::new(Type::String))]).optional()),
        ("f", Attribute::nested(Nesting::Set, [("g", Attribute::new(Type::Dynamic).optional())]).optional()),
    ])
    .with_block("a", NestedBlock::new(Nesting::List, Block::default()))
    .with_block("Bad", NestedBlock::new(Nesting::List, Block::default()).items(3, 2))
    .with_block("h", NestedBlock::new(Nesting::Set, inner))
    .with_block("i", NestedBlock::new(Nesting::Single, Block::default()).items(0, 1))
    .with_block("j", NestedBlock::new(Nesting::Map, Block::default()).items(1, 0));
    let problems: Vec<String> =
        Schema { version: 0, block }.problems().iter().map(|problem| problem.path.clone()).collect();
    assert_eq!(problems, ["a", "b", "c", "d", "d.e", "f", "Bad", "Bad", "a", "h", "i", "j"]);
}
