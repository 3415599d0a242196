variable "a" {
  default = "5"
  validation {
    condition     = can(tonumber(var.a)) && can(regex("^[0-9]+$", var.a))
    error_message = "Must be digits."
  }
}
