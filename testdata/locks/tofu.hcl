# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "example.com/acme/constrained" {
  version     = "1.4.2"
  constraints = ">= 1.0.0, ~> 1.4.0, ~> 1.4, != 1.4.1, < 2.0.0"
  hashes = [
    "h1:CNdCpn4zRpNTkLkFT+R8RdeHHTW87J4zL98MZOMnvK4=",
  ]
}

provider "example.com/acme/free" {
  version = "0.9.0"
  hashes = [
    "h1:YrjDxckRcKt0RYIwIRx9SjDrTss3iiTSLDzH95gPv5Y=",
  ]
}

provider "example.com/acme/grown" {
  version     = "2.0.0-beta.1+build.5"
  constraints = "2.0.0-beta.1+build.5"
  hashes = [
    "h1:00f7H/x72cRnrTzSx9e2ZT+NJsuj1A7dlqOpPSYJmJc=",
    "zh:0000000000000000000000000000000000000000000000000000000000000000",
    "zh:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "zh:short",
  ]
}

provider "example.com:8443/acme/port" {
  version     = "1.0.0"
  constraints = "~> 1.0"
  hashes = [
    "h1:GVDhI2dKzbn1umz9ln0VGAFV5QSs55A0Q1iyS0NLjEU=",
  ]
}

provider "registry.opentofu.org/hashicorp/null" {
  version = "3.2.1"
  hashes = [
    "h1:4SW9s/Ayr42mLS3pAffJr3vSAZDezD6kMqHmmDvHTRo=",
  ]
}

provider "bücher.example/ünï/demo" {
  version     = "3.10.0"
  constraints = ">= 3.0.0"
  hashes = [
    "h1:WAKu7P4atO5T3uoho+yiLij0MVIxpR8uJX54Il/rF9w=",
  ]
}
