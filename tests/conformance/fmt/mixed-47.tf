resource "x" "y" {
  count = "${var.n}/*x*/"
  name  = "${var.name}"
  tags = {# tail
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

resource "terraform_data" "a" { // t
  count = 1
  lifecycle {
    enabled = true
  }
}
