#: provider: aws
#: target: aws_subnet.a

resource "aws_subnet" "a" {
  vpc_id            = "vpc-7"
  cidr_block        = "10.0.⟨1|2⟩.0/24"
  ipv6_cidr_block   = "2001:db8:1:1::/64"
  availability_zone = "eu-west-1⟨a|b⟩"
  ORDER
}
