resource "x" "y" {
  a = <<EOT


  two blank


EOT


  b = 1
}
