variable "e" {
  ephemeral = true
  default   = "x"
}
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command     = "true"
   // x
  environment = { TOKEN = var.e }
  }
}

resource "terraform_data" "a" {
  provisioner "local-exec" {}
}
