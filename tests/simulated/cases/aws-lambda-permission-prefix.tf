#: provider: aws
#: target: aws_lambda_permission.p

resource "aws_lambda_permission" "p" {
  statement_id_prefix = "Allow"
  function_name       = "f"
  principal           = "⟨events|sns⟩.amazonaws.com"
  ORDER
}
