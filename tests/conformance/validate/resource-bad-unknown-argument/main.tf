resource "terraform_data" "a" {
  inptu = "x"
  foo   = 1
}
