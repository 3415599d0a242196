#: provider: aws
#: target: aws_subnet.a

resource "aws_subnet" "a" {
  count      = 2
  vpc_id     = "vpc-7"
  cidr_block = cidrsubnet("10.⟨0|1⟩.0.0/16", 8, count.index)
  ORDER
}
