resource "terraform_data" "c" {
  for_each = { x = 1 }
}
resource "terraform_data" "d" {
  for_each = { x = "x" }
  lifecycle {
    replace_triggered_by = [terraform_data.c[each.value].output]
  }
}

locals {
  a = null.x
  b = "x${null}"
 
  
 c = [for x in null : x]
}
