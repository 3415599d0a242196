variable "a" { type = optional(string) }
variable "b" { type = list(optional(string)) }
