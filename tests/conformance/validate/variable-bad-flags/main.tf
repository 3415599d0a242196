variable "a" { sensitive = "maybe" }
variable "b" { nullable = 5 }
variable "c" { sensitive = var.a }
variable "d" { ephemeral = [] }
variable "e" { sensitive = null }
