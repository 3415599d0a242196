variable "a" { type = object({ x = optional(string, upper("a")) }) }
