      resource "terraform_data"   "x"   {
  input = [
        1,
   2,
              3
 ]
           lifecycle {
  /* c */      create_before_destroy = true
  }
 }

data "terraform_remote_state" "a" {
# own line
  count   = 2
  backend = "local"
}
data "terraform_remote_state" "b" {
  for_each = toset(["x"])
  backend  = "local"
}
output "o" {
  value = [data.terraform_remote_state.a[0].outputs, data.terraform_remote_state.b["x  "].outputs]
}
# end