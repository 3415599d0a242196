locals {
  a = <<EOT
  keep   this
	and this
EOT
    b    =   <<-EOT
      keep   =  this
        EOT
  c = 1
}
