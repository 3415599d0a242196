# A link that the catalogue does not know.
#: provider: aws
#: target: aws_eip_association.a

resource "aws_instance" "i" {
  ami = "ami-⟨1|2⟩"
}

resource "aws_eip_association" "a" {
  instance_id   = aws_instance.i.id
  allocation_id = "eip-7"
  ORDER
}
