# pulumi/pulumi-gcp#190
#: provider: google
#: target: google_compute_vpn_tunnel.t

resource "google_compute_vpn_tunnel" "t" {
  name               = "office-⟨a|b⟩"
  target_vpn_gateway = "gw-1"
  peer_ip            = "192.0.2.1"
  shared_secret      = "⟨old|new⟩"
  ORDER
}
