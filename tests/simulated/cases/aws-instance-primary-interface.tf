# pulumi/pulumi-aws#2394
#: provider: aws
#: target: aws_instance.i

resource "aws_instance" "i" {
  ami = "ami-⟨1|2⟩"
  primary_network_interface {
    network_interface_id = "eni-7"
  }
  ORDER
}
