# A unique name that the catalogue does not know.
#: provider: aws
#: target: aws_key_pair.k

resource "aws_key_pair" "k" {
  key_name   = "ops"
  public_key = "ssh-ed25519 ⟨old|new⟩"
  ORDER
}
