# hashicorp/terraform-provider-azurerm#16891
#: provider: azurerm
#: target: azurerm_public_ip.p

resource "azurerm_public_ip" "p" {
  name                = "in-⟨a|b⟩"
  resource_group_name = "g"
  allocation_method   = "⟨Dynamic|Static⟩"
  ORDER
}

resource "azurerm_network_interface" "n" {
  name                 = "nic"
  public_ip_address_id = azurerm_public_ip.p.id
}
