variable "a" {
  type = object({
    x = optional(object({ y = number }), { y = "abc" })
    z = optional(object({ y = number }), {})
  })
}
