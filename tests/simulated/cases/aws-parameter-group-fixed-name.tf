# hashicorp/terraform-provider-aws#41020, with another field
#: provider: aws
#: target: aws_db_parameter_group.p

resource "aws_db_parameter_group" "p" {
  name        = "pg"
  family      = "postgres16"
  description = "⟨old|new⟩"
  ORDER
}

resource "aws_db_instance" "d" {
  count                = 2
  identifier           = "main-${count.index}"
  parameter_group_name = aws_db_parameter_group.p.name
}
