output "a" {
  value = 1
  type  = string
  vlaue = 2
}
