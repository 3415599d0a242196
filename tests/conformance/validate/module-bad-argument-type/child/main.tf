variable "n" { type = number }
variable "l" { type = list(string) }
variable "o" { type = object({ b = string }) }
