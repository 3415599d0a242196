output "a" {
  value = [for x in ["a"] : sensitive(x)]
}
