# cloudposse/terraform-aws-dynamic-subnets#120
#: provider: aws
#: target: aws_subnet.a

resource "aws_subnet" "a" {
  for_each          = { one = "10.0.1.0/24", two = "10.0.2.0/24" }
  vpc_id            = "vpc-7"
  cidr_block        = each.value
  availability_zone = "eu-west-1⟨a|b⟩"
  ORDER
}
