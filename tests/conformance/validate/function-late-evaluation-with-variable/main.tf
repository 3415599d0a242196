variable "v" {
  default = "{"
}
locals {
  a = jsondecode(var.v)
  b = tonumber(var.v)
}
