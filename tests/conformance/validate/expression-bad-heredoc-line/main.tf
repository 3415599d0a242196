locals {
  a = <<-EOT
    first
    ${local.nope}
    third ${upper([])}
  EOT
}
