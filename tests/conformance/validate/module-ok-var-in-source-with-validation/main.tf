variable "dir" {
  type    = string
  default = "child"
  validation {
    condition     = var.dir != ""
    error_message = "x"
  }
}
module "m" {
  source = "./${var.dir}"
}
