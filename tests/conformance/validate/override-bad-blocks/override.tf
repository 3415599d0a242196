moved {
  from = terraform_data.a
  to   = terraform_data.b
}
check "c" {
  assert {
    condition     = path.module != ""
    error_message = "x"
  }
}
import {
  to = terraform_data.a
  id = "x"
}
removed {
  from = terraform_data.z
}
