terraform {
  cloud {
    workspaces {
      name = "x"
      tags = ["y"]
    }
  }
}

resource "terraform_data" "x" {
  input = {
    a = var.missing_a
    b = {
      c = "pre ${local.missing_b}" 
    }
  }
  triggers_replace = [
    terraform_data.missing.id,
  ]
}
