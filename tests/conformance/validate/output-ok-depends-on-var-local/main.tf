variable "v" { default = 1 }
locals { l = 1 }
output "a" {
  value      = 1
  depends_on = [var.v, local.l]
}
