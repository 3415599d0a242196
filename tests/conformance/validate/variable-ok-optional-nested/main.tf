variable "a" {
  type = list(object({
    x = optional(object({
      y = optional(string, "d")
      z = optional(set(number), [1, 2])
    }), {})
  }))
  default = [{}, { x = null }, { x = { y = null } }]
}
