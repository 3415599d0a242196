module "nowhere" {
  source = "http://@HTTP@/archives/nowhere.zip"
}
