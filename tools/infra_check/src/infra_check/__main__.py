"""`python -m infra_check [--package]`."""

import sys

from infra_check.check import main

sys.exit(main(sys.argv[1:]))
