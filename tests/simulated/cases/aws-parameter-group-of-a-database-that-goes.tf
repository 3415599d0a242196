#: provider: aws
#: target: aws_db_parameter_group.p

resource "aws_db_parameter_group" "p" {
  name   = "pg"
  family = "postgres⟨15|16⟩"
  ORDER
}
⟨
resource "aws_db_instance" "d" {
  identifier           = "main"
  parameter_group_name = aws_db_parameter_group.p.name
}
|⟩
