//! All expressions inside of one, and inside of a body, for those who look for something that may stand anywhere.

use crate::ast::{Expr, ExprKind, TemplatePart};
use crate::body::Body;

impl Expr {
    /// Shows itself and everything inside to `look`, outer ones first. What `look` does not want to be followed it answers with false.
    pub fn each(&self, look: &mut dyn FnMut(&Expr) -> bool) {
        if !look(self) {
            return;
        }
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::SplatItem | ExprKind::Invalid | ExprKind::Traversal(_) => {}
            ExprKind::Template(template) => each_part(&template.parts, look),
            ExprKind::TemplateWrap(inner) | ExprKind::Parens(inner) => inner.each(look),
            ExprKind::RelTraversal(relative) => relative.base.each(look),
            ExprKind::Index(index) => [&index.collection, &index.key].into_iter().for_each(|inner| inner.each(look)),
            ExprKind::Splat(splat) => [&splat.source, &splat.each].into_iter().for_each(|inner| inner.each(look)),
            ExprKind::Call(call) => call.args.iter().for_each(|inner| inner.each(look)),
            ExprKind::Conditional(choice) => {
                let parts = [&choice.condition, &choice.then, &choice.otherwise];
                for inner in parts {
                    inner.each(look);
                }
            }
            ExprKind::Unary(unary) => unary.operand.each(look),
            ExprKind::Binary(binary) => [&binary.left, &binary.right].into_iter().for_each(|inner| inner.each(look)),
            ExprKind::Tuple(items) => items.iter().for_each(|inner| inner.each(look)),
            ExprKind::Object(items) => items.iter().for_each(|item| {
                item.key.each(look);
                item.value.each(look);
            }),
            ExprKind::For(each) => {
                let parts = [Some(&each.collection), each.key.as_ref(), Some(&each.value), each.condition.as_ref()];
                parts.into_iter().flatten().for_each(|inner| inner.each(look));
            }
        }
    }
}

fn each_part(parts: &[TemplatePart], look: &mut dyn FnMut(&Expr) -> bool) {
    for part in parts {
        match part {
            TemplatePart::Literal { .. } => {}
            TemplatePart::Interpolation { expr, .. } => expr.each(look),
            TemplatePart::If { condition, then, otherwise, .. } => {
                condition.each(look);
                each_part(then, look);
                each_part(otherwise, look);
            }
            TemplatePart::For { collection, body, .. } => {
                collection.each(look);
                each_part(body, look);
            }
        }
    }
}

impl Body {
    /// The same with all expressions of the body and of the blocks in it. Without a schema, blocks of the JSON syntax are objects.
    pub fn each_expr(&self, look: &mut dyn FnMut(&Expr) -> bool) {
        match self.native_items() {
            Some((attributes, blocks)) => {
                for attribute in attributes {
                    attribute.expr.each(look);
                }
                for block in blocks {
                    block.body.each_expr(look);
                }
            }
            None => self.just_attributes().0.iter().for_each(|attribute| attribute.expr.each(look)),
        }
    }
}

#[cfg(test)]
mod tests {
    use groma_model::span::SourceMap;

    fn texts(name: &str, text: &str) -> Vec<String> {
        let mut map = SourceMap::new();
        let file = map.add(name, text);
        let parsed = if std::path::Path::new(name).extension().is_some_and(|ending| ending == "json") {
            crate::parse_json(&map, file)
        } else {
            crate::parse_native(&map, file)
        };
        assert!(!parsed.diagnostics.has_errors());
        let mut found = Vec::new();
        parsed.value.each_expr(&mut |expr| {
            found.extend(expr.as_constant_str().map(|text| text.to_string()));
            true
        });
        found
    }

    #[test]
    fn everything_is_seen_wherever_it_stands() {
        let text = r#"
a = c ? "1" : f("2", ["3"])["4"]
b "l" {
  x = { "5" = [for v in "6" : "7" if v == "8"] }
  c {
    y = "${-g("9")}%{ if true }${"10"}%{ endif }"
    z = ("11")[*].q[h("12")]
  }
}
"#;
        let found = texts("a.tf", text);
        for number in ["1", "2", "3", "5", "6", "7", "8", "9", "10", "11", "12"] {
            assert!(found.iter().any(|text| text == number), "{number}: {found:?}");
        }
    }

    #[test]
    fn the_json_syntax_is_the_same() {
        let found = texts("a.tf.json", r#"{"b": {"l": {"x": ["1", "${f(\"2\")}"]}}}"#);
        assert!(found.iter().any(|text| text == "1") && found.iter().any(|text| text == "2"), "{found:?}");
    }
}
