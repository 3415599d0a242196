import {
  to = module.x
  id = "a"
}
import {
  to = "terraform_data.a"
  id = "a"
}
import {
  to = data.terraform_remote_state.a
  id = "a"
}
import {
  to = terraform_data.a.id
  id = "a"
}
resource "terraform_data" "a" {}
