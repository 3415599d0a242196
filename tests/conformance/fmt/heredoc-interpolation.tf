locals {
  a = <<-EOT
    ${var.x}   ${  var.y  }
    ${upper( "a" )}
    %{if true}yes%{endif}
    %{ for x in   [1,2]  ~}
    ${x+1}
    %{ endfor ~}
  EOT
}
