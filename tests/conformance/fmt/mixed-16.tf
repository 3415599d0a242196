resource "terraform_data" "a" {
  depends_on = terraform_data.b
}
resource "terraform_data" "b" {
  depends_on = [upper("x")] // x

}
   /* c */     resource "terraform_data" "c" {
  depends_on = ["x"]
}
resource "terraform_data" "d" {
  depends_on = [terraform_data]
}
