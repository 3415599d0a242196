# hashicorp/terraform#16635: the service is replaced because its target group is.
#: provider: aws
#: target: aws_ecs_service.s

resource "aws_lb_target_group" "t" {
  name = "web-⟨a|b⟩"
}

resource "aws_ecs_service" "s" {
  name    = "web"
  cluster = "main"
  load_balancer {
    target_group_arn = aws_lb_target_group.t.arn
    container_port   = 80
  }
  ORDER
}
