#: provider: google
#: target: google_compute_instance.vm

resource "google_compute_instance" "vm" {
  name                    = "vm-⟨a|b⟩"
  zone                    = "a"
  metadata_startup_script = "⟨old|new⟩"
  network_interface {
    subnetwork = "main"
  }
  ORDER
}
