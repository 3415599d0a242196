locals {
  a = [path.module, path.root, path.cwd, terraform.workspace, tofu.workspace]
}
