# hashicorp/terraform#22411
#: provider: aws
#: target: aws_sagemaker_endpoint_configuration.c

resource "aws_sagemaker_endpoint_configuration" "c" {
  name_prefix = "model-"
  kms_key_arn = "arn:⟨old|new⟩"
  ORDER
}

resource "aws_sagemaker_endpoint" "e" {
  name                 = "model"
  endpoint_config_name = aws_sagemaker_endpoint_configuration.c.name
}
