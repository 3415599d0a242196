# Somebody replaces it by hand. Without a recovery window the name is free when the old one is gone, and not before.
#: provider: aws
#: target: aws_secretsmanager_secret.s

resource "aws_secretsmanager_secret" "s" {
  name                    = "db/password"
  recovery_window_in_days = 0
  ORDER
}
