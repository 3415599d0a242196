# Stock tools detach the volume before the new instance is made, whatever the order of the instances.
#: provider: aws
#: target: aws_instance.i

resource "aws_instance" "i" {
  ami = "ami-⟨1|2⟩"
  ORDER
}

resource "aws_ebs_volume" "v" {
  size = 10
}

resource "aws_volume_attachment" "a" {
  instance_id = aws_instance.i.id
  volume_id   = aws_ebs_volume.v.id
}
