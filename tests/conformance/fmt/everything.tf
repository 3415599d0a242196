terraform{required_version=">=1"}
variable "x"{
type=object({a=string,b=optional(number,1)})
default={a="x"}
validation{
condition=length(var.x.a)>0&&var.x.b!=null
error_message="bad ${var.x.a}"
}
}
locals{
m={for k,v in var.m:k=>{
id=v.id
name="${v.name}"
}if v.on}
s=<<-EOT
  %{for k,v in m~}
  ${k}=${v}
  %{endfor~}
EOT
}
module "m"{
source="./m"
for_each=toset(["a","b"])
name="${each.key}-${ each.value }"
providers={aws=aws.west}
}
output "o"{
value=[for m in module.m:m.id]
sensitive=true
}
