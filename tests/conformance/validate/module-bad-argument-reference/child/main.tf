variable "x" {}
variable "y" {}
