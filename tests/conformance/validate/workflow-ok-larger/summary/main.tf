variable "ids" {
  type = list(string)
}
output "text" {
  value = join(",", sort(var.ids))
}
