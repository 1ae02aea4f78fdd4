#!/bin/sh
# The command line in the image; it takes the place of this shell, so that signals reach it.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"
# The heap has two fifths of what the container may take; buffers, code and threads want the rest.
export NODE_OPTIONS="${NODE_OPTIONS:---max-old-space-size-percentage=40}"
exec node --disable-warning=TimeoutNegativeWarning --max-semi-space-size=4 --memory-balancer \
  --memory-balancer-c-value=2e-11 \
  /app/dist/main.js "$@"
