module "a" {
  source = "./outer"
  which  = "./inner"
}
