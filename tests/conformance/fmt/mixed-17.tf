resource "terraform_data" "a" {
  count = 2
}
output "a" {
  value = terraform_data.a/*x*/.*.nope
}
output "b" {
  

  value = terraform_data.a[*].nope
}
output "c" {
  value = terraform_data.a[0]/*x*/.nope
         }
output "d" {
  value = [for r in terraform_data.a : r.nope]
}
