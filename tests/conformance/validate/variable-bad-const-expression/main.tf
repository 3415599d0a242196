variable "a" {
  const = "maybe"
}
