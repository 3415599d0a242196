#: provider: digitalocean
#: target: digitalocean_droplet.d

resource "digitalocean_droplet" "d" {
  name  = "web"
  image = "ubuntu-⟨22|24⟩"
  ORDER
}
