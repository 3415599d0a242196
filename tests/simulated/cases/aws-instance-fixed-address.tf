# hashicorp/terraform#7711, with another field
#: provider: aws
#: target: aws_instance.i

resource "aws_instance" "i" {
  ami        = "ami-1"
  user_data  = "⟨old|new⟩"
  subnet_id  = "subnet-7"
  private_ip = "10.0.0.⟨5|5⟩"
  ORDER
}
