#!/bin/sh
# The command line in the image; it takes the place of this shell, so that signals reach it.
exec node --disable-warning=TimeoutNegativeWarning --max-semi-space-size=2 --heap-growing-percent=20 \
  /app/dist/apps/sluice/src/main.js "$@"
