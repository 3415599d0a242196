variable "a" { type = string + number }
variable "b" { type = 5 }
variable "c" { type = true }
variable "d" { type = null }
variable "e" { type = ["string"] }
variable "f" { type = { a = string } }
variable "g" { type = var.x }
