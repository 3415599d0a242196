# hashicorp/terraform#33507: somebody replaces records by hand.
#: provider: aws
#: target: aws_route53_record.r

resource "aws_route53_record" "r" {
  for_each = toset(["www", "api"])
  zone_id  = "Z1"
  name     = each.key
  type     = "A"
  ttl      = 300
  records  = ["10.0.0.1"]
  ORDER
}
