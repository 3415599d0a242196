# The range is the same, but the VPC is another one: that is not known when it is planned.
#: provider: aws
#: target: aws_subnet.a

resource "aws_vpc" "v" {
  cidr_block = "⟨10.0.0.0/16|10.0.0.0/15⟩"
}

resource "aws_subnet" "a" {
  vpc_id     = aws_vpc.v.id
  cidr_block = "10.0.1.0/24"
  ORDER
}
