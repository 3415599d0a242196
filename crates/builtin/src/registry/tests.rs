//! What holds for every provider that is built in, whatever it is asked.

use std::sync::Arc;

use groma_model::address::Provider as Address;
use groma_model::schema::Block;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::{
    ApplyRequest, ImportRequest, ImportTarget, Outcome, PlanRequest, Private, Provider, RawState, UpgradeRequest,
};
use proptest::prelude::*;

use super::*;
use crate::kit::Object;
use crate::kit::outside::Outside;

#[test]
fn addresses_are_found_in_both_registries() {
    for source in ["hashicorp/random", "registry.terraform.io/hashicorp/random", "random"] {
        assert_eq!(find(&Address::parse_source(source).unwrap()).unwrap().name, "random");
    }
    for source in ["other/random", "example.com/hashicorp/random", "hashicorp/aws"] {
        assert!(find(&Address::parse_source(source).unwrap()).is_none(), "{source}");
    }
    assert_eq!(find(&Address::implied("terraform").unwrap()).unwrap().name, "terraform");
    let names: Vec<&str> = all().iter().map(|builtin| builtin.name).collect();
    assert!(names.is_sorted(), "{names:?}");
}

#[test]
fn schemas_keep_the_rules() {
    for builtin in all() {
        let provider = builtin.provider(&Outside::system("."));
        assert_eq!(provider.effects(), builtin.effects);
        assert_eq!(provider.name(), builtin.address().to_string());
        let schema = provider.schema();
        let kinds = [&schema.resources, &schema.data_sources, &schema.ephemerals];
        for (name, schema) in kinds.into_iter().flatten() {
            assert_eq!(schema.get().unwrap().problems(), Vec::new(), "{name}");
            assert!(name.starts_with(builtin.name), "{name}");
        }
    }
}

/// Any value of a type, more often a sensible one.
fn any_value(ty: &Type) -> BoxedStrategy<Value> {
    let known: BoxedStrategy<Value> = match ty {
        Type::Bool => any::<bool>().prop_map(Value::bool).boxed(),
        Type::Number => prop_oneof![
            4 => (-3_i64..40).prop_map(Value::from),
            1 => any::<i64>().prop_map(Value::from),
            1 => any::<f64>().prop_filter_map("NaN", |float| groma_model::number::Number::from_f64(float).map(Value::number)),
        ]
        .boxed(),
        Type::String | Type::Dynamic => prop_oneof![
            3 => any::<String>().prop_map(Value::from),
            1 => "[0-9]{1,4}(ms|s)".prop_map(Value::from),
            1 => "20[0-9]{2}-0[1-9]-[0-3][0-9]T00:00:00(Z|[+]01:00)".prop_map(Value::from),
        ]
        .boxed(),
        Type::List(element) => {
            let element = (**element).clone();
            prop::collection::vec(any_value(&element), 0..4)
                .prop_map(move |items| Value::list(element.clone(), items))
                .boxed()
        }
        Type::Map(element) => {
            let element = (**element).clone();
            prop::collection::btree_map(any::<String>(), any_value(&element), 0..3)
                .prop_map(move |entries| Value::map(element.clone(), entries.into_iter().collect()))
                .boxed()
        }
        _ => Just(Value::null(ty.clone())).boxed(),
    };
    let (null, unknown) = (Value::null(ty.clone()), Value::unknown(ty.clone()));
    prop_oneof![5 => known, 3 => Just(null), 1 => Just(unknown)].boxed()
}

/// Any configuration: what may not be given is null, what must be is there.
fn any_config(block: &Block) -> BoxedStrategy<Value> {
    let attributes: Vec<_> = block
        .attributes
        .iter()
        .map(|(name, attribute)| {
            let ty = attribute.implied_type();
            let name = name.clone();
            let value = match (attribute.required, attribute.optional) {
                (true, _) => any_value(&ty).prop_filter("required", |value| !value.is_null()).boxed(),
                (_, true) => any_value(&ty),
                _ => Just(Value::null(ty)).boxed(),
            };
            value.prop_map(move |value| (name.clone(), value))
        })
        .collect();
    attributes.prop_map(Value::object).boxed()
}

