#: provider: aws
#: target: aws_lb_target_group.t

resource "aws_lb_target_group" "t" {
  name = "web-⟨80|8080⟩"
  port = ⟨80|8080⟩
  ORDER
}

resource "aws_lb_listener" "l" {
  count            = 2
  port             = 80 + count.index
  target_group_arn = aws_lb_target_group.t.arn
}

resource "aws_lb_listener_rule" "r" {
  priority         = 10
  target_group_arn = aws_lb_target_group.t.arn
}
