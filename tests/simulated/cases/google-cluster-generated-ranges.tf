#: provider: google
#: target: google_container_cluster.c

resource "google_container_cluster" "c" {
  name     = "main-⟨a|b⟩"
  location = "europe-west1"
  private_cluster_config {
    enable_private_nodes = ⟨false|true⟩
  }
  ip_allocation_policy {}
  ORDER
}
