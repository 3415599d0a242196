locals {
  a = <<-EOT
    %{~ if   true   ~}
      ${~ var.x ~}
    %{~else~}
    %{~endif~}
  EOT
}
