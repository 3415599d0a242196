locals {
  a = [for x in y:x]
         b = [ for x in y : x if x!=null ]
  c = {for k,v in m:k=>v}  
  d = { for k , v in m : k=>v... if v }
  e = [
  for x in y :
  x
  if x > 1
  ]
  f = {
    for k, v in m :
    k => {
      a=v
      bbb=1
    }
  }
  g = [for x in [for y in z:y]:x]
  h = [for i,x in y: "${i}=${x}"]
}

output "a" {
  value     = {
a=1
bb=2
}
  ephemeral = true
}
