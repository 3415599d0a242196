# pulumi/pulumi-gcp#2650
#: provider: google
#: target: google_project_iam_member.g

resource "google_project_iam_member" "g" {
  count   = 2
  project = "p"
  role    = ["roles/viewer", "roles/editor"][count.index]
  member  = "user:a@example.com"
  ORDER
}
