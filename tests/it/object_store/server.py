"""A store with the interface of S3, for tests.

It prints its address. Then each line of standard input is a command, and has one line as its reply. If the file
`refuse` is in the folder that is named, it refuses to take tables: the file has a status and a code.
"""

import os
import sys
import threading
import time

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

FOLDER = sys.argv[1]
ERROR = '<?xml version="1.0"?><Error><Code>{}</Code><Message>No, said the test</Message></Error>'


class Store:
    """What the tests ask for, around a store."""

    def __init__(self):
        self.inner = DomainDispatcherApplication(create_backend_app)
        self.lock = threading.Lock()
        self.puts = 0
        self.waiting = 0
        self.room = None

    def __call__(self, environ, start):
        if environ["REQUEST_METHOD"] == "PUT":
            with self.lock:
                self.puts += 1
            if environ["PATH_INFO"].endswith(".parquet"):
                refused = self.refusal()
                if refused:
                    status, code = refused
                    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
                    start(status + " refused", [("Content-Type", "application/xml")])
                    return [ERROR.format(code).encode()]
        return self.inner(environ, start)

    def refusal(self):
        path = os.path.join(FOLDER, "refuse")
        if os.path.exists(path):
            with open(path) as file:
                return file.read().split()
        with self.lock:
            if self.room is None:
                return None
            if self.room > 0:
                self.room -= 1
                return None
            self.waiting += 1
        while self.room is not None:
            time.sleep(0.01)
        return "503", "Gone"


def main():
    store = Store()
    server = make_server("127.0.0.1", 0, store, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    client = boto3.client(
        "s3", endpoint_url=address, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
    )
    client.create_bucket(Bucket="fleet")
    print(address, flush=True)
    for line in sys.stdin:
        command, *words = line.split()
        print(reply(store, client, command, words), flush=True)


def reply(store, client, command, words):
    if command == "puts":
        return store.puts
    if command == "waiting":
        return store.waiting
    # After so many tables, no more are taken until `resume`.
    if command == "stall":
        store.room, store.waiting = int(words[0]), 0
        return "done"
    if command == "resume":
        store.room = None
        return "done"
    if command == "put":
        client.put_object(Bucket="fleet", Key=words[0], Body=b"mine")
        return "done"
    if command == "uploads":
        return len(client.list_multipart_uploads(Bucket="fleet").get("Uploads", []))
    # Copies all objects below a prefix to a folder.
    if command == "copy":
        prefix, folder = words
        pages = client.get_paginator("list_objects_v2").paginate(Bucket="fleet", Prefix=prefix + "/")
        keys = [it["Key"] for page in pages for it in page.get("Contents", [])]
        for key in keys:
            path = os.path.join(folder, key[len(prefix) + 1 :])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            client.download_file("fleet", key, path)
        return len(keys)
    raise SystemExit(command)


main()
