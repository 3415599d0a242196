variable "full" {
  type        = string
  default     = "x"
  description = "everything"
  sensitive   = true

  ephemeral   = false
  nullable    = false
  validation {
# own line
    condition     =/**/ length(var.full) > 0
    error_message = "Must not be empty."
  }
  validation {
    condition     = var.full != "y"
    error_message = "Must not be y."
  }
}

variable "bare" {}
