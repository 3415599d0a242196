variable "a" { type = object({ x = optional(string, var.b) }) }
variable "b" { type = string }
