#: provider: aws
#: target: aws_eks_node_group.n

resource "aws_eks_node_group" "n" {
  cluster_name           = "main"
  node_group_name_prefix = "workers-"
  instance_types         = ["m5.⟨large|xlarge⟩"]
  ORDER
}
