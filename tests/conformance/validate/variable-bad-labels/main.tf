variable {}
variable "a" "b" {}
