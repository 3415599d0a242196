variable "a" { description = ["x"] }
variable "b" { description = var.a }
variable "c" { description = "x ${1}" }
