# Comment
/* block
   comment */
variable "a" {
  type    = map(object({ x = optional(number, 1.5e3), y = list(string) }))
  default = { "k" = { y = ["a", "b"] }, (var.k) : { y = [] } }
}

resource "terraform_data" "b" {
  count = var.n > 0 && !false || true ? 1 : 0
  input = "${upper("x")}-%{ if true }yes%{ else }no%{ endif ~}  $${literal} %%{x} \u00e9\n"

  lifecycle {
    ignore_changes = [input, tags["a"].b[0]]
  }

  dynamic "block" {
    for_each = toset(["a"])
    content {
      x = block.value
    }
  }
}

locals {
  list  = [for i, v in var.l : "${i}=${v}" if v != null]
  map   = { for k, v in var.m : k => v... }
  splat = terraform_data.b[*].output.a.*.c[0]
  heredoc = <<-EOT
    line ${~ 1 + 2 * -3 % 4 ~}
      more
    %{ for x in [1, 2] ~}
    ${x}
    %{ endfor ~}
  EOT
  legacy = b.0.1
  call   = provider::x::f(a..., [1,2]...)
}
