# Another gateway and another peer, but the same name.
#: provider: google
#: target: google_compute_vpn_tunnel.t

resource "google_compute_vpn_tunnel" "t" {
  name               = "office"
  target_vpn_gateway = "gw-⟨1|2⟩"
  peer_ip            = "192.0.2.⟨1|2⟩"
  shared_secret      = "⟨old|new⟩"
  ORDER
}
