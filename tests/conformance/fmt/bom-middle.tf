locals {
a="﻿"
}
