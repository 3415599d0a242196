//! Types as the console prints them: compound ones over several lines.

use groma_model::ty::Type;

/// A type over as many lines as it takes.
pub fn type_text(ty: &Type) -> String {
    let mut text = String::new();
    write_type(ty, &mut text, 0);
    text
}

fn pad(text: &mut String, indent: usize) {
    text.extend(std::iter::repeat_n("    ", indent));
}

fn write_type(ty: &Type, text: &mut String, indent: usize) {
    match ty {
        Type::Object(attributes) if attributes.is_empty() => text.push_str("object({})"),
        Type::Object(attributes) => {
            text.push_str("object({\n");
            for (name, attribute) in attributes.iter() {
                pad(text, indent + 1);
                text.push_str(name);
                text.push_str(": ");
                write_type(&attribute.ty, text, indent + 1);
                text.push_str(",\n");
            }
            pad(text, indent);
            text.push_str("})");
        }
        Type::Tuple(elements) if elements.is_empty() => text.push_str("tuple([])"),
        Type::Tuple(elements) => {
            text.push_str("tuple([\n");
            for element in elements.iter() {
                pad(text, indent + 1);
                write_type(element, text, indent + 1);
                text.push_str(",\n");
            }
            pad(text, indent);
            text.push_str("])");
        }
        Type::List(element) => write_collection("list", element, text, indent),
        Type::Set(element) => write_collection("set", element, text, indent),
        Type::Map(element) => write_collection("map", element, text, indent),
        primitive => text.push_str(&primitive.friendly_name()),
    }
}

fn write_collection(kind: &str, element: &Type, text: &mut String, indent: usize) {
    text.push_str(kind);
    text.push('(');
    // A compound element gets lines of its own, so that the collection around it is not overlooked.
    if matches!(element, Type::Object(_) | Type::Tuple(_)) {
        text.push('\n');
        pad(text, indent + 1);
        write_type(element, text, indent + 1);
        text.push_str(",\n");
        pad(text, indent);
    } else {
        write_type(element, text, indent);
    }
    text.push(')');
}
