# hashicorp/terraform-provider-google#1601
#: provider: google
#: target: google_compute_instance_template.t

resource "google_compute_instance_template" "t" {
  name_prefix  = "web-"
  machine_type = "e2-⟨small|large⟩"
  ORDER
}

resource "google_compute_instance_group_manager" "m" {
  name              = "web"
  instance_template = google_compute_instance_template.t.self_link
}
