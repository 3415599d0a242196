# Strings with interpolations and directives.

# --- interpolation ---
text   = "a${"b"}c" # = "abc"
number = "n=${1.50}" # = "n=1.5"
bool   = "${true}!" # = "true!"
alone  = "${[1, 2]}"
# = [
# :   1,
# :   2,
# : ]
wrapped = "${"x"}" # = "x"
empty  = "" # = ""
nested = "a ${"b ${"c"}"}" # = "a b c"
escape = "$${a} %%{b} \n \t \" \\ \u00e9 \U0001F600"
# = <<EOT
# : ${a} %{b}
# :  	 " \ é 😀
# : EOT
dollar = "$ $$ % %% $a" # = "$ $$ % %% $a"

# --- what-cannot-be-interpolated ---
null   = "a${null}"
# Error: 1:14-18 Invalid template interpolation value: The expression result is null. Cannot include a null value in a string template.
list   = "a${[]}"
# Error: 1:14-16 Invalid template interpolation value: Cannot include the given value in a string template: string required, but have tuple.
object = "a${{}}"
# Error: 1:14-16 Invalid template interpolation value: Cannot include the given value in a string template: string required, but have object.
two    = "${null}${[]}"
# Error: 1:13-17 Invalid template interpolation value: The expression result is null. Cannot include a null value in a string template.
# Error: 1:20-22 Invalid template interpolation value: Cannot include the given value in a string template: string required, but have tuple.
error  = "a${null.b}${"x" + 1}"
# Error: 1:18-20 Attempt to get attribute from null value: This value is null, so it does not have any attributes.
# Error: 1:23-26 Invalid operand: Unsuitable value for left operand: a number is required.

# --- directives ---
if        = "%{if true}yes%{else}no%{endif}" # = "yes"
without   = "<%{if false}yes%{endif}>" # = "<>"
null      = "%{if null}a%{endif}"
# Error: 1:19-23 Null condition: The condition value is null. Conditions must either be true or false.
no_bool   = "%{if "x"}a%{endif}"
# Error: 1:19-22 Incorrect condition type: The condition expression must be of type bool.
for       = "%{for x in ["a", "b"]}${x},%{endfor}" # = "a,b,"
for_key   = "%{for k, v in { a = 1, b = 2 }}${k}=${v};%{endfor}" # = "a=1;b=2;"
for_set   = "%{for x in toset(["b", "a"])}${x}%{endfor}" # = "ab"
for_null  = "%{for x in null}${x}%{endfor}"
# Error: 1:25-29 Iteration over null value: A null value cannot be used as the collection in a 'for' expression.
for_text  = "%{for x in "abc"}${x}%{endfor}"
# Error: 1:25-30 Iteration over non-iterable value: A value of type string cannot be used as the collection in a 'for' expression.
strip     = "a   ${~ "b" ~}   c" # = "abc"
strip_if  = "a %{~ if true ~} b %{~ endif ~} c" # = "abc"

# --- heredocs ---
plain = <<EOT
one
  two ${1 + 1}
EOT
# = <<EOT
# : one
# :   two 2
# :
# : EOT
indented = <<-EOT
    one
      two
    three
  EOT
# = <<EOT
# : one
# :   two
# : three
# :
# : EOT
loop = <<-EOT
  %{ for x in ["a", "b"] ~}
  - ${x}
  %{ endfor ~}
EOT
# = <<EOT
# :   - a
# :   - b
# :
# : EOT

# --- unknown-parts ---
text    = "a${given.string}" # = (known after apply)
prefix  = startswith("ami-${given.string}", "ami-") # = true
other   = startswith("ami-${given.string}", "vpc-") # = false
null    = "x${given.string}" == null # = false
for     = "%{for x in given.list}${x}%{endfor}" # = (known after apply)
if      = "%{if given.bool}a%{endif}" # = (known after apply)
error   = "${given.string}${null}"
# Error: 1:29-33 Invalid template interpolation value: The expression result is null. Cannot include a null value in a string template.

# --- marks ---
text   = "a${sensitive("b")}" # = (sensitive value)
for    = "%{for x in sensitive(["a"])}${x}%{endfor}" # = (sensitive value)
if     = "%{if sensitive(true)}a%{endif}" # = (sensitive value)
alone  = "${sensitive("b")}" # = (sensitive value)
shown  = nonsensitive("a${sensitive("b")}") # = "ab"

# --- templates-from-files ---
greet    = templatefile("greet.tftpl", { name = "you" }) # = "Hello, you!"
list     = templatefile("list.tftpl", { xs = ["a", "b"] })
# = <<EOT
# : - a
# : - b
# :
# : EOT
wrap     = templatefile("wrap.tftpl", { value = [1, 2] })
# = [
# :   1,
# :   2,
# : ]
outer    = templatefile("outer.tftpl", { who = "you" }) # = "<Hello, you!>"
secret   = templatefile("greet.tftpl", { name = sensitive("you") }) # = (sensitive value)
unknown  = templatefile("greet.tftpl", { name = given.string }) # = (known after apply)
missing  = templatefile("greet.tftpl", {})
# Error: 1:40-41 Invalid function argument: Invalid value for "vars" parameter: vars map does not contain key "name", referenced at greet.tftpl:1,10-14.
no_map   = templatefile("greet.tftpl", ["x"])
# Error: 1:40-41 Invalid function argument: Invalid value for "vars" parameter: invalid vars value: must be a map.
bad_name = templatefile("greet.tftpl", { name = "x", "bad name" = 1 })
# Error: 1:40-41 Invalid function argument: Invalid value for "vars" parameter: invalid template variable name "bad name": must start with a letter, followed by zero or more letters, digits, and underscores.
broken   = templatefile("broken.tftpl", {})
# Error: 1:12-25 Error in function call: Call to function "templatefile" failed: broken.tftpl:1,3-3: Missing expression; Expected the start of an expression, but found the end of the file..

# --- templates-from-strings ---
text    = templatestring("Hello, $${name}!", { name = "you" }) # = "Hello, you!"
value   = templatestring("$${value}", { value = { a = 1 } })
# = {
# :   "a" = 1
# : }
missing = templatestring("$${a}", {})
# Error: 1:35-36 Invalid function argument: Invalid value for "vars" parameter: vars map does not contain key "a".
error   = templatestring("$${a + 1}", { a = "x" })
# Error: 1:11-26 Error in function call: Call to function "templatestring" failed: NoFileNeeded:1,3-4: Invalid operand; Unsuitable value for left operand: a number is required..
secret  = templatestring("$${a}!", { a = sensitive("x"), b = 1 }) # = (sensitive value)
