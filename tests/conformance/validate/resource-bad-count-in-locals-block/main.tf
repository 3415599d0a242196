locals {
  x = count.index
  y = each.key
  z = self.id
}
