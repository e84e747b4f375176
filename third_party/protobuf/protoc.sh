#!/bin/sh
# The protocol compiler of the Debian package, as a Bazel executable.
exec /usr/bin/protoc "$@"
