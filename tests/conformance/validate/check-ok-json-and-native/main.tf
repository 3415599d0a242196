variable "v" { default = 1 }
check "a" {
  assert {
    condition     = var.v == 1
    error_message = "x"
  }
}
