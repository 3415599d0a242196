variable "1a" {}
variable "a b" {}
variable "" {}
variable "a.b" {}
