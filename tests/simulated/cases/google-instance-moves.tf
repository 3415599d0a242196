# Names are unique in a zone, addresses in a subnetwork.
#: provider: google
#: target: google_compute_instance.vm

resource "google_compute_instance" "vm" {
  count = 2
  name  = "vm-${count.index}"
  zone  = "⟨a|b⟩"
  network_interface {
    subnetwork = "main"
    network_ip = "10.0.0.${10 + count.index}"
  }
  ORDER
}
