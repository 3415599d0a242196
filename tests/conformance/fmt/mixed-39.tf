variable "full" {
 // x // t
  type        = string
  default     = "x"
  description = "everything"
  sensitive   = true
  nullable    = false
  ephemeral   = false

  validation {
    condition     = length(var.full) > 0
    error_message = "Must not be empty."
yyyyyyy = [1,2]
  }
  validation {
    condition     = var.full != "y"
    error_message = "Must not be y."
  /*x*/}
}

variable "bare" {}
