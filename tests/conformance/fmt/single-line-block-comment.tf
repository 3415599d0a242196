variable "a" { type = string } # c
variable "b" { /* c */ type = string }
variable "c" { type = string /* c */ }
