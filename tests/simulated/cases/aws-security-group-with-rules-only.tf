# Rules are replaced with their group.
#: provider: aws
#: target: aws_security_group.g

resource "aws_security_group" "g" {
  name        = "⟨old|new⟩"
  description = "web"
  vpc_id      = "vpc-7"
  ORDER
}

resource "aws_security_group_rule" "in" {
  security_group_id        = aws_security_group.g.id
  source_security_group_id = aws_security_group.g.id
  port                     = 443
}
