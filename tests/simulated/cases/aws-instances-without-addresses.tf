#: provider: aws
#: target: aws_instance.i

resource "aws_instance" "i" {
  count     = 3
  ami       = "ami-1"
  key_name  = "⟨old|new⟩"
  subnet_id = "subnet-7"
  ORDER
}
