# The cluster is replaced as well, and its pools with it.
#: provider: google
#: target: google_container_node_pool.p

resource "google_container_cluster" "c" {
  name     = "main"
  location = "⟨a|b⟩"
}

resource "google_container_node_pool" "p" {
  name     = "workers"
  cluster  = google_container_cluster.c.id
  location = "⟨a|b⟩"
  ORDER
}
