# Another range, but the same name.
#: provider: google
#: target: google_compute_subnetwork.s

resource "google_compute_subnetwork" "s" {
  name          = "main"
  network       = "default"
  ip_cidr_range = "10.⟨0|1⟩.0.0/16"
  description   = "⟨old|new⟩"
  ORDER
}
