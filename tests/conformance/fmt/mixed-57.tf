z = <<EOT
b {
q
EOT
resource "x" "y" {
  count = "${var.n}"
  name  = "${var.name}"
  tags = {
    a = "${var.a}"
  }
  nested {
    b = "${var.b}"
    c = ["${var.c}"]
  }
  depends_on = ["${x.z}"]
  provider = "${foo.bar}"
}
output "o" { value = "${x.y.id}" }

data "terraform_remote_state" "x" {
  backend = "local"
  config  = "path"
}

