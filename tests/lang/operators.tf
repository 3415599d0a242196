# Arithmetic, comparison and logic.

# --- arithmetic ---
sum        = 1 + 2 # = 3
difference = 1 - 2.5 # = -1.5
product    = 3 * "4" # = 12
quotient   = 1 / 3
# = 0.33333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333335
remainder  = -5 % 3 # = -2
negative   = -"7" # = -7
precedence = 1 + 2 * 3 - 4 / 2 # = 5
grouped    = (1 + 2) * 3 # = 9
large      = 123456789012345678901234567890 + 1 # = 123456789012345678901234567891
tiny       = 0.1 + 0.2 # = 0.3

# --- division-by-zero ---
infinite = 1 / 0 # = +Inf
below    = -1 / 0 # = -Inf
nothing  = 0 / 0
# Error: 1:12-17 Operation failed: Error during operation: can't divide zero by zero or infinity by infinity.
modulo   = 5 % 0 # = 5

# --- operands-must-be-numbers ---
text = "a" + 1
# Error: 1:8-11 Invalid operand: Unsuitable value for left operand: a number is required.
list = 1 - []
# Error: 1:12-14 Invalid operand: Unsuitable value for right operand: number required, but have tuple.
null = 1 * null
# Error: 1:8-16 Operation failed: Error during operation: argument must not be null.
both = "a" + "b"
# Error: 1:8-11 Invalid operand: Unsuitable value for left operand: a number is required.
# Error: 1:14-17 Invalid operand: Unsuitable value for right operand: a number is required.

# --- comparison ---
less     = 1 < 2 # = true
equal    = 1 <= 1 # = true
greater  = "10" > 9 # = true
no_order = "a" < "b"
# Error: 1:12-15 Invalid operand: Unsuitable value for left operand: a number is required.
# Error: 1:18-21 Invalid operand: Unsuitable value for right operand: a number is required.
null     = null < 1
# Error: 1:12-20 Operation failed: Error during operation: argument must not be null.

# --- equality-does-not-convert ---
numbers     = 1 == 1.0 # = true
mixed       = 1 == "1" # = false
strings     = "a" == "a" # = true
bools       = true == "true" # = false
null        = null == null # = true
null_text   = null == "" # = false
lists       = [1, 2] == [1, 2] # = true
other_types = tolist(["a"]) == ["a"] # = false
objects     = { a = 1, b = [2] } == { b = [2], a = 1 } # = true
different   = { a = 1 } != { a = 2 } # = true

# --- logic ---
not        = !false # = true
not_text   = !"true" # = false
and        = true && false # = false
or         = true || false # = true
text       = "true" && true # = true
wrong_type = 1 && true
# Error: 1:14-15 Invalid operand: Unsuitable value for left operand: bool required, but have number.
not_null   = !null
# Error: 1:14-19 Operation failed: Error during operation: argument must not be null.

# --- the-side-that-decides-keeps-its-errors ---
left       = false && null.a # = false
right      = null.a && false # = false
or_left    = true || null.a # = true
or_right   = null.a || true # = true
needed     = true && null.a
# Error: 1:26-28 Attempt to get attribute from null value: This value is null, so it does not have any attributes.
both       = null.a && null.b
# Error: 1:18-20 Attempt to get attribute from null value: This value is null, so it does not have any attributes.
# Error: 1:28-30 Attempt to get attribute from null value: This value is null, so it does not have any attributes.
null_and   = null && true # = false
null_or    = null || true # = true
null_fails = null || false
# Error: 1:14-27 Operation failed: Error during operation: argument must not be null.

# --- unknown-operands ---
sum       = given.number + 1 # = (known after apply)
known     = given.string == null # = (known after apply)
not_null  = given.not_null == null # = false
prefix    = given.prefixed == "ami-1" # = (known after apply)
excluded  = given.prefixed == "other" # = false
and_false = given.bool && false # = false
and_true  = given.bool && true # = (known after apply)
error     = given.any + "a"
# Error: 1:25-28 Invalid operand: Unsuitable value for right operand: a number is required.

# --- marks-of-operands-join-the-result ---
sum      = 1 + sensitive(2) # = (sensitive value)
equal    = sensitive("a") == "a" # = (sensitive value)
decided  = false && sensitive(true) # = (sensitive value)
not      = !sensitive(true) # = (sensitive value)
inside   = [sensitive(1)] == [1] # = (sensitive value)
released = nonsensitive(1 + sensitive(2)) # = 3
