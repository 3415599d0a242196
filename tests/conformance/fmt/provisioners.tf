resource "x" "y" {
connection {
type="ssh"
host=self.ip
}
provisioner "remote-exec" {
inline=[
"a",
"b"
]
}
provisioner "local-exec" { command="x" }
}
