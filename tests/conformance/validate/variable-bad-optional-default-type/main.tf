variable "a" { type = object({ x = optional(number, "abc") }) }
variable "b" { type = object({ x = optional(list(string), {}) }) }
