# A unique name that the catalogue does not know.
#: provider: google
#: target: google_pubsub_topic.t

resource "google_pubsub_topic" "t" {
  name         = "events"
  kms_key_name = "⟨old|new⟩"
  ORDER
}
