variable "a" { type = string(1) }
variable "b" { type = any() }
