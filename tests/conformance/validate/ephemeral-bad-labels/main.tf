ephemeral {}
ephemeral "x" {}
