#: provider: aws
#: target: aws_lb_target_group.t

resource "aws_lb_target_group" "t" {
  name = "web-⟨a|b⟩"
  ORDER
}

resource "aws_ecs_service" "s" {
  name    = "web"
  cluster = "main"
  load_balancer {
    target_group_arn = aws_lb_target_group.t.arn
    container_port   = 80
  }
}
