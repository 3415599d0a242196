variable "a" {
  type = object({
    x = string
    x = number
  })
}
