# hashicorp/terraform-provider-azurerm#30220
#: provider: azurerm
#: target: azurerm_linux_virtual_machine.m

resource "azurerm_network_interface" "n" {
  name = "nic"
}

resource "azurerm_linux_virtual_machine" "m" {
  name                  = "vm-⟨a|b⟩"
  resource_group_name   = "g"
  custom_data           = "⟨old|new⟩"
  network_interface_ids = [azurerm_network_interface.n.id]
  ORDER
}
