# Function calls.

# --- arguments ---
one       = upper("a") # = "A"
converted = upper(1) # = "1"
core      = core::upper("a") # = "A"
expanded  = max([3, 1, 2]...) # = 3
few       = upper()
# Error: 1:19-20 Not enough function arguments: Function "upper" expects 1 argument(s). Missing value for "str".
many      = upper("a", "b")
# Error: 1:25-26 Too many function arguments: Function "upper" expects only 1 argument(s).
few_more  = replace("a", "b")
# Error: 1:29-30 Not enough function arguments: Function "replace" expects 3 argument(s). Missing value for "replace".
variadic  = format()
# Error: 1:20-21 Not enough function arguments: Function "format" expects at least 1 argument(s). Missing value for "format".
type      = upper([])
# Error: 1:19-20 Invalid function argument: Invalid value for "str" parameter: string required, but have tuple.
null      = upper(null)
# Error: 1:19-23 Invalid function argument: Invalid value for "str" parameter: argument must not be null.
two       = replace([], {}, "")
# Error: 1:21-22 Invalid function argument: Invalid value for "str" parameter: string required, but have tuple.
# Error: 1:25-26 Invalid function argument: Invalid value for "substr" parameter: string required, but have object.
failed    = element([], 0)
# Error: 1:13-21 Error in function call: Call to function "element" failed: cannot use element function with an empty list.

# --- expansion ---
list    = min(tolist([3, 1])...) # = 1
after   = format("%s-%s", ["a", "b"]...) # = "a-b"
null    = min(null...)
# Error: 1:15-19 Invalid expanding argument value: The expanding argument (indicated by ...) must not be null.
text    = min("a"...)
# Error: 1:15-18 Invalid expanding argument value: The expanding argument (indicated by ...) must be of a tuple, list, or set type.
unknown = min(given.list...) # = (known after apply)
secret  = max([1, sensitive(2)]...) # = (sensitive value)
whole   = max(sensitive([1, 2])...) # = (sensitive value)

# --- unknown-functions ---
plain     = nosuch(1)
# Error: 1:13-19 Call to unknown function: There is no function named "nosuch".
close     = uper("a")
# Error: 1:13-17 Call to unknown function: There is no function named "uper". Did you mean "upper"?
core      = core::nosuch(1)
# Error: 1:13-25 Call to unknown function: There is no builtin (core::) function named "nosuch".
namespace = foo::bar(1)
# Error: 1:13-21 Unknown function namespace: Function "foo::bar" does not exist within a valid namespace (provider,core)

# --- try-and-can ---
first   = try(1, 2) # = 1
second  = try(null.a, 2) # = 2
all     = try(null.a, [][0])
# Error: 1:11-15 Error in function call: Call to function "try" failed: no expression succeeded:\n- Attempt to get attribute from null value (at try-and-can:4,19-21)\n  This value is null, so it does not have any attributes.\n- Invalid index (at try-and-can:4,25-28)\n  The given key does not identify an element in this collection value: the collection has no elements.\n\nAt least one expression must produce a successful result.
none    = try()
# Error: 1:11-15 Error in function call: Call to function "try" failed: at least one argument is required.
unknown = try(given.string, 1) # = (known after apply)
later   = try(null.a, given.string) # = (known after apply)
inside  = try({ a = given.string }.b, "x") # = "x"
can     = can(null.a) # = false
can_do  = can({ a = 1 }.a) # = true
can_not = can(nosuch()) # = false
maybe   = can(given.string) # = (known after apply)
secret  = try(sensitive("a")) # = (sensitive value)

# --- unknown-arguments ---
text   = upper(given.string) # = (known after apply)
any    = upper(given.any) # = (known after apply)
type   = type(upper(given.string)) # = string
null   = upper(given.string) == null # = false
secret = upper(sensitive("a")) # = (sensitive value)
inner  = length([sensitive("a")]) # = 1
deep   = jsonencode({ a = sensitive("b") }) # = (sensitive value)

# --- marks-as-functions ---
is       = issensitive(sensitive("a")) # = true
is_not   = issensitive("a") # = false
inside   = issensitive([sensitive("a")]) # = false
unknown  = issensitive(given.string) # = (known after apply)
off      = nonsensitive(sensitive("a")) # = "a"
never    = nonsensitive("a") # = "a"
deep     = nonsensitive([sensitive("a")])
# = [
# :   (sensitive value),
# : ]
lasting  = ephemeralasnull(given.ephemeral) # = tostring(null)
part     = ephemeralasnull({ a = given.ephemeral, b = 1 })
# = {
# :   "a" = tostring(null)
# :   "b" = 1
# : }
