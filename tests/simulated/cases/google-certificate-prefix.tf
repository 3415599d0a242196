# hashicorp/terraform#10546
#: provider: google
#: target: google_compute_ssl_certificate.c

resource "google_compute_ssl_certificate" "c" {
  name_prefix = "web-"
  certificate = "⟨old|new⟩"
  private_key = "⟨old|new⟩"
  ORDER
}

resource "google_compute_target_https_proxy" "p" {
  name             = "web"
  ssl_certificates = [google_compute_ssl_certificate.c.id]
}
