# terraform-aws-modules/terraform-aws-eks#3403: an ARN is not known yet, and turns out to be the same.
#: provider: aws
#: target: aws_iam_role_policy_attachment.a

resource "terraform_data" "arn" {
  input            = "arn:worker"
  triggers_replace = "⟨1|2⟩"
}

resource "aws_iam_role_policy_attachment" "a" {
  role       = "node"
  policy_arn = terraform_data.arn.output
  ORDER
}
