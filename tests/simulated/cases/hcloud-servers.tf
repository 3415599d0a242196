# kube-hetzner/terraform-hcloud-kube-hetzner#558, with another field
#: provider: hcloud
#: target: hcloud_server.s

resource "hcloud_server" "s" {
  count    = 2
  name     = "node-${count.index}"
  location = "⟨fsn1|nbg1⟩"
  ORDER
}
