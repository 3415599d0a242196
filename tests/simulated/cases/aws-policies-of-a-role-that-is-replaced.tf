# The new role has another name, which is not known when it is planned.
#: provider: aws
#: target: aws_iam_role_policy_attachment.a

resource "aws_iam_role" "r" {
  name_prefix = "node-"
  path        = "/⟨old|new⟩/"
}

resource "aws_iam_role_policy_attachment" "a" {
  role       = aws_iam_role.r.name
  policy_arn = "arn:worker"
  ORDER
}
