import {
  to = module.nope.terraform_data.a
  id = "x"
}
