variable "a" { type = list }
variable "b" { type = map }
