a = <<EOT
${<<IN
x
IN
}
EOT
