# GoogleCloudPlatform/cloud-foundation-fabric#3485: what depends on it asks to be created first.
#: provider: google
#: target: google_compute_subnetwork.s

resource "google_compute_subnetwork" "s" {
  name          = "main-⟨a|b⟩"
  network       = "default"
  ip_cidr_range = "10.0.0.0/16"
}

resource "google_compute_instance" "vm" {
  name = "vm-⟨a|b⟩"
  zone = "a"
  network_interface {
    subnetwork = google_compute_subnetwork.s.self_link
  }
  ORDER
}
