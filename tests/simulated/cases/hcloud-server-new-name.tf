#: provider: hcloud
#: target: hcloud_server.s

resource "hcloud_server" "s" {
  name  = "node-⟨a|b⟩"
  image = "debian-⟨12|13⟩"
  ORDER
}
