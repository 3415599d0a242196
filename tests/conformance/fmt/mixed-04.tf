resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "true"
    cmd     = !a
  }
}

resource "terraform_data" "a" {
  lifecycle {
    ignore_changes = ["*"]
  }
}
resource "terraform_data" "b" { 

  lifecycle {
    ignore_changes = "all"
  }
}
resource "terraform_data" "c" {
  lifecycle {
    ignore_changes = [input, input]
  }  
}
resource "terraform_data" "d" {
  lifecycle {
    ignore_changes = [all]
  }
}
