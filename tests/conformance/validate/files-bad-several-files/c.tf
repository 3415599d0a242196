variable "c" {
