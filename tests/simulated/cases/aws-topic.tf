# A type that the catalogue does not know, and that needs nothing.
#: provider: aws
#: target: aws_sns_topic.t

resource "aws_sns_topic" "t" {
  name       = "events-⟨a|b⟩"
  fifo_topic = ⟨false|true⟩
  ORDER
}
