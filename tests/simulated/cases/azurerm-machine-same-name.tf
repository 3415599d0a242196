# Another interface, but the same name.
#: provider: azurerm
#: target: azurerm_linux_virtual_machine.m

resource "azurerm_linux_virtual_machine" "m" {
  name                  = "vm"
  resource_group_name   = "g"
  custom_data           = "⟨old|new⟩"
  network_interface_ids = ["nic-⟨a|b⟩"]
  ORDER
}
