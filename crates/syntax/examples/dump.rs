//! Shows what this crate makes of files, in the form of the Go oracle in `tests/oracles/hcl`, to compare the two.
//!
//! `dump ast|template|expr|diags|format|fmt|json-diags FILE...` gives one line of JSON per file.

use std::fmt::Write as _;
use std::io::Write as _;

use groma_model::span::{SourceMap, Span};
use groma_syntax::ast::{BinaryOp, Expr, ExprKind, For, Literal, Step, StepKey, TemplatePart, UnaryOp};
use groma_syntax::body::Body;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let question = arguments.next().unwrap_or_default();
    let mut out = std::io::stdout().lock();
    for name in arguments {
        let bytes = std::fs::read(&name)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        writeln!(out, "{}", answer(&question, &text))?;
    }
    Ok(())
}

fn answer(question: &str, text: &str) -> String {
    let mut map = SourceMap::new();
    let file = map.add("", text);
    if question == "format" {
        return quote(&groma_syntax::fmt::format(text));
    }
    if question == "fmt" {
        return groma_syntax::fmt::format_file(&map, file).map_or("null".to_owned(), |text| quote(&text));
    }
    if let "template" | "expr" = question {
        let parsed = match question {
            "template" => groma_syntax::parse_template(&map, file),
            _ => groma_syntax::parse_expr(&map, file),
        };
        return if parsed.diagnostics.has_errors() { "null".to_owned() } else { expr(&parsed.value) };
    }
    let parsed = match question {
        "json-diags" => groma_syntax::parse_json(&map, file),
        _ => groma_syntax::parse_native(&map, file),
    };
    if question.ends_with("diags") {
        let rows = parsed.diagnostics.iter().map(|diagnostic| {
            let span = diagnostic.subject.unwrap_or(Span::new(file, 0, 0));
            format!("[{},{},{},{}]", map.start(span).line, quote(&diagnostic.summary), span.start, span.end)
        });
        return format!("[{}]", rows.collect::<Vec<_>>().join(","));
    }
    if parsed.diagnostics.has_errors() { "null".to_owned() } else { body(&parsed.value) }
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(letter);
            }
            control if control < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", control as u32);
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn node(kind: &str, span: Span, children: impl IntoIterator<Item = String>) -> String {
    let mut text = format!("[\"{kind}\",{},{}", span.start, span.end);
    for child in children {
        text.push(',');
        text.push_str(&child);
    }
    text.push(']');
    text
}

fn body(body: &Body) -> String {
    let (attributes, blocks) = body.native_items().unwrap_or_default();
    let attributes = attributes.iter().map(|attribute| {
        let children = [quote(&attribute.name.name), expr(&attribute.expr)];
        node("attribute", attribute.span, children)
    });
    let blocks = blocks.iter().map(|block| {
        let labels = block.labels.iter().map(|label| node("label", label.span, [quote(&label.text)]));
        let children = std::iter::once(quote(&block.kind.name)).chain(labels).chain([self::body(&block.body)]);
        node("block", block.span, children)
    });
    node("body", body.span(), attributes.chain(blocks))
}

fn expr(e: &Expr) -> String {
    let span = e.span;
    match &e.kind {
        ExprKind::Literal(literal) => node("literal", span, [self::literal(literal)]),
        ExprKind::Template(template) => node("template", span, parts(&template.parts, span)),
        ExprKind::TemplateWrap(inner) => node("wrap", span, [expr(inner)]),
        ExprKind::Traversal(traversal) => {
            let root = node("root", traversal.root.span, [quote(&traversal.root.name)]);
            node("traversal", span, std::iter::once(root).chain(steps(&traversal.steps)))
        }
        ExprKind::RelTraversal(relative) => {
            node("relative", span, std::iter::once(expr(&relative.base)).chain(steps(&relative.steps)))
        }
        ExprKind::Index(index) => node("index", span, [expr(&index.collection), expr(&index.key)]),
        ExprKind::Splat(splat) => node("splat", span, [expr(&splat.source), expr(&splat.each)]),
        ExprKind::SplatItem => node("item", span, []),
        ExprKind::Call(call) => {
            let head = [quote(&call.name), call.expand_final.to_string()];
            node("call", span, head.into_iter().chain(call.args.iter().map(expr)))
        }
        ExprKind::Conditional(c) => node("conditional", span, [expr(&c.condition), expr(&c.then), expr(&c.otherwise)]),
        ExprKind::Unary(unary) => {
            node("unary", span, [(unary.op == UnaryOp::Negate).to_string(), expr(&unary.operand)])
        }
        ExprKind::Binary(b) => node("binary", span, [quote(operator(b.op)), expr(&b.left), expr(&b.right)]),
        ExprKind::Tuple(items) => node("tuple", span, items.iter().map(expr)),
        ExprKind::Object(items) => {
            node("object", span, items.iter().flat_map(|item| [expr(&item.key), expr(&item.value)]))
        }
        ExprKind::For(parts) => for_expr(parts, span),
        ExprKind::Parens(inner) => node("parens", span, [expr(inner)]),
        ExprKind::Invalid => node("unknown", span, []),
    }
}

fn for_expr(f: &For, span: Span) -> String {
    let optional = |e: Option<&Expr>| e.map_or("null".to_owned(), expr);
    let key = f.key_name.as_ref().map_or("\"\"".to_owned(), |name| quote(&name.name));
    let children = [
        key,
        quote(&f.value_name.name),
        expr(&f.collection),
        optional(f.key.as_ref()),
        expr(&f.value),
        optional(f.condition.as_ref()),
        f.group.to_string(),
    ];
    node("for", span, children)
}

fn parts(list: &[TemplatePart], span: Span) -> Vec<String> {
    if list.is_empty() {
        return vec![node("literal", span, ["\"s\"".to_owned()])];
    }
    let part = |part: &TemplatePart| match part {
        TemplatePart::Literal { text, span } => node("literal", *span, [quote(&format!("s{text}"))]),
        TemplatePart::Interpolation { expr: inner, .. } => expr(inner),
        TemplatePart::If { condition, then, otherwise, span } => {
            let branch = |list: &[TemplatePart]| node("template", *span, parts(list, *span));
            node("conditional", *span, [expr(condition), branch(then), branch(otherwise)])
        }
        TemplatePart::For { key, value, collection, body, span } => {
            let key = key.as_ref().map_or("\"\"".to_owned(), |name| quote(&name.name));
            let null = || "null".to_owned();
            let body = node("template", *span, parts(body, *span));
            let children = [key, quote(&value.name), expr(collection), null(), body, null(), "false".to_owned()];
            node("join", *span, [node("for", *span, children)])
        }
    };
    list.iter().map(part).collect()
}

fn steps(steps: &[Step]) -> impl Iterator<Item = String> {
    steps.iter().map(|step| match step {
        Step::Attr { name, span } => node("attr", *span, [quote(name)]),
        Step::Index { key: StepKey::Number(number), span } => node("key", *span, [quote(&format!("n{number}"))]),
        Step::Index { key: StepKey::String(text), span } => node("key", *span, [quote(&format!("s{text}"))]),
    })
}

fn literal(literal: &Literal) -> String {
    match literal {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Number(number) => quote(&format!("n{number}")),
    }
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Or => "||",
        BinaryOp::And => "&&",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterOrEqual => ">=",
        BinaryOp::Less => "<",
        BinaryOp::LessOrEqual => "<=",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Modulo => "%",
    }
}
