import logging
import sys
import warnings

logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.INFO)
logging.info(int(input()) * 2)
warnings.warn("chatter")
