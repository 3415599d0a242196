terraform {
  required_providers {
    terraform = {
      source                = "terraform.io/builtin/terraform"
      configuration_aliases = terraform.x
    }
  }
}

resource "x" "y" {
         provider = "aws.west"
  depends_on = ["a.b", "c.d"]
  lifecycle {
    ignore_changes = ["a", "b"]
    create_before_destroy = "true"
  }
  provisioner "local-exec" {
    when = "destroy"
    on_failure = "continue"
    command="x"
  }
}
