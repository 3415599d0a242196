//! What may stand in the block of the backend: everything that OpenTofu knows, also what has no effect here.

use std::sync::Arc;

use groma_model::schema::{Attribute, AttributeKind, Block, NestedObject, Nesting};
use groma_model::ty::Type;

use crate::settings::{block, optional, secret};

fn required(attribute: Attribute) -> Attribute {
    Attribute { required: true, optional: false, ..attribute }
}

fn deprecated(attribute: Attribute) -> Attribute {
    Attribute { deprecated: true, ..attribute }
}

fn object(about: &str, attributes: Vec<(&str, Attribute)>) -> Attribute {
    let nested = NestedObject { attributes: block(attributes).attributes, nesting: Nesting::Single };
    Attribute { ty: AttributeKind::Nested(Arc::new(nested)), ..optional(Type::String, about) }
}

pub(super) fn schema() -> Block {
    let mut all = block(places());
    all.attributes.extend(block(credentials()).attributes);
    all.attributes.extend(block(roles()).attributes);
    all.attributes.extend(block(requests()).attributes);
    all
}

fn text(about: &str) -> Attribute {
    optional(Type::String, about)
}

fn flag(about: &str) -> Attribute {
    optional(Type::Bool, about)
}

fn texts(about: &str) -> Attribute {
    optional(Type::set(Type::String), about)
}

fn by_name(about: &str) -> Attribute {
    optional(Type::map(Type::String), about)
}

fn places() -> Vec<(&'static str, Attribute)> {
    vec![
        ("bucket", required(text("The bucket."))),
        ("key", required(text("The key of the state in it."))),
        ("region", text("The region of the bucket.")),
        ("workspace_key_prefix", text("What stands before the keys of workspaces. \"env:\" if nothing is said.")),
        ("use_lockfile", flag("Whether to lock the state by an object beside it.")),
        ("dynamodb_table", text("Not supported; see use_lockfile.")),
        ("encrypt", flag("Whether the server encrypts what is stored.")),
        ("kms_key_id", text("The key of KMS that it encrypts with.")),
        ("sse_customer_key", secret("The key that it encrypts with, as base64, if that is yours to keep.")),
        ("acl", text("The canned ACL of what is stored.")),
        ("state_tags", by_name("Tags of the state.")),
        ("lock_tags", by_name("Tags of the lock.")),
    ]
}

fn credentials() -> Vec<(&'static str, Attribute)> {
    vec![
        ("access_key", text("The name of the access key.")),
        ("secret_key", secret("The access key.")),
        ("token", secret("The token of the session.")),
        ("profile", text("Which profile of the shared files to use.")),
        ("shared_credentials_file", deprecated(text("A file with credentials."))),
        ("shared_credentials_files", texts("Files with credentials.")),
        ("shared_config_files", texts("Files with settings.")),
        ("skip_credentials_validation", flag("Accepted; nothing is asked of STS beforehand.")),
        ("skip_metadata_api_check", flag("Whether to leave the metadata service of the machine alone.")),
        ("skip_region_validation", flag("Accepted; the server knows its region.")),
        ("skip_requesting_account_id", flag("Accepted; the account is not looked up.")),
        ("allowed_account_ids", texts("Not supported.")),
        ("forbidden_account_ids", texts("Not supported.")),
        ("ec2_metadata_service_endpoint", text("Where the metadata service of the machine is.")),
        ("ec2_metadata_service_endpoint_mode", text("Accepted.")),
    ]
}

fn roles() -> Vec<(&'static str, Attribute)> {
    let role = vec![
        ("role_arn", required(text("The role."))),
        ("duration", text("How long the session lasts, as in 1h30m.")),
        ("external_id", text("The external id.")),
        ("policy", text("A policy that restricts the session, as JSON.")),
        ("policy_arns", texts("Policies that restrict the session.")),
        ("session_name", text("The name of the session.")),
        ("tags", by_name("Tags of the session.")),
        ("transitive_tag_keys", texts("Which of them go on to further sessions.")),
    ];
    let web = vec![
        ("role_arn", text("The role.")),
        ("web_identity_token", secret("The token of the identity provider.")),
        ("web_identity_token_file", text("A file with that.")),
        ("session_name", text("The name of the session.")),
        ("policy", text("A policy that restricts the session, as JSON.")),
        ("policy_arns", texts("Policies that restrict the session.")),
        ("duration", text("How long the session lasts, as in 1h30m.")),
    ];
    vec![
        ("assume_role", object("A role to take on.", role)),
        ("assume_role_with_web_identity", object("A role to take on with a token.", web)),
        ("role_arn", deprecated(text("Use assume_role."))),
        ("session_name", deprecated(text("Use assume_role."))),
        ("external_id", deprecated(text("Use assume_role."))),
        ("assume_role_duration_seconds", deprecated(optional(Type::Number, "Use assume_role."))),
        ("assume_role_policy", deprecated(text("Use assume_role."))),
        ("assume_role_policy_arns", deprecated(texts("Use assume_role."))),
        ("assume_role_tags", deprecated(by_name("Use assume_role."))),
        ("assume_role_transitive_tag_keys", deprecated(texts("Use assume_role."))),
    ]
}

fn requests() -> Vec<(&'static str, Attribute)> {
    let endpoints = vec![
        ("s3", text("Of S3.")),
        ("iam", text("Accepted.")),
        ("sts", text("Accepted, unless a role is to be taken on.")),
        ("dynamodb", text("Accepted.")),
    ];
    vec![
        ("endpoints", object("Where the servers are.", endpoints)),
        ("endpoint", deprecated(text("Use endpoints."))),
        ("iam_endpoint", deprecated(text("Use endpoints."))),
        ("sts_endpoint", deprecated(text("Use endpoints."))),
        ("dynamodb_endpoint", deprecated(text("Use endpoints."))),
        ("sts_region", text("The region in which roles are taken on.")),
        ("use_path_style", flag("Whether the bucket stands in the path and not in the name of the host.")),
        ("force_path_style", deprecated(flag("Use use_path_style."))),
        ("use_dualstack_endpoint", flag("Whether to use servers that know IPv6 too.")),
        ("use_fips_endpoint", flag("Whether to use servers that follow FIPS.")),
        ("retry_mode", text("Accepted.")),
        ("max_retries", optional(Type::Number, "How often a request is tried again. 5 if nothing is said.")),
        ("custom_ca_bundle", text("A file with the certificates to trust.")),
        ("http_proxy", text("A proxy for http.")),
        ("https_proxy", text("A proxy for https.")),
        ("no_proxy", text("Which hosts are reached without a proxy.")),
        ("insecure", flag("Whether to trust any certificate.")),
        ("skip_s3_checksum", flag("Whether to send no checksums.")),
    ]
}
