variable "a" { sensitive = "true" }
variable "b" { nullable = "false" }
