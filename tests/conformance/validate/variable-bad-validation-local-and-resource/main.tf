resource "terraform_data" "r" {}
variable "a" {
  default = "x"
  validation {
    condition     = var.a != terraform_data.r.id
    error_message = "x ${local.nope}"
  }
}
