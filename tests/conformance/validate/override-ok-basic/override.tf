variable "a" {
  description = "again"
}
