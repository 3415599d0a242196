#: provider: aws
#: target: aws_efs_mount_target.m

resource "aws_efs_mount_target" "m" {
  file_system_id = "fs-1"
  subnet_id      = "subnet-⟨1|2⟩"
  ORDER
}
