# pulumi/pulumi-digitalocean#158
#: provider: digitalocean
#: target: digitalocean_droplet.d

resource "digitalocean_volume" "v" {
  name   = "data"
  region = "ams3"
  size   = 10
}

resource "digitalocean_droplet" "d" {
  name       = "web"
  user_data  = "⟨old|new⟩"
  volume_ids = [digitalocean_volume.v.id]
  ORDER
}
