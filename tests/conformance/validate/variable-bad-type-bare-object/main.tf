variable "a" { type = object }
variable "b" { type = tuple }
