variable "a" {
  validator {
    condition = true
  }
}
