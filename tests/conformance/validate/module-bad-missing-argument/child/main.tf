variable "name" {
  type = string
}
variable "other" {}
