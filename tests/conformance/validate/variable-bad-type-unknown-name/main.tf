variable "a" { type = strng }
variable "b" { type = list(foo) }
variable "c" { type = integer }
