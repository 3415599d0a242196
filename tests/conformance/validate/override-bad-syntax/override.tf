output "o" {
  value = 
}
