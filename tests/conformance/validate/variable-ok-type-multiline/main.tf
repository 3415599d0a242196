variable "a" {
  type = object({
    # comment
    a = string, b = number
    c = optional(
      list(string),
      [],
    )
  })
}
