variable "e" {
  ephemeral = true
  default   = "x"
}
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command     = "true"
    environment = { TOKEN = var.e }
  }
}
