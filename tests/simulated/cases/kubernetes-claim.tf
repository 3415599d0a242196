#: provider: kubernetes
#: target: kubernetes_persistent_volume_claim.c

resource "kubernetes_persistent_volume_claim" "c" {
  for_each = toset(["a", "b"])
  metadata {
    name      = "data-${each.key}"
    namespace = "prod"
  }
  storage = "⟨10Gi|20Gi⟩"
  ORDER
}
