import {}
import {
  to = terraform_data.a
}
import {
  id = "x"
}
