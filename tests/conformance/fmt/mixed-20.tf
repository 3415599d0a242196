resource "terraform_data" "a" {}
output/**/ "x" {
  value = terraform_data.a[0].id
}

resource "terraform_data" "b" {
  count = 2
}
resource "terraform_data" "a" {
  count = 2
  lifecycle {
    replace_triggered_by = [terraform_data.b[count.index], terraform_data.b[0].id]
  }
}
resource "terraform_data" "c" {
  for_each = { x = 1 }
}
resource "terraform_data" "d" {
  for_each = { x = 1 }
  lifecycle {
    replace_triggered_by = [terraform_data.c[each.key].output]
  }
}
  /* t */