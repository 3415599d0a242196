variable "a" { default = 1 + 2 }
variable "b" { default = [for x in [1, 2] : x * 2] }
variable "c" { default = true ? "a" : "b" }
variable "d" { default = "x${1}y" }
