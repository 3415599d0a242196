z = <<EOT
q
EOT
resource "terraform_data" "x" {}
output "a" {
  value       = terraform_data.x.id
  description = "d"
  sensitive   = false
  depends_on  = [  terraform_data.x]
  precondition {
    condition     = terraform_data.x.id != ""
    error_message = "Must have an id."
  }
}

check {
  assert {# tail
    condition     = true
    error_message = "x"
  }
}
  