#!/bin/sh
# The command line in the image; it takes the place of this shell, so that signals reach it.
# The heap has two fifths of what the container may take; buffers, code and threads want the rest.
export NODE_OPTIONS="${NODE_OPTIONS:---max-old-space-size-percentage=40}"
exec node /app/bin/sluice.mjs "$@"
