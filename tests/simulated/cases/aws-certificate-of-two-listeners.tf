# hashicorp/terraform-provider-aws#20957
#: provider: aws
#: target: aws_acm_certificate.c

resource "aws_acm_certificate" "c" {
  domain_name               = "example.com"
  subject_alternative_names = ["www.example.com"⟨|, "api.example.com"⟩]
  ORDER
}

resource "aws_acm_certificate_validation" "v" {
  certificate_arn = aws_acm_certificate.c.arn
}

resource "aws_lb_listener" "l" {
  for_each        = toset(["a", "b"])
  certificate_arn = aws_acm_certificate.c.arn
}
