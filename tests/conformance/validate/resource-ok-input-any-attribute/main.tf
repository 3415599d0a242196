resource "terraform_data" "a" {
  input = { x = 1 }
}
output "o" {
  value = [terraform_data.a.output.x, terraform_data.a.output.nope, terraform_data.a.input.nope]
}
