# The listener goes with this change.
#: provider: aws
#: target: aws_lb_target_group.t

resource "aws_lb_target_group" "t" {
  name     = "web"
  protocol = "⟨HTTP|HTTPS⟩"
  ORDER
}
⟨
resource "aws_lb_listener" "l" {
  target_group_arn = aws_lb_target_group.t.arn
}
|⟩
