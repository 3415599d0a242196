variable "provider" {}
variable "_" {}
