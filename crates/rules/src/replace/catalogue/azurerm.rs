//! What is known about the resource types of Azure.

use super::row::{Class, RENAME, ROW, Row, WITH_DEPENDENT};

pub(super) const ROWS: &[Row] = &[
    Row {
        id: "azurerm.virtual_machine",
        resource: "azurerm_linux_virtual_machine",
        classes: &[Class::Claim],
        triggers: &["custom_data"],
        claims: &[&["network_interface_ids[*]"], &["name", "resource_group_name"]],
        because: "A network interface belongs to one machine at a time, and names are unique in a resource group",
        symptom: "NicInUse, or a resource with the ID already exists",
        suggestions: &["Give the new machine another name and another network interface"],
        threads: &["pulumi/pulumi-azure#811", "hashicorp/terraform-provider-azurerm#30220"],
        ..ROW
    },
    Row {
        id: "azurerm.windows_virtual_machine",
        resource: "azurerm_windows_virtual_machine",
        classes: &[Class::Claim],
        triggers: &["custom_data"],
        claims: &[&["network_interface_ids[*]"], &["name", "resource_group_name"]],
        because: "A network interface belongs to one machine at a time, and names are unique in a resource group",
        symptom: "NicInUse, or a resource with the ID already exists",
        suggestions: &["Give the new machine another name and another network interface"],
        threads: &["pulumi/pulumi-azure#811", "hashicorp/terraform-provider-azurerm#30220"],
        ..ROW
    },
    Row {
        id: "azurerm.public_ip",
        resource: "azurerm_public_ip",
        classes: &[Class::Held, Class::Both],
        triggers: &["sku", "zones", "allocation_method"],
        claims: &[&["name", "resource_group_name"]],
        held_by: &[
            "azurerm_virtual_network_gateway",
            "azurerm_lb",
            "azurerm_application_gateway",
            "azurerm_bastion_host",
            "azurerm_firewall",
            "azurerm_nat_gateway_public_ip_association",
            "azurerm_network_interface",
        ],
        identity: &["id"],
        because: "Names are unique in a resource group",
        symptom: "PublicIPAddressCannotBeDeleted, or a resource with the ID already exists",
        suggestions: &[RENAME, WITH_DEPENDENT],
        threads: &[
            "hashicorp/terraform-provider-azurerm#3419",
            "hashicorp/terraform-provider-azurerm#16891",
            "PaloAltoNetworks/terraform-azurerm-swfw-modules#74",
        ],
        ..ROW
    },
];
