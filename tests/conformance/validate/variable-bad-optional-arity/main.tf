variable "a" { type = object({ x = optional() }) }
variable "b" { type = object({ x = optional(string, "a", "b") }) }
