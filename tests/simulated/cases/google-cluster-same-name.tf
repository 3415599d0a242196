#: provider: google
#: target: google_container_cluster.c

resource "google_container_cluster" "c" {
  name        = "main"
  location    = "europe-west1"
  description = "⟨old|new⟩"
  ORDER
}
