locals {
  a = <<EOT
ok
${1 + }
EOT
}
