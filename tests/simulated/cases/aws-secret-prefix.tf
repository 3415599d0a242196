#: provider: aws
#: target: aws_secretsmanager_secret.s

resource "aws_secretsmanager_secret" "s" {
  name_prefix             = "db-"
  recovery_window_in_days = 30
  ORDER
}
