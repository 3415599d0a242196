variable "a" {
  type = object({
    "${"x"}" = string
    (y)      = string
  })
}
