resource "terraform_data" "x" {}
output "a" {
  value = 1
  precondition {
    condition = terraform_data.x.id != ""
  }
  precondition {
    error_message = "x"
  }
}
