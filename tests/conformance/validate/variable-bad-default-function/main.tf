variable "a" { default = upper("a") }
variable "b" { default = file("x") }
