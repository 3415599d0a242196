//! What the recorded cases in `tests/numbers.rs` do not show: equality, order, hash, and the limits of conversions.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn n(text: &str) -> Number {
    Number::parse(text).unwrap()
}

#[test]
fn a_number_is_two_words() {
    assert_eq!(size_of::<Number>(), 16);
}

#[test]
fn equal_texts_are_equal_numbers() {
    let float = Number::from_f64(0.1).unwrap();
    assert_eq!(float, n("0.1"));
    assert_ne!(float.compare(&n("0.1")), Ordering::Equal);
    assert_eq!(n("-0"), Number::ZERO);
    assert_eq!(n("1.0"), Number::ONE);
    let set: HashSet<Number> = [float, n("0.1"), n("-0"), Number::ZERO, n("1e30"), Number::from(10i128.pow(30))].into();
    assert_eq!(set.len(), 3);
}

#[test]
fn the_same_bits_with_other_precision_are_another_text() {
    let float = Number::from_f64(0.1).unwrap();
    let wide = float.add(&n("0")).unwrap();
    assert_eq!(float.compare(&wide), Ordering::Equal);
    assert_ne!(float, wide);
    assert_eq!(float.cmp(&wide), Ordering::Less);
}

#[test]
fn conversions_are_exact_or_none() {
    assert_eq!(n("18446744073709551615").to_u64(), Some(u64::MAX));
    assert_eq!(n("18446744073709551616").to_u64(), None);
    assert_eq!(n("-9223372036854775808").to_i64(), Some(i64::MIN));
    assert_eq!(n("9223372036854775808").to_i64(), None);
    assert_eq!(n("89.5").to_u64(), None);
    assert_eq!(n("-1").to_usize(), None);
    assert_eq!(n("-0").to_i64(), Some(0));
    assert_eq!(n("1e20").to_bigint(), Some(BigInt::from(10u64).pow(20)));
    assert_eq!(n("0.5").to_bigint(), None);
    assert_eq!(n("inf").to_bigint(), None);
    assert!(Number::from_f64(f64::NAN).is_none());
}

#[test]
fn far_exponents_cost_nothing() {
    let huge = n("1e600000000");
    let sum = huge.add(&Number::ONE).unwrap();
    assert_eq!(sum.go_format('g', None), "1e+600000000");
    assert!(huge.compare(&Number::ONE).is_gt());
    assert_eq!(huge.to_u64(), None);
    assert_eq!(n("1e1000000000").to_string(), "+Inf");
    assert!(Number::parse("1e99999999999").is_none());
}

fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        (-50i64..50).prop_map(Number::from),
        any::<f64>().prop_filter_map("NaN", Number::from_f64),
        (-400i32..400).prop_filter_map("NaN", |x| Number::from_f64(f64::from(x) / 8.0)),
        "-?[0-9]{1,30}(\\.[0-9]{1,30})?(e-?[0-9]{1,2})?".prop_filter_map("number", |text| Number::parse(&text)),
        (-40i32..40).prop_filter_map("number", |x| Number::parse(&format!("0.{}", x.abs()))),
    ]
}

fn hash(number: &Number) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    number.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #[test]
    fn order_is_total(a in any_number(), b in any_number(), c in any_number()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
        if a == b {
            prop_assert_eq!(hash(&a), hash(&b));
        }
    }

    #[test]
    fn text_comes_back(a in any_number()) {
        let again = Number::parse(&a.to_string()).unwrap();
        prop_assert_eq!(again.to_string(), a.to_string());
        if a.precision() == PARSED {
            prop_assert_eq!(again.compare(&a), Ordering::Equal);
        }
    }

    #[test]
    fn any_text_is_safe(text in "\\PC{0,12}|[-+0-9.eEpPinf]{0,24}") {
        if let Some(number) = Number::parse(&text) {
            let _ = number.go_format('g', None);
        }
    }

    #[test]
    fn floats_come_back(value in any::<f64>().prop_filter("NaN", |value| !value.is_nan())) {
        prop_assert_eq!(Number::from_f64(value).unwrap().to_f64().to_bits(), value.to_bits());
    }
}
