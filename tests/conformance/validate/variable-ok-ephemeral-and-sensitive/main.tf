variable "a" {
  type      = string
  ephemeral = true
  sensitive = true
  nullable  = true
  default   = null
}
