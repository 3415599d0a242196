//! The calls of the provider protocol by name: the same in versions 5 and 6 but for some names. Client and server both
//! find their paths here.

mod client;
mod codec;

pub(super) use client::{streaming, unary};
pub(super) use codec::{Answered, Raw};

use super::handshake::ProtocolVersion;

/// Declares every call with its name in protocol 5 and in protocol 6.
macro_rules! calls {
    ($($(#[$doc:meta])* $call:ident = $v5:literal | $v6:literal,)*) => {
        /// A call of the provider protocol.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Rpc {
            $($(#[$doc])* $call,)*
        }

        impl Rpc {
            /// All of them.
            pub(super) const ALL: &[Self] = &[$(Self::$call,)*];

            /// How messages name it.
            pub(super) const fn name(self, protocol: ProtocolVersion) -> &'static str {
                match (self, protocol) {
                    $((Self::$call, ProtocolVersion::V5) => $v5, (Self::$call, ProtocolVersion::V6) => $v6,)*
                }
            }

            /// Where it is found.
            pub(super) const fn path(self, protocol: ProtocolVersion) -> &'static str {
                match (self, protocol) {
                    $(
                        (Self::$call, ProtocolVersion::V5) => concat!("/tfplugin5.Provider/", $v5),
                        (Self::$call, ProtocolVersion::V6) => concat!("/tfplugin6.Provider/", $v6),
                    )*
                }
            }
        }
    };
}

calls! {
    /// What is on offer, by name.
    GetMetadata = "GetMetadata" | "GetMetadata",
    /// Every schema.
    GetProviderSchema = "GetSchema" | "GetProviderSchema",
    /// What identifies objects.
    GetResourceIdentitySchemas = "GetResourceIdentitySchemas" | "GetResourceIdentitySchemas",
    /// Functions alone.
    GetFunctions = "GetFunctions" | "GetFunctions",
    /// Checks the provider's configuration.
    ValidateProviderConfig = "PrepareProviderConfig" | "ValidateProviderConfig",
    /// Checks a resource's configuration.
    ValidateResourceConfig = "ValidateResourceTypeConfig" | "ValidateResourceConfig",
    /// Checks a data source's configuration.
    ValidateDataResourceConfig = "ValidateDataSourceConfig" | "ValidateDataResourceConfig",
    /// Checks an ephemeral resource's configuration.
    ValidateEphemeralResourceConfig = "ValidateEphemeralResourceConfig" | "ValidateEphemeralResourceConfig",
    /// Checks a query.
    ValidateListResourceConfig = "ValidateListResourceConfig" | "ValidateListResourceConfig",
    /// Gives the provider its configuration.
    ConfigureProvider = "Configure" | "ConfigureProvider",
    /// Brings stored attributes to the current schema.
    UpgradeResourceState = "UpgradeResourceState" | "UpgradeResourceState",
    /// Brings a stored identity to the current schema.
    UpgradeResourceIdentity = "UpgradeResourceIdentity" | "UpgradeResourceIdentity",
    /// Reads an object.
    ReadResource = "ReadResource" | "ReadResource",
    /// Plans a change.
    PlanResourceChange = "PlanResourceChange" | "PlanResourceChange",
    /// Carries a change out.
    ApplyResourceChange = "ApplyResourceChange" | "ApplyResourceChange",
    /// Finds an object that exists.
    ImportResourceState = "ImportResourceState" | "ImportResourceState",
    /// Takes over an object of another resource type.
    MoveResourceState = "MoveResourceState" | "MoveResourceState",
    /// Writes a configuration for an object.
    GenerateResourceConfig = "GenerateResourceConfig" | "GenerateResourceConfig",
    /// Reads a data source.
    ReadDataSource = "ReadDataSource" | "ReadDataSource",
    /// Opens an ephemeral resource.
    OpenEphemeralResource = "OpenEphemeralResource" | "OpenEphemeralResource",
    /// Makes it last longer.
    RenewEphemeralResource = "RenewEphemeralResource" | "RenewEphemeralResource",
    /// Gives it back.
    CloseEphemeralResource = "CloseEphemeralResource" | "CloseEphemeralResource",
    /// Finds objects that exist; answered by a stream.
    ListResource = "ListResource" | "ListResource",
    /// Calls a function.
    CallFunction = "CallFunction" | "CallFunction",
    /// Asks to give up what is under way.
    StopProvider = "Stop" | "StopProvider",
}

impl Rpc {
    /// The call that a path names, with its protocol.
    pub(super) fn at_path(path: &str) -> Option<(Self, ProtocolVersion)> {
        let protocols = [ProtocolVersion::V5, ProtocolVersion::V6];
        let all = protocols.iter().flat_map(|protocol| Self::ALL.iter().map(|rpc| (*rpc, *protocol)));
        all.into_iter().find(|(rpc, protocol)| rpc.path(*protocol) == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_other_names_in_protocol_5() {
        assert_eq!(Rpc::GetProviderSchema.path(ProtocolVersion::V5), "/tfplugin5.Provider/GetSchema");
        assert_eq!(Rpc::GetProviderSchema.path(ProtocolVersion::V6), "/tfplugin6.Provider/GetProviderSchema");
        assert_eq!(Rpc::ReadResource.path(ProtocolVersion::V5), "/tfplugin5.Provider/ReadResource");
    }

    #[test]
    fn every_path_is_found_again() {
        for protocol in [ProtocolVersion::V5, ProtocolVersion::V6] {
            for rpc in Rpc::ALL {
                assert_eq!(Rpc::at_path(rpc.path(protocol)), Some((*rpc, protocol)));
            }
        }
        assert_eq!(Rpc::at_path("/tfplugin5.Provider/ConfigureProvider"), None);
    }
}
