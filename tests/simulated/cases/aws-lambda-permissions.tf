# terraform-aws-modules/terraform-aws-lambda#561
#: provider: aws
#: target: aws_lambda_permission.p

resource "aws_lambda_permission" "p" {
  count         = 2
  statement_id  = "Allow${count.index}"
  function_name = "f"
  principal     = "events.amazonaws.com"
  source_arn    = "arn:rule/⟨old|new⟩/${count.index}"
  ORDER
}
