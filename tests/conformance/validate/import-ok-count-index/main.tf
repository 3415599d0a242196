import {
  to = terraform_data.a[0]
  id = "x"
}
import {
  to = terraform_data.a[1 + 0]
  id = "y"
}
resource "terraform_data" "a" {
  count = 2
}
