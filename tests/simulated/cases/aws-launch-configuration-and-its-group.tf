# The group is named after its launch configuration, so that it is replaced as well.
#: provider: aws
#: target: aws_launch_configuration.c

resource "aws_launch_configuration" "c" {
  name_prefix = "web-"
  image_id    = "ami-⟨1|2⟩"
  ORDER
}

resource "aws_autoscaling_group" "g" {
  name                 = "web-${aws_launch_configuration.c.name}"
  launch_configuration = aws_launch_configuration.c.name
}
