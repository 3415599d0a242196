# The association is replaced with it.
#: provider: azurerm
#: target: azurerm_public_ip.p

resource "azurerm_public_ip" "p" {
  name                = "out-⟨a|b⟩"
  resource_group_name = "g"
  zones               = ["⟨1|2⟩"]
  ORDER
}

resource "azurerm_nat_gateway_public_ip_association" "a" {
  nat_gateway_id       = "nat-1"
  public_ip_address_id = azurerm_public_ip.p.id
}
