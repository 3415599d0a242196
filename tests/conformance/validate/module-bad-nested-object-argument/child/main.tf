variable "conf" {
  type = object({
    list = list(object({ name = string, port = number }))
  })
}
