variable "p" { default = "x" }
terraform {
  backend "local" {
    path = "${var.p}.tfstate"
  }
}
