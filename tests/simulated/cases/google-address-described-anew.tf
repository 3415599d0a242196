# hashicorp/terraform-provider-google#17884, with another field
#: provider: google
#: target: google_compute_address.a

resource "google_compute_address" "a" {
  name        = "ingress"
  description = "⟨old|new⟩"
  ORDER
}
