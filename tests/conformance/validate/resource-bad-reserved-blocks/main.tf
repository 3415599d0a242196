resource "terraform_data" "a" {
  locals {}
}
