variable "a" { type = set }
