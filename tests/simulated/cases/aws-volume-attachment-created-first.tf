# hashicorp/terraform#18965
#: provider: aws
#: target: aws_volume_attachment.a

resource "aws_instance" "i" {
  ami = "ami-⟨1|2⟩"
}

resource "aws_volume_attachment" "a" {
  instance_id = aws_instance.i.id
  volume_id   = "vol-7"
  ORDER
}
