"""A small S3 server on 127.0.0.1 for one bucket: whole and partial reads, sizes and listings of objects in memory."""

import threading
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

_DATE = "2026-01-01T00:00:00.000Z"


@contextmanager
def s3_server(bucket, objects):
    """The address (host:port) of a server of these objects, {key: bytes}; `requests` of the server counts reads."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self.answer(body=False)

        def do_GET(self):
            query = parse_qs(urlsplit(self.path).query)
            self.list(query) if "list-type" in query else self.answer(body=True)

        def answer(self, body):
            path = unquote(urlsplit(self.path).path).lstrip("/")
            if path.rstrip("/") == bucket:
                return self.reply(200, b"", {"Content-Type": "application/xml"}, body)
            data = objects.get(path.removeprefix(f"{bucket}/"))
            if data is None:
                code = b"<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>"
                return self.reply(404, code, {"Content-Type": "application/xml"}, body)
            server.requests.append(path)
            headers = {"ETag": f'"{len(data)}"', "Last-Modified": formatdate(usegmt=True), "Accept-Ranges": "bytes"}
            wanted = self.headers.get("Range")
            if wanted is None:
                return self.reply(200, data, headers, body)
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            start, stop = int(first), min(int(last or len(data)) + 1, len(data))
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(data)}"
            return self.reply(206, data[start:stop], headers, body)

        def list(self, query):
            prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
            found, folders = [], set()
            for key in sorted(objects):
                if key.startswith(prefix):
                    rest = key[len(prefix) :]
                    if delimiter and delimiter in rest:
                        folders.add(prefix + rest.split(delimiter)[0] + delimiter)
                    else:
                        found.append(key)
            found = found[: int(query.get("max-keys", ["1000"])[0])]
            contents = "".join(
                f"<Contents><Key>{escape(key)}</Key><LastModified>{_DATE}</LastModified><ETag>0</ETag>"
                f"<Size>{len(objects[key])}</Size><StorageClass>STANDARD</StorageClass></Contents>"
                for key in found
            )
            below = "".join(f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in folders)
            head = '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            sizes = f"<KeyCount>{len(found) + len(folders)}</KeyCount><IsTruncated>false</IsTruncated>"
            names = f"<Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix>"
            text = f"{head}{names}{sizes}{contents}{below}</ListBucketResult>"
            self.reply(200, text.encode(), {"Content-Type": "application/xml"}, True)

        def reply(self, status, data, headers, body):
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            if body:
                self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.requests = True, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
