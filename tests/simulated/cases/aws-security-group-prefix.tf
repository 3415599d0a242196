# hashicorp/terraform-provider-aws#27476
#: provider: aws
#: target: aws_security_group.g

resource "aws_security_group" "g" {
  name_prefix = "web-"
  description = "⟨old|new⟩"
  vpc_id      = "vpc-7"
  ORDER
}

resource "aws_instance" "i" {
  ami                    = "ami-1"
  vpc_security_group_ids = [aws_security_group.g.id]
}
