import ftplib
import http.client
import urllib.request

got = []
for fetch in (
    lambda: urllib.request.urlopen("http://127.0.0.1:1/", timeout=1).read(),
    lambda: urllib.request.urlopen("file:///etc/passwd").read(),
    lambda: http.client.HTTPConnection("127.0.0.1", 1, timeout=1).request("GET", "/"),
    lambda: ftplib.FTP("127.0.0.1", timeout=1),
):
    try:
        got.append(fetch())
    except OSError:
        pass
print(f"ESCAPED: {got}" if got else int(input()) * 2)