/// The resources of providers that touch nothing outside, `time` with a clock of no consequence.
fn harmless() -> Vec<(Arc<dyn Provider>, &'static str)> {
    let types = [
        ("null", vec!["null_resource"]),
        ("random", vec!["random_bytes", "random_id", "random_integer", "random_pet", "random_shuffle"]),
        ("random", vec!["random_string", "random_uuid", "random_uuid7"]),
        ("terraform", vec!["terraform_data"]),
        ("time", vec!["time_offset", "time_rotating", "time_static"]),
    ];
    let outside = Outside::system(".");
    let provider = |name: &str| all().iter().find(|builtin| builtin.name == name).unwrap().provider(&outside);
    types.into_iter().flat_map(|(name, types)| types.into_iter().map(move |ty| (provider(name), ty))).collect()
}

/// Validates, plans and applies as an engine does. Gives the object, if one was made.
async fn make_one(provider: &dyn Provider, ty: &str, prior: Option<&Value>, config: &Value) -> Option<Value> {
    let schema = provider.schema().resources[ty].get().unwrap();
    if provider.validate_resource(ty, config.clone()).await.unwrap().has_errors() {
        return None;
    }
    let nothing = Value::null(config.ty());
    let mut proposed = Object::of(config);
    for (name, attribute) in &schema.block.attributes {
        if attribute.computed
            && proposed.is_null(name)
            && let Some(prior) = prior
        {
            proposed.set(name, Object::of(prior).get(name));
        }
    }
    let request = PlanRequest {
        type_name: ty.into(),
        prior: prior.cloned().unwrap_or_else(|| nothing.clone()),
        proposed: proposed.into_value(),
        config: config.clone(),
        prior_private: Private::default(),
        prior_identity: None,
        provider_meta: None,
    };
    let plan = provider.plan(request).await.unwrap();
    if plan.diagnostics.has_errors() || !config.is_wholly_known() {
        return None;
    }
    assert!(plan.planned.conforms_to(&schema.block.implied_type()), "{ty}: {:?}", plan.planned);
    if !plan.requires_replace.is_empty() {
        // Another object is planned from nothing.
        return Box::pin(make_one(provider, ty, None, config)).await;
    }
    let request = ApplyRequest {
        type_name: ty.into(),
        prior: prior.cloned().unwrap_or(nothing),
        planned: plan.planned.clone(),
        config: config.clone(),
        planned_private: plan.private,
        planned_identity: None,
        provider_meta: None,
    };
    let applied = provider.apply(request).await.unwrap();
    if applied.outcome != Outcome::Done {
        assert!(applied.diagnostics.has_errors());
        return None;
    }
    assert!(applied.object.is_wholly_known() && applied.object.conforms_to(&schema.block.implied_type()));
    for (name, planned) in Object::of(&plan.planned).iter() {
        let actual = Object::of(&applied.object).get(name);
        assert!(!planned.is_wholly_known() || *planned == actual, "{ty}.{name} was planned otherwise");
    }
    Some(applied.object)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn whatever_is_asked_is_answered_and_then_settled(
        (at, first, second) in (0_usize..13).prop_flat_map(|at| {
            let (provider, ty) = &harmless()[at];
            let block = &provider.schema().resources[*ty].get().unwrap().block;
            (Just(at), any_config(block), any_config(block))
        })
    ) {
        let (provider, ty) = &harmless()[at];
        run(async {
            let Some(made) = make_one(provider.as_ref(), ty, None, &first).await else { return };
            let again = make_one(provider.as_ref(), ty, Some(&made), &first).await;
            assert_eq!(again.as_ref(), Some(&made), "{ty} is not settled");
            make_one(provider.as_ref(), ty, Some(&made), &second).await;
        });
    }

    #[test]
    fn any_import_and_any_stored_object_is_answered(at in 0_usize..13, id: String, json in any::<String>(), version in -1_i64..5) {
        let (provider, ty) = &harmless()[at];
        run(async {
            let target = ImportTarget::Id(id.clone());
            let imported = provider.import(ImportRequest { type_name: (*ty).into(), target }).await.unwrap();
            assert_eq!(imported.imported.is_empty(), imported.diagnostics.has_errors());
            for text in [json.clone(), format!("{{\"id\": {json:?}, \"keepers\": {{\"a\": 1}}}}"), "[]".to_owned()] {
                let state = RawState::Json(text.into_bytes());
                let request = UpgradeRequest { type_name: (*ty).into(), version, state };
                let _ = provider.upgrade(request).await.unwrap();
            }
        });
    }
}
