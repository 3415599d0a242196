# hashicorp/terraform-provider-aws#16889
#: provider: aws
#: target: aws_lb_target_group.t

resource "aws_lb_target_group" "t" {
  name_prefix = "web-"
  port        = ⟨80|8080⟩
  ORDER
}

resource "aws_lb_listener" "l" {
  port             = 80
  target_group_arn = aws_lb_target_group.t.arn
}
