output "dir" {
  value = "./child"
}
