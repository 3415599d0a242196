variable "a" { description = 5 }
