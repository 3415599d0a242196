# terraform-aws-modules/terraform-aws-eks#1525
#: provider: aws
#: target: aws_eks_node_group.n

resource "aws_eks_node_group" "n" {
  for_each        = toset(["a", "b"])
  cluster_name    = "main"
  node_group_name = "workers-${each.key}"
  subnet_ids      = ["subnet-1"⟨|, "subnet-2"⟩]
  ORDER
}
