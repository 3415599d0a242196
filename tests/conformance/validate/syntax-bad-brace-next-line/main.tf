variable "a"
{
}
