variable "a-b" {}
variable "_a" {}
variable "ünïcode" {}
variable "type" {}
variable "default" {}
