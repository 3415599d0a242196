variable "v" { default = 5 }
output "o" {
  value = var.v
  precondition {
   condition     = var.v > 3
    error_message = "Too small."
  }  
}

import {
yyyyyyy = [1,2]
  to = terraform_data.a
  id = ["日本"]
}
resource "terraform_data" "a" {}   
