//! Addresses, as users type them and state files hold them.

use std::fmt::Display;
use std::str::FromStr;

use groma_model::address::{
    AbsInstance, AbsNamed, AbsResource, AddressError, ConfigNamed, ConfigResource, Module, ModuleInstance, Provider,
    ProviderConfig, ProviderInstance, Reference, Target, Traversal,
};

/// Any text as any kind of address: what parses prints, and what was printed parses and prints the same.
pub(crate) fn address(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check::<Module>(&text);
    check::<ModuleInstance>(&text);
    check::<ConfigResource>(&text);
    check::<AbsResource>(&text);
    check::<AbsInstance>(&text);
    check::<Target>(&text);
    check::<ProviderConfig>(&text);
    check::<ProviderInstance>(&text);
    check::<AbsNamed>(&text);
    check::<ConfigNamed>(&text);
    // References are printed for people, with the quotes of stock tools, which are not all escapes of the language.
    match Reference::from_str(&text) {
        Ok(reference) => assert!(!reference.to_string().is_empty()),
        Err(error) => check_error(&error, &text),
    }
    if let Err(error) = Traversal::parse(&text) {
        check_error(&error, &text);
    }
    // A type alone may start with `terraform-`, a whole source may not: that is how stock tools have it.
    if let Ok(provider) = Provider::parse_source(&text)
        && text.contains('/')
    {
        let again = Provider::parse_source(&provider.to_string());
        assert!(again.as_ref() == Ok(&provider), "{text:?}: {provider} became {again:?}");
    }
}

fn check<A: FromStr<Err = AddressError> + Display>(text: &str) {
    match A::from_str(text) {
        Ok(address) => {
            let printed = address.to_string();
            let again = A::from_str(&printed).map(|again| again.to_string());
            assert!(again.as_ref() == Ok(&printed), "{text:?} prints as {printed:?}, and that as {again:?}");
        }
        Err(error) => check_error(&error, text),
    }
}

/// An error points into the text, at the border of a character.
fn check_error(error: &AddressError, text: &str) {
    assert!(text.is_char_boundary(error.offset), "{error:?} is not in {text:?}");
}
