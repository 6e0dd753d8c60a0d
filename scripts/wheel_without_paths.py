"""Makes a wheel independent of the folder that it was built in, which the list of its components names.

    wheel_without_paths.py WHEEL FOLDER
"""

import base64
import hashlib
import sys
import urllib.parse
import zipfile


def record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def main(wheel: str, folder: str) -> None:
    here = f"path+file://{urllib.parse.quote(folder)}".encode()
    with zipfile.ZipFile(wheel) as old:
        entries = [(info, old.read(info)) for info in old.infolist()]
    changed = {}
    for place, (info, data) in enumerate(entries):
        if info.filename.endswith(".cyclonedx.json"):
            data = data.replace(here, b"path+file:///ascend-trace")
            entries[place] = (info, data)
            changed[info.filename] = record_line(info.filename, data)
    for place, (info, data) in enumerate(entries):
        if info.filename.endswith(".dist-info/RECORD"):
            lines = data.decode().splitlines()
            lines = [changed.get(line.split(",")[0], line) for line in lines]
            entries[place] = (info, ("\n".join(lines) + "\n").encode())
    with zipfile.ZipFile(wheel, "w") as new:
        for info, data in entries:
            new.writestr(info, data)


if __name__ == "__main__":
    main(*sys.argv[1:])
