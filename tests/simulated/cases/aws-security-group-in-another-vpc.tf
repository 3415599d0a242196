#: provider: aws
#: target: aws_security_group.g

resource "aws_security_group" "g" {
  name        = "web"
  description = "web"
  vpc_id      = "vpc-⟨7|8⟩"
  ORDER
}
