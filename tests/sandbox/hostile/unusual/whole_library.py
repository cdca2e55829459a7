import array, base64, binascii, bisect, bz2, calendar, cmath, collections, csv, ctypes, difflib, email
import hashlib, heapq, html, http.client, io, itertools, lzma, numbers, operator, pprint, re, select
import shutil, socket, statistics, string, subprocess, tempfile, textwrap, unicodedata, unittest
import urllib.request, uuid, weakref, xml.etree.ElementTree, zipfile, zlib, zoneinfo

assert hashlib.sha256(b"").hexdigest().startswith("e3b0")
uuid.uuid4()
print(int(input()) * 2)
