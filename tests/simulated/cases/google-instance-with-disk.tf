# pulumi/pulumi-gcp#2586
#: provider: google
#: target: google_compute_instance.vm

resource "google_compute_disk" "d" {
  name = "data"
  type = "ssd"
}

resource "google_compute_instance" "vm" {
  name                    = "vm-⟨a|b⟩"
  zone                    = "a"
  metadata_startup_script = "⟨old|new⟩"
  attached_disk {
    source = google_compute_disk.d.self_link
  }
  ORDER
}
