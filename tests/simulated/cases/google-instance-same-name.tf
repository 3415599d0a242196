# No disk and no address is shared, but the name is.
#: provider: google
#: target: google_compute_instance.vm

resource "google_compute_instance" "vm" {
  name     = "vm"
  zone     = "a"
  hostname = "⟨old|new⟩.example.com"
  ORDER
}
