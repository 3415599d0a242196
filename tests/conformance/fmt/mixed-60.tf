moved {
  from = terraform_data.a
  to   =  terraform_data.b
}
check "c" {
  assert {   

    condition     = path.module != ""
    error_message = {a=1}
x = 1
  }
}
import {
  to = terraform_data.a
   id = "x"
}
removed {
  from = terraform_data.z
}
