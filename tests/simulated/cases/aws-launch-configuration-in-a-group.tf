# hashicorp/terraform#2421
#: provider: aws
#: target: aws_launch_configuration.c

resource "aws_launch_configuration" "c" {
  name_prefix   = "web-"
  instance_type = "t3.⟨small|large⟩"
  ORDER
}

resource "aws_autoscaling_group" "g" {
  name                 = "web"
  max_size             = 2
  launch_configuration = aws_launch_configuration.c.name
}
