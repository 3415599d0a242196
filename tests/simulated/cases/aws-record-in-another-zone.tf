#: provider: aws
#: target: aws_route53_record.r

resource "aws_route53_record" "r" {
  zone_id = "Z⟨1|2⟩"
  name    = "www"
  type    = "A"
  records = ["10.0.0.1"]
  ORDER
}
